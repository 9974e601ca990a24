"""The contract of benchmarks and how scores are normalised by ceilings."""

from brainscore_core.benchmarks._base import Benchmark, BenchmarkBase
from brainscore_core.benchmarks._normalise import bound_score, ceil_score, explained_variance, normalise

__all__ = ["Benchmark", "BenchmarkBase", "bound_score", "ceil_score", "explained_variance", "normalise"]
