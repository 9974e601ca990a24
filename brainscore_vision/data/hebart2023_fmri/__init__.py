"""Responses of human visual cortex (fMRI) to pictures of things (Hebart et al. 2023)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Hebart2023_fmri_test": "none"}  # one picture of each thing

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
