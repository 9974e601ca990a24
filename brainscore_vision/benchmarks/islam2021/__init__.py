"""How many dimensions encode shape and texture (Islam et al. 2021)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = read_citation(__file__)


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.islam2021.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
