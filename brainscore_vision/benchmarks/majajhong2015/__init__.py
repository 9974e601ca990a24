"""How well models predict responses in V4 and IT to objects (Majaj, Hong et al. 2015)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.majajhong2015.benchmark import pls_benchmark, temporal_benchmark

METADATA = read_metadata(__file__)

for _region in ("V4", "IT"):
    benchmark_registry[f"MajajHong2015.{_region}-pls"] = partial(pls_benchmark, _region, "private")
    benchmark_registry[f"MajajHong2015public.{_region}-pls"] = partial(pls_benchmark, _region, "public")
    benchmark_registry[f"MajajHong2015public.{_region}-temporal-pls"] = partial(
        temporal_benchmark, _region, "public", time_interval=10
    )
