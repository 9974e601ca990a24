"""Reading times of the words of ten stories (Futrell et al. 2018), as packaged in 2022."""

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.futrell2018.benchmark import Futrell2018Pearsonr
from brainscore_language.data.futrell2018 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Futrell2018-pearsonr"] = Futrell2018Pearsonr
