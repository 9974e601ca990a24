"""Domain-free core: data standard, contracts, numerics, plugins, scoring."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark as Benchmark
    from brainscore_core.metrics import Ceiling as Ceiling
    from brainscore_core.metrics import Metric as Metric
    from brainscore_core.metrics import Score as Score

__all__ = ["Benchmark", "Ceiling", "Metric", "Score"]

_HOMES = {
    "Benchmark": "brainscore_core.benchmarks",
    "Ceiling": "brainscore_core.metrics",
    "Metric": "brainscore_core.metrics",
    "Score": "brainscore_core.metrics",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
