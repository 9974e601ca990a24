"""Asymmetry of visual search between targets and distractors, in 14 experiments (Ferguson et al. 2024)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@misc{ferguson_ngo_lee_dicarlo_schrimpf_2024,
  title = {How Well is Visual Search Asymmetry predicted by a Binary-Choice, Rapid, Accuracy-based Visual-search,
    Oddball-detection (BRAVO) task?},
  url = {osf.io/5ba3n},
  doi = {10.17605/OSF.IO/5BA3N},
  publisher = {OSF},
  author = {Ferguson, Michael E, Jr and Ngo, Jerry and Lee, Michael and DiCarlo, James and Schrimpf, Martin},
  year = {2024},
  month = {Jun}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.ferguson2024.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
