"""Reading times of the words of ten stories (Futrell et al. 2018), as packaged in 2022."""

from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.futrell2018.benchmark import Futrell2018Pearsonr

benchmark_registry["Futrell2018-pearsonr"] = Futrell2018Pearsonr
