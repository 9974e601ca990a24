"""Responses in V1 and V2 of macaques to naturalistic textures and their noise counterparts (Freeman et al. 2013)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{freeman2013functional,
  title = {A functional and perceptual signature of the second visual area in primates},
  author = {Freeman, Jeremy and Ziemba, Corey M and Heeger, David J and Simoncelli, Eero P and Movshon, J Anthony},
  journal = {Nature neuroscience},
  volume = {16},
  number = {7},
  pages = {974--981},
  year = {2013},
  publisher = {Nature Publishing Group},
  doi = {10.1038/nn.3402}
}"""

STIMULUS_GROUPS = {"FreemanZiemba2013*": "texture_family"}

# sets without "aperture" show the images as squares, the others through a raised-cosine aperture, as in the experiment
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
