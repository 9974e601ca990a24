"""Responses of human visual cortex (7T fMRI, cortical surface) to natural scenes (Allen et al. 2022)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry
from brainscore_vision.data_sources.tables import load_assembly

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Allen2022_fmri_surface*": "none"}  # each picture shows another scene

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
