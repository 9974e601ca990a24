"""Recordings from macaque V1 of natural sequences of images (David, Vinje & Gallant 2004)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{david2004evaluation,
  title = {Evaluation of different measures of functional connectivity using a neural mass model},
  author = {David, Olivier and Cosmelli, Diego and Friston, Karl J},
  journal = {Neuroimage},
  volume = {21},
  number = {2},
  pages = {659--673},
  year = {2004},
  publisher = {Elsevier}
}"""

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
