"""Responses of human visual cortex (fMRI) to pictures of things (Hebart et al. 2023)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{hebart_things-data_2023,
  title = {{THINGS}-data, a multimodal collection of large-scale datasets for investigating object representations
    in human brain and behavior},
  volume = {12},
  issn = {2050084X},
  doi = {10.7554/eLife.82580},
  journal = {eLife},
  author = {Hebart, M. N. and Contier, O. and Teichmann, L. and Rockter, A. H. and Zheng, C. Y. and Kidder, A. and
    Corriveau, A. and Vaziri-Pashkam, M. and Baker, C. I.},
  year = {2023},
  pmid = {36847339}
}"""

STIMULUS_GROUPS = {"Hebart2023_fmri_test": "none"}  # one picture of each thing

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
