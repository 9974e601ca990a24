"""Recordings from macaque IT of objects on backgrounds and of grey photographs (Kar et al. 2018)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{19,
  title = {Evidence that recurrent circuits are critical to the ventral stream{\\textquoteright}s execution of core
    object recognition behavior},
  journal = {bioRxiv},
  year = {2018},
  month = {06/2018},
  type = {preprint},
  doi = {https://doi.org/10.1101/354753},
  url = {https://www.biorxiv.org/content/10.1101/354753v1.full.pdf},
  author = {Kar, Kohitij and Kubilius, Jonas and Schmidt, Kailyn and Issa, Elias B and DiCarlo, James J.}
}"""

STIMULUS_GROUPS = {"Kar2018hvm": "object_name"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
