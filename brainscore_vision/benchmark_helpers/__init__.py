"""What benchmarks have in common."""

from brainscore_core.benchmarks import bound_score
from brainscore_vision.benchmark_helpers.precomputed import (
    PrecomputedFeatures,
    RecordedDecisions,
    check_standard_format,
)

__all__ = ["PrecomputedFeatures", "RecordedDecisions", "bound_score", "check_standard_format"]
