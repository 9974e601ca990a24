"""Predictivity of macaque V1 on natural images and textures (Cadena et al. 2017)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@article{cadena2019deep,
  title = {Deep convolutional models improve predictions of macaque V1 responses to natural images},
  author = {Cadena, Santiago A and Denfield, George H and Walker, Edgar Y and Gatys, Leon A and Tolias, Andreas S
    and Bethge, Matthias and Ecker, Alexander S},
  journal = {PLoS computational biology},
  volume = {15},
  number = {4},
  pages = {e1006897},
  year = {2019},
  url = {https://journals.plos.org/ploscompbiol/article?id=10.1371/journal.pcbi.1006897},
  publisher = {Public Library of Science San Francisco, CA USA}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.cadena2017.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
