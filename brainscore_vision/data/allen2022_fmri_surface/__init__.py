"""Responses of human visual cortex (7T fMRI, cortical surface) to natural scenes (Allen et al. 2022)."""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry
from brainscore_vision.data_sources.tables import load_assembly

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Allen2022_fmri_surface*": "none"}  # each picture shows another scene

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
