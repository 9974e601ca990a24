"""Recordings from macaque IT of objects in 13 styles (Igusti Bagus et al. 2022)."""

from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

STIMULUS_GROUPS = {"Igustibagus2024": "object_label"}

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
