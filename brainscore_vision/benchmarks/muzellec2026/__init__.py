"""How well macaque V4 and IT predict models (Muzellec & Kar 2025)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.source import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@article{muzellec2025reverse,
  title = {Reverse Predictivity: Going Beyond One-Way Mapping to Compare Artificial Neural Network Models and
    Brains},
  author = {Muzellec, Sabine and Kar, Kohitij},
  journal = {bioRxiv},
  pages = {2025--08},
  year = {2025},
  publisher = {Cold Spring Harbor Laboratory}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark

    return make_benchmark(__file__, benchmark, bibtex=BIBTEX)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
