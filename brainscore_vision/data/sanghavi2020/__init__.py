"""Recordings from macaque V4 and IT of four sets of images (Sanghavi et al. 2020)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@misc{Sanghavi2020,
  title = {SanghaviMurty2020},
  url = {osf.io/CHWDK},
  doi = {10.17605/OSF.IO/CHWDK},
  publisher = {OSF},
  author = {Sanghavi, Sachi and DiCarlo, James J},
  year = {2020},
  month = {Nov}
}

@misc{SanghaviJozwik2020,
  title = {SanghaviJozwik2020},
  url = {osf.io/FHY36},
  doi = {10.17605/OSF.IO/FHY36},
  publisher = {OSF},
  author = {Sanghavi, Sachi and Jozwik, K M and DiCarlo, James J},
  year = {2020},
  month = {Nov}
}

@misc{SanghaviMurty2020,
  title = {SanghaviMurty2020},
  url = {osf.io/fchme},
  doi = {10.17605/OSF.IO/FCHME},
  publisher = {OSF},
  author = {Sanghavi, Sachi and Murty, N A R and DiCarlo, James J},
  year = {2020},
  month = {Nov}
}"""

STIMULUS_GROUPS = {"Sanghavi2020": "object_name"}  # those of hvm; the others' are not known

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
