"""Accuracy on objects in unusual places and views (Barbu, Mayo et al. 2019)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.source import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@inproceedings{DBLP:conf/nips/BarbuMALWGTK19,
  author = {Andrei Barbu and David Mayo and Julian Alverio and William Luo and Christopher Wang and Dan Gutfreund
    and Josh Tenenbaum and Boris Katz},
  title = {ObjectNet: {A} large-scale bias-controlled dataset for pushing the limits of object recognition models},
  booktitle = {NeurIPS 2019},
  pages = {9448--9458},
  year = {2019},
  url = {https://proceedings.neurips.cc/paper/2019/hash/97af07a14cacba681feacf3012730892-Abstract.html}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark

    return make_benchmark(__file__, benchmark, bibtex=BIBTEX, truth="synset", choices="imagenet")


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
