"""How well macaque V4 and IT predict models (Muzellec & Kar 2025)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

BIBTEX = """@article{muzellec2025reverse,
  title = {Reverse Predictivity: Going Beyond One-Way Mapping to Compare Artificial Neural Network Models and
    Brains},
  author = {Muzellec, Sabine and Kar, Kohitij},
  journal = {bioRxiv},
  pages = {2025--08},
  year = {2025},
  publisher = {Cold Spring Harbor Laboratory}
}"""

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(table_benchmark, __file__, _key, bibtex=BIBTEX)
