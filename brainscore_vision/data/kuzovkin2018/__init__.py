"""Intracranial recordings of people who saw photographs (Kuzovkin et al. 2018)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{kuzovkin2018activations,
  title = {Activations of deep convolutional neural networks are aligned with gamma band activity of human visual
    cortex},
  author = {Kuzovkin, Ilya and Vicente, Raul and Petton, Mathilde and Lachaux, Jean-Philippe and Baciu, Monica and
    Kahane, Philippe and Rheims, Sylvain and Vidal, Juan R and Aru, Jaan},
  journal = {Communications biology},
  volume = {1},
  number = {1},
  pages = {1--12},
  year = {2018},
  publisher = {Nature Publishing Group}
}"""

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
