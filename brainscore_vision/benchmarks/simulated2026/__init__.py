"""Controls: whether metrics and ceilings recover a truth that is known."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.simulated2026.benchmark import simulated2026

METADATA = read_metadata(__file__)

for _region in ("V1", "IT"):
    for _metric in ("pls", "rdm"):
        benchmark_registry[f"Simulated2026.{_region}-{_metric}"] = partial(simulated2026, _region, _metric)
