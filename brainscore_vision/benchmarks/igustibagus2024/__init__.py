"""Predictivity of macaque IT, and generalisation to other styles of pictures (Igusti Bagus et al. 2022)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@inproceedings{bagus2022primate,
  title = {Primate inferotemporal cortex neurons generalize better to novel image distributions than analogous deep
    neural networks units},
  author = {Bagus, Ayu Marliawaty I Gusti and Marques, Tiago and Sanghavi, Sachi and DiCarlo, James J and Schrimpf,
    Martin},
  booktitle = {SVRHM 2022 Workshop@ NeurIPS},
  year = {2022}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.igustibagus2024.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
