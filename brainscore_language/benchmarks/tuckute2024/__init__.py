"""fMRI of 1,000 sentences, averaged over five subjects (Tuckute et al. 2024)."""

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.tuckute2024.benchmark import (
    Tuckute2024_cka,
    Tuckute2024_linear,
    Tuckute2024_rdm,
    Tuckute2024_ridge,
)
from brainscore_language.data.tuckute2024 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Tuckute2024-linear"] = Tuckute2024_linear
benchmark_registry["Tuckute2024-ridge"] = Tuckute2024_ridge
benchmark_registry["Tuckute2024-rdm"] = Tuckute2024_rdm
benchmark_registry["Tuckute2024-cka"] = Tuckute2024_cka
