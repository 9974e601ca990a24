"""People searching for an object in an array of objects (Zhang et al. 2018).

The published platform lists both data sets, but does not register them: its package of stimuli is marked as unfinished.
"""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{zhang2018finding,
  title = {Finding any Waldo with zero-shot invariant and efficient visual search},
  author = {Zhang, Mengmi and Feng, Jiashi and Ma, Keng Teck and Lim, Joo Hwee and Zhao, Qi and Kreiman, Gabriel},
  journal = {Nature communications},
  volume = {9},
  number = {1},
  pages = {3730},
  year = {2018},
  publisher = {Nature Publishing Group UK London}
}"""

STIMULUS_GROUPS = {"Zhang2018search_obj_array": "truth"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
