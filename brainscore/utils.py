"""Small helpers for benchmarks."""

from brainscore_core.lazy import LazyLoad, fullname

__all__ = ["LazyLoad", "fullname"]
