"""Metrics and ceilings, and what is needed to write one."""

from brainscore_core.metrics import Ceiling, Metric, Score

__all__ = ["Ceiling", "Metric", "Score"]
