"""Whether people recognise animals in whole, fragmented and rearranged silhouettes (Baker & Elder 2022)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{BAKER2022104913,
  title = {Deep learning models fail to capture the configural nature of human shape perception},
  journal = {iScience},
  volume = {25},
  number = {9},
  pages = {104913},
  year = {2022},
  issn = {2589-0042},
  doi = {10.1016/j.isci.2022.104913},
  url = {https://www.sciencedirect.com/science/article/pii/S2589004222011853},
  author = {Nicholas Baker and James H. Elder}
}"""

STIMULUS_GROUPS = {"Baker2022_*": "truth"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
