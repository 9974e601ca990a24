"""Stylised pictures of objects: 20 shapes in 5 textures (Islam et al. 2021)."""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import stimulus_set_registry
from brainscore_vision.data_sources.tables import load_stimuli

BIBTEX = read_citation(__file__)

for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
