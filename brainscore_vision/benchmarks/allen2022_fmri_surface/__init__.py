"""Predictivity of and similarity to human visual cortex (7T fMRI, surface) on natural scenes (Allen et al. 2022)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

BIBTEX = """@article{allen_massive_2022,
  title = {A massive 7T fMRI dataset to bridge cognitive neuroscience and artificial intelligence},
  volume = {25},
  issn = {1097-6256},
  doi = {10.1038/s41593-021-00962-x},
  journal = {Nature Neuroscience},
  author = {Allen, Emily J. and St-Yves, Ghislain and Wu, Yihan and Breedlove, Jesse L. and Prince, Jacob S. and
    Dowdle, Logan T. and Nau, Matthias and Caron, Brad and Pestilli, Franco and Charest, Ian and Hutchinson, J.
    Benjamin and Naselaris, Thomas and Kay, Kendrick},
  year = {2022},
  pages = {116--126}
}"""

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(table_benchmark, __file__, _key, bibtex=BIBTEX)
