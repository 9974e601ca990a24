"""Predictivity of macaque IT on letters and words (Rajalingham et al. 2020)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

BIBTEX = """@article{Rajalingham2020,
  author = {Rajalingham, Rishi and Kar, Kohitij and Sanghavi, Sachi and Dehaene, Stanislas and DiCarlo, James J.},
  title = {The inferior temporal cortex is a potential cortical precursor of orthographic processing in untrained
    monkeys},
  journal = {Nature Communications},
  year = {2020},
  month = {Aug},
  day = {04},
  volume = {11},
  number = {1},
  pages = {3886},
  issn = {2041-1723},
  doi = {10.1038/s41467-020-17714-3},
  url = {https://doi.org/10.1038/s41467-020-17714-3}
}"""

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(table_benchmark, __file__, _key, bibtex=BIBTEX)
