"""When the object in an image can be decoded from macaque IT (Kar et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{Kar2019,
  author = {Kar, Kohitij and Kubilius, Jonas and Schmidt, Kailyn and Issa, Elias B. and DiCarlo, James J.},
  title = {Evidence that recurrent circuits are critical to the ventral stream's execution of core object recognition
    behavior},
  journal = {Nature Neuroscience},
  year = {2019},
  month = {Jun},
  day = {01},
  volume = {22},
  number = {6},
  pages = {974-983},
  issn = {1546-1726},
  doi = {10.1038/s41593-019-0392-5},
  url = {https://doi.org/10.1038/s41593-019-0392-5}
}"""

STIMULUS_GROUPS = {"Kar2019*": "image_label"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
