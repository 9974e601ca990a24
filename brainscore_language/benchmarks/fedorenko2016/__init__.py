"""Electrocorticography of sentences, word by word (Fedorenko et al. 2016)."""

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.fedorenko2016.benchmark import Fedorenko2016_linear_shuffle, Fedorenko2016_ridge
from brainscore_language.data.fedorenko2016 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Fedorenko2016-ridge"] = Fedorenko2016_ridge
benchmark_registry["Fedorenko2016-linear-shuffle"] = Fedorenko2016_linear_shuffle
