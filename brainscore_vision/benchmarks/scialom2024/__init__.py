"""Whether models name fragmented objects as people do (Scialom et al. 2024)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = None  # no citation has been published with these data


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark

    return make_benchmark(__file__, benchmark, bibtex=BIBTEX)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
