"""Responses in V1 and V2 of macaques to naturalistic textures and their noise counterparts (Freeman et al. 2013)."""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"FreemanZiemba2013*": "texture_family"}

# sets without "aperture" show the images as squares, the others through a raised-cosine aperture, as in the experiment
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
