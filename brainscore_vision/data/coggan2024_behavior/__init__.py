"""What 30 people recognise of occluded objects (Coggan & Tong 2024)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{Tong.Coggan2024.behavior,
  author = {David D. Coggan and Frank Tong},
  title = {Modeling human visual recognition of occluded objects},
  year = {2024},
  journal = {in prep}
}"""

STIMULUS_GROUPS = {"Coggan2024_behavior": "object_class"}

# the pictures to fit on are others of the same eight classes, without occluders
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
