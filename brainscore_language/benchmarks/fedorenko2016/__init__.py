"""Electrocorticography of sentences, word by word (Fedorenko et al. 2016)."""

from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.fedorenko2016.benchmark import Fedorenko2016_linear_shuffle, Fedorenko2016_ridge

benchmark_registry["Fedorenko2016-ridge"] = Fedorenko2016_ridge
benchmark_registry["Fedorenko2016-linear-shuffle"] = Fedorenko2016_linear_shuffle
