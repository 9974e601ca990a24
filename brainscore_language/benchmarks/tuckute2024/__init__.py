"""fMRI of 1,000 sentences, averaged over five subjects (Tuckute et al. 2024)."""

from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.tuckute2024.benchmark import (
    Tuckute2024_cka,
    Tuckute2024_linear,
    Tuckute2024_rdm,
    Tuckute2024_ridge,
)

benchmark_registry["Tuckute2024-linear"] = Tuckute2024_linear
benchmark_registry["Tuckute2024-ridge"] = Tuckute2024_ridge
benchmark_registry["Tuckute2024-rdm"] = Tuckute2024_rdm
benchmark_registry["Tuckute2024-cka"] = Tuckute2024_cka
