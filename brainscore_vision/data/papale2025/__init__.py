"""Multi-unit activity in V1, V4 and IT of two macaques to 22,348 pictures of things (Papale et al. 2025)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{papale_extensive_2025,
  title = {An extensive dataset of spiking activity to reveal the syntax of the ventral stream},
  volume = {113},
  issn = {08966273},
  url = {https://linkinghub.elsevier.com/retrieve/pii/S089662732400881X},
  doi = {10.1016/j.neuron.2024.12.003},
  journal = {Neuron},
  author = {Papale, Paolo and Wang, Feng and Self, Matthew W. and Roelfsema, Pieter R.},
  year = {2025}
}"""

STIMULUS_GROUPS = {"Papale2025_*": "object_name"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
