"""How many dimensions encode shape and texture (Islam et al. 2021)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@inproceedings{islam2021shape,
  title = {Shape or Texture: Understanding Discriminative Features in {\\{}CNN{\\}}s},
  author = {Md Amirul Islam and Matthew Kowal and Patrick Esser and Sen Jia and Bj{\\"o}rn Ommer and Konstantinos G.
    Derpanis and Neil Bruce},
  booktitle = {International Conference on Learning Representations},
  year = {2021},
  url = {https://openreview.net/forum?id=NcFEZOi-rLa}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.islam2021.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
