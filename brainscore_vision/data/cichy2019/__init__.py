"""Responses of human visual cortex (fMRI) to photographs of objects, the Algonauts challenge (Cichy et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{CICHY201912,
  title = {The spatiotemporal neural dynamics underlying perceived similarity for real-world objects},
  journal = {NeuroImage},
  volume = {194},
  pages = {12-24},
  year = {2019},
  issn = {1053-8119},
  doi = {https://doi.org/10.1016/j.neuroimage.2019.03.031},
  url = {https://www.sciencedirect.com/science/article/pii/S1053811919302083},
  author = {Radoslaw M. Cichy and Nikolaus Kriegeskorte and Kamila M. Jozwik and Jasper J.F. {van den Bosch} and Ian
    Charest}
}"""

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
