"""Vision: registries of benchmarks, data, metrics and models, and the functions that load from them.

A plugin registers what it offers, and is imported only when one of its entries is loaded::

    from brainscore_vision import model_registry

    model_registry['my-model'] = lambda: MyModel()

Listing a registry (``list(model_registry)``) reads the plugins' source and imports none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import brainscore_vision.composition  # registers its resolver
import brainscore_vision.model_sources  # noqa: F401 - registers its resolver
from brainscore_vision.registries import (
    benchmark_registry,
    data_registry,
    load_benchmark,
    load_ceiling,
    load_dataset,
    load_metric,
    load_model,
    load_stimulus_set,
    metric_registry,
    model_registry,
    plugin_index,
    registered_folder,
    stimulus_set_registry,
)

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.metrics import Ceiling, Metric, Score
    from brainscore_vision.model_interface import BrainModel
    from brainscore_vision.scoring.pairs import run_pair, score, verify

__all__ = [
    "Benchmark",
    "BrainModel",
    "Ceiling",
    "Metric",
    "Score",
    "benchmark_registry",
    "data_registry",
    "load_benchmark",
    "load_ceiling",
    "load_dataset",
    "load_metric",
    "load_model",
    "load_stimulus_set",
    "metric_registry",
    "model_registry",
    "plugin_index",
    "registered_folder",
    "run_pair",
    "score",
    "stimulus_set_registry",
    "verify",
]

_LAZY = {
    "Benchmark": "brainscore_core.benchmarks",
    "BrainModel": "brainscore_vision.model_interface",
    "Ceiling": "brainscore_core.metrics",
    "Metric": "brainscore_core.metrics",
    "Score": "brainscore_core.metrics",
    "run_pair": "brainscore_vision.scoring.pairs",
    "score": "brainscore_vision.scoring.pairs",
    "verify": "brainscore_vision.scoring.pairs",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
