"""People judging whether a contour connects two points (Lonnqvist et al. 2024)."""

from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

STIMULUS_GROUPS = {"Lonnqvist2024_*": "truth"}

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
