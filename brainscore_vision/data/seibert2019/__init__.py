"""Recordings from macaque V4 and IT of objects on backgrounds (Lee et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry
from brainscore_vision.data_sources.tables import load_assembly

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Seibert2019": "object_name"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
