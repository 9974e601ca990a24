"""Whether models integrate contours as accurately as people (Lonnqvist et al. 2024)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

BIBTEX = """@inproceedings{lonnqvist2025contour,
  title = {Contour Integration Underlies Human-Like Vision},
  author = {Lonnqvist, Ben and Scialom, Elsa and Gokce, Abdulkadir and Merchant, Zehra and Herzog, Michael H. and
    Schrimpf, Martin},
  booktitle = {International Conference on Machine Learning},
  year = {2025},
  url = {https://arxiv.org/abs/2504.05253}
}"""

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(table_benchmark, __file__, _key, bibtex=BIBTEX)
