"""Controls: whether metrics and ceilings recover a truth that is known."""

from typing import TYPE_CHECKING

from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark


def _load(region: str, metric: str) -> "Benchmark":
    from brainscore_vision.benchmarks.simulated2026.benchmark import simulated2026

    return simulated2026(region, metric)


benchmark_registry["Simulated2026.V1-pls"] = lambda: _load("V1", "pls")
benchmark_registry["Simulated2026.IT-pls"] = lambda: _load("IT", "pls")
benchmark_registry["Simulated2026.V1-rdm"] = lambda: _load("V1", "rdm")
benchmark_registry["Simulated2026.IT-rdm"] = lambda: _load("IT", "rdm")
