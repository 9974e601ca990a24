"""Predictivity of and similarity to macaque V1, V2, V4 and IT on natural scenes (Li et al. 2026)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@article{li2026triplen,
  title = {Triple-N dataset: large-scale fMRI-guided dense recordings of nonhuman primate neural responses to
    natural scenes},
  author = {Li, Yipeng and Liu, Xieyi and Li, Wanru and Yang, Jia and Gong, Baoqi and Jin, Wei and Gong, Zhengxin
    and Wang, Kesheng and Luo, Jingqiu and Zhao, Zishuo and Bao, Pinglei},
  journal = {Nature Neuroscience},
  year = {2026},
  doi = {10.1038/s41593-026-02322-z},
  url = {https://doi.org/10.1038/s41593-026-02322-z}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmarks.li2026.benchmark import make

    return make(benchmark)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
