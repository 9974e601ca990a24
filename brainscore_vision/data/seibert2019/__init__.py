"""Recordings from macaque V4 and IT of objects on backgrounds (Lee et al. 2019)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry
from brainscore_vision.data_sources.tables import load_assembly

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Seibert2019": "object_name"}

data_registry.add_table(__file__, "assemblies.csv", load_assembly)
