"""Predictivity of and similarity to human visual cortex (7T fMRI) on pictures from the web (Zerbe et al. 2026)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@inproceedings{zerbe_laion-fmri_2026,
  title = {{LAION}-{fMRI}: A densely sampled 7T-fMRI dataset providing broad coverage of natural image diversity},
  author = {Zerbe, Josefine and Roth, Johannes and Mell, Maggie Mae and Herholz, Peer and Knapen, Tomas and Hebart,
    Martin N.},
  year = {2026},
  booktitle = {Vision Sciences Society Annual Meeting}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.laion_fmri.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
