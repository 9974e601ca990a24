"""Recordings from macaque V4 and IT of four sets of images (Sanghavi et al. 2020)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Sanghavi2020": "object_name"}  # those of hvm; the others' are not known

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
