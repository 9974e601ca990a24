"""Metrics and ceilings, and the base classes to write one."""

from brainscore_core.metrics import Ceiling, Metric, Score

__all__ = ["Ceiling", "Metric", "Score"]
