"""People searching for an object in an array of objects (Zhang et al. 2018).

The published platform lists both data sets, but does not register them: its package of stimuli is marked as unfinished.
"""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Zhang2018search_obj_array": "truth"}

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
