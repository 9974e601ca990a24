"""Responses in V1 and V2 of macaques to naturalistic textures and their noise counterparts (Freeman et al. 2013)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"FreemanZiemba2013*": "texture_family"}

# sets without "aperture" show the images as squares, the others through a raised-cosine aperture, as in the experiment
data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
