"""Electroencephalography of people who saw pictures of things (Gifford et al. 2022)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{gifford_large_2022,
  title = {A large and rich {EEG} dataset for modeling human visual object recognition},
  volume = {264},
  issn = {10538119},
  url = {https://linkinghub.elsevier.com/retrieve/pii/S1053811922008758},
  doi = {10.1016/j.neuroimage.2022.119754},
  journal = {NeuroImage},
  author = {Gifford, Alessandro T. and Dwivedi, Kshitij and Roig, Gemma and Cichy, Radoslaw M.},
  year = {2022}
}"""

STIMULUS_GROUPS = {"Gifford2022_test": "none"}  # one picture of each thing

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
