"""Whether models confuse objects as people do (Maniquet, Op de Beeck & Costantino 2024)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@article{Maniquet2024.04.02.587669,
  author = {Maniquet, Tim and de Beeck, Hans Op and Costantino, Andrea Ivan},
  title = {Recurrent issues with deep neural network models of visual recognition},
  elocation-id = {2024.04.02.587669},
  year = {2024},
  doi = {10.1101/2024.04.02.587669},
  publisher = {Cold Spring Harbor Laboratory},
  url = {https://www.biorxiv.org/content/early/2024/04/10/2024.04.02.587669},
  eprint = {https://www.biorxiv.org/content/early/2024/04/10/2024.04.02.587669.full.pdf},
  journal = {bioRxiv}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.maniquet2024.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
