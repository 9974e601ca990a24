"""People naming silhouettes with a texture and dotted outlines of ten kinds of objects (BMD 2024).

One of the winners of the benchmark track of the Brain-Score competition 2024; its article has not appeared yet.
"""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

STIMULUS_GROUPS = {"BMD2024.*": "truth"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
