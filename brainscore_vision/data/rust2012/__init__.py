"""Recordings from macaque V4 and IT of single objects and scrambled images (Rust & DiCarlo 2012)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{rust2012balanced,
  title = {Balanced increases in selectivity and tolerance produce constant sparseness along the ventral visual
    stream},
  author = {Rust, Nicole C and DiCarlo, James J},
  journal = {Journal of Neuroscience},
  volume = {32},
  number = {30},
  pages = {10170--10182},
  year = {2012},
  publisher = {Soc Neuroscience}
}"""

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
