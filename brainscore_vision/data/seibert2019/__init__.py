"""Recordings from macaque V4 and IT of objects on backgrounds (Lee et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry
from brainscore_vision.data_sources.tables import load_assembly

BIBTEX = """@article{lee2019sensitivity,
  title = {Sensitivity of inferotemporal cortex to naturalistic image statistics in developing macaques},
  author = {Lee, Gerick M and Seibert, Darren A and Majaj, Najib J and Movshon, J Anthony and Kiorpes, Lynne},
  journal = {Journal of Vision},
  volume = {19},
  number = {10},
  pages = {124--124},
  year = {2019},
  publisher = {The Association for Research in Vision and Ophthalmology}
}"""

STIMULUS_GROUPS = {"Seibert2019": "object_name"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
