"""Predictivity of electroencephalography on pictures of things (Gifford et al. 2022)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@article{gifford_large_2022,
  title = {A large and rich {EEG} dataset for modeling human visual object recognition},
  volume = {264},
  issn = {10538119},
  url = {https://linkinghub.elsevier.com/retrieve/pii/S1053811922008758},
  doi = {10.1016/j.neuroimage.2022.119754},
  journal = {NeuroImage},
  author = {Gifford, Alessandro T. and Dwivedi, Kshitij and Roig, Gemma and Cichy, Radoslaw M.},
  year = {2022}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.gifford2022.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
