"""Helpers for benchmark plugins."""

from typing import TYPE_CHECKING, Any

from brainscore_core.benchmarks import bound_score
from brainscore_vision.benchmark_helpers.precomputed import (
    PrecomputedFeatures,
    RecordedDecisions,
    check_standard_format,
)

if TYPE_CHECKING:
    from brainscore_vision.benchmark_helpers.test_helper import run_test

__all__ = ["PrecomputedFeatures", "RecordedDecisions", "bound_score", "check_standard_format", "run_test"]


def __getattr__(name: str) -> Any:
    if name == "run_test":
        from brainscore_vision.benchmark_helpers.test_helper import run_test

        return run_test
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
