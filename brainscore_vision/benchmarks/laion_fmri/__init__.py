"""Predictivity of and similarity to human visual cortex (7T fMRI) on pictures from the web (Zerbe et al. 2026)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.laion_fmri.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
