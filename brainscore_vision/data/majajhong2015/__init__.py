"""Responses in V4 and IT of two macaques to objects on natural backgrounds (Majaj, Hong et al. 2015)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{majajhong2015simple,
  title = {Simple learned weighted sums of inferior temporal neuronal firing rates accurately predict human core object
    recognition performance},
  author = {Majaj, Najib J and Hong, Ha and Solomon, Ethan A and DiCarlo, James J},
  journal = {Journal of Neuroscience},
  volume = {35},
  number = {39},
  pages = {13402--13418},
  year = {2015},
  publisher = {Soc Neuroscience},
  doi = {10.1523/JNEUROSCI.5181-14.2015}
}"""

STIMULUS_GROUPS = {"MajajHong2015*": "object_name"}

# public: the images with little variation of position, size and pose; private: those with much
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
