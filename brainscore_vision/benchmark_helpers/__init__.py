"""Helpers for benchmark plugins."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainscore_core.benchmarks import bound_score
    from brainscore_vision.benchmark_helpers.precomputed import (
        PrecomputedFeatures,
        RecordedDecisions,
        check_standard_format,
    )
    from brainscore_vision.benchmark_helpers.test_helper import run_test

__all__ = [
    "PrecomputedFeatures",
    "RecordedDecisions",
    "bound_score",
    "check_standard_format",
    "run_test",
]

_MODULES = {
    "PrecomputedFeatures": "brainscore_vision.benchmark_helpers.precomputed",
    "RecordedDecisions": "brainscore_vision.benchmark_helpers.precomputed",
    "bound_score": "brainscore_core.benchmarks",
    "check_standard_format": "brainscore_vision.benchmark_helpers.precomputed",
    "run_test": "brainscore_vision.benchmark_helpers.test_helper",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:  # imported on first use: submissions are examined by processes that need no arrays
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
