"""Recordings from macaque IT of letters and words (Rajalingham et al. 2020)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{rajalingham2020inferior,
  title = {The inferior temporal cortex is a potential cortical precursor of orthographic processing in untrained
    monkeys},
  author = {Rajalingham, Rishi and Kar, Kohitij and Sanghavi, Sachi and Dehaene, Stanislas and DiCarlo, James J},
  journal = {Nature communications},
  volume = {11},
  number = {1},
  pages = {1--13},
  year = {2020},
  publisher = {Nature Publishing Group}
}"""

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
