"""Shape or texture: which cue of a conflict models choose (Hermann et al. 2020)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@article{hermann2020origins,
  title = {The origins and prevalence of texture bias in convolutional neural networks},
  author = {Hermann, Katherine and Chen, Ting and Kornblith, Simon},
  journal = {Advances in Neural Information Processing Systems},
  volume = {33},
  pages = {19000--19015},
  year = {2020},
  url = {https://proceedings.neurips.cc/paper/2020/hash/db5f9f42a7157abe65bb145000b5871a-Abstract.html}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.hermann2020.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
