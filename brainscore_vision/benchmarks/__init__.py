"""Benchmarks, and the base classes and functions to write one."""

from brainscore_core.benchmarks import Benchmark, BenchmarkBase, bound_score, ceil_score, explained_variance, normalise

__all__ = ["Benchmark", "BenchmarkBase", "bound_score", "ceil_score", "explained_variance", "normalise"]
