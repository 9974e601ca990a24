"""How well models predict spiking activity in V1, V4 and IT to pictures of things (Papale et al. 2025)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.papale2025.benchmark import Papale2025

METADATA = read_metadata(__file__)

for _region in ("V1", "V4", "IT"):
    benchmark_registry[f"Papale2025.{_region}-ridge"] = partial(Papale2025, _region, "ridge")
    benchmark_registry[f"Papale2025.{_region}-ridgecv"] = partial(Papale2025, _region, "ridgecv")
