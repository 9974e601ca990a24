"""People naming silhouettes with a texture and dotted outlines of ten kinds of objects (BMD 2024).

One of the winners of the benchmark track of the Brain-Score competition 2024; its article has not appeared yet.
"""

from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

STIMULUS_GROUPS = {"BMD2024.*": "truth"}

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
