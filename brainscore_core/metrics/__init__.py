"""Scores and the contracts of metrics and ceilings."""

from brainscore_core.metrics._contracts import Ceiling, Metric
from brainscore_core.metrics._score import Score
from brainscore_core.metrics._uncertainty import attach_uncertainty, declare_no_error

__all__ = ["Ceiling", "Metric", "Score", "attach_uncertainty", "declare_no_error"]
