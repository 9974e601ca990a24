"""Responses in V4 and IT of two macaques to objects on natural backgrounds (Majaj, Hong et al. 2015)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"MajajHong2015*": "object_name"}

# public: the images with little variation of position, size and pose; private: those with much
data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
