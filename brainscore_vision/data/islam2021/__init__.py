"""Stylised pictures of objects: 20 shapes in 5 textures (Islam et al. 2021)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import stimulus_set_registry
from brainscore_vision.data_sources.tables import load_stimuli

BIBTEX = """@article{islam2021shape,
  title = {Shape or texture: Understanding discriminative features in cnns},
  author = {Islam, Md Amirul and Kowal, Matthew and Esser, Patrick and Jia, Sen and Ommer, Bjorn and Derpanis,
    Konstantinos G and Bruce, Neil},
  journal = {arXiv preprint arXiv:2101.11604},
  year = {2021}
}"""

for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
