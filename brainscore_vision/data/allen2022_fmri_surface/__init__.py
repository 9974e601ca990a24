"""Responses of human visual cortex (7T fMRI, cortical surface) to natural scenes (Allen et al. 2022)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry
from brainscore_vision.data_sources.tables import load_assembly

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

STIMULUS_GROUPS = {"Allen2022_fmri_surface*": "none"}  # each picture shows another scene

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
