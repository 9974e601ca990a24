"""fMRI of stories that five subjects listened to (Blank et al. 2014)."""

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.blank2014.benchmark import Blank2014_linear_shuffle, Blank2014_ridge
from brainscore_language.data.blank2014 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Blank2014-ridge"] = Blank2014_ridge
benchmark_registry["Blank2014-linear-shuffle"] = Blank2014_linear_shuffle
