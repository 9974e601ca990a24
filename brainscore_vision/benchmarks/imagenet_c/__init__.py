"""Accuracy on distorted images of ImageNet (Hendrycks & Dietterich 2019)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

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

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(
        table_benchmark, __file__, _key, bibtex=BIBTEX, truth="synset", choices="imagenet"
    )
