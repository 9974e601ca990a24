"""People searching for an object in an array of objects (Zhang et al. 2018).

The published platform lists both data sets, but does not register them: its package of stimuli is marked as unfinished.
"""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Zhang2018search_obj_array": "truth"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
