"""Accuracy on distorted images of ImageNet (Hendrycks & Dietterich 2019)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.source import table_keys
from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

BIBTEX = """@article{Hendrycks2019-di,
  title = {Benchmarking Neural Network Robustness to Common Corruptions and Perturbations},
  author = {Hendrycks, Dan and Dietterich, Thomas},
  month = {mar},
  year = {2019},
  archiveprefix = {arXiv},
  primaryclass = {cs.LG},
  eprint = {1903.12261},
  url = {https://arxiv.org/abs/1903.12261}
}"""


def _make(benchmark: str) -> Benchmark:
    from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark

    return make_benchmark(__file__, benchmark, bibtex=BIBTEX, truth="synset", choices="imagenet")


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(_make, _key)
