"""When the object in an image can be decoded from macaque IT (Kar et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Kar2019*": "image_label"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
