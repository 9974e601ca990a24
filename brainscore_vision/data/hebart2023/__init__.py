"""Which of three objects people take for the odd one: 453,642 triplets of 1,854 images (Hebart et al. 2023)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{10.7554/eLife.82580,
  author = {Hebart, Martin N and Contier, Oliver and Teichmann, Lina and Rockter, Adam H and Zheng, Charles Y and
    Kidder, Alexis and Corriveau, Anna and Vaziri-Pashkam, Maryam and Baker, Chris I},
  journal = {eLife},
  month = {feb},
  pages = {e82580},
  title = {THINGS-data, a multimodal collection of large-scale datasets for investigating object representations in
    human brain and behavior},
  volume = {12},
  year = {2023},
  doi = {10.7554/eLife.82580}
}"""

STIMULUS_GROUPS = {"Hebart2023": "none"}  # one picture of each thing

# registered elsewhere as NeuronRecordingAssembly, whose dimensions (presentation, neuroid) choices do not have
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
