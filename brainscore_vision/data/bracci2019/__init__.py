"""Responses of human ventral visual cortex to animals, lookalike objects and objects (Bracci et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{bracci2019ventral,
  title = {The ventral visual pathway represents animal appearance over animacy, unlike human behavior and deep neural
    networks},
  author = {Bracci, Stefania and Ritchie, J Brendan and Kalfas, Ioannis and de Beeck, Hans P Op},
  journal = {Journal of Neuroscience},
  volume = {39},
  number = {33},
  pages = {6513--6525},
  year = {2019},
  publisher = {Soc Neuroscience},
  doi = {10.1523/JNEUROSCI.1714-18.2019}
}"""

STIMULUS_GROUPS = {"Bracci2019": "image_group"}

# as published, without a stimulus set: its own coordinates describe the stimuli
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
