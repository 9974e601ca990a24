"""fMRI of sentences in passages (Pereira et al. 2018)."""

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.pereira2018.benchmark import (
    Pereira2018_243sentences_linear_shuffle,
    Pereira2018_243sentences_ridge,
    Pereira2018_384sentences_linear_shuffle,
    Pereira2018_384sentences_ridge,
)
from brainscore_language.data.pereira2018 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Pereira2018.243sentences-ridge"] = Pereira2018_243sentences_ridge
benchmark_registry["Pereira2018.384sentences-ridge"] = Pereira2018_384sentences_ridge
benchmark_registry["Pereira2018.243sentences-linear-shuffle"] = Pereira2018_243sentences_linear_shuffle
benchmark_registry["Pereira2018.384sentences-linear-shuffle"] = Pereira2018_384sentences_linear_shuffle
