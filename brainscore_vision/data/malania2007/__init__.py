"""How flankers elevate the smallest offset of a vernier that people see (Malania et al. 2007)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{malania2007,
  author = {Malania, Maka and Herzog, Michael H. and Westheimer, Gerald},
  title = {{Grouping of contextual elements that affect vernier thresholds}},
  journal = {Journal of Vision},
  volume = {7},
  number = {2},
  pages = {1-1},
  year = {2007},
  issn = {1534-7362},
  doi = {10.1167/7.2.1},
  url = {https://doi.org/10.1167/7.2.1}
}"""

# with flankers the vernier is shown, and learned from the set of the same name with _fit
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
