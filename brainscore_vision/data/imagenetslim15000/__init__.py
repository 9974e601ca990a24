"""15,000 images of ImageNet (Deng et al. 2009)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import stimulus_set_registry
from brainscore_vision.data_sources.tables import load_stimuli

BIBTEX = """@inproceedings{5206848,
  author = {J. {Deng} and W. {Dong} and R. {Socher} and L. {Li} and {Kai Li} and {Li Fei-Fei}},
  booktitle = {2009 IEEE Conference on Computer Vision and Pattern Recognition},
  title = {ImageNet: A large-scale hierarchical image database},
  year = {2009},
  pages = {248-255},
  url = {https://ieeexplore.ieee.org/document/5206848}
}"""

for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
