"""ObjectNet: photographs of objects in unusual places, views and rotations (Barbu, Mayo et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import stimulus_set_registry
from brainscore_vision.data_sources.tables import load_stimuli

BIBTEX = """@inproceedings{NEURIPS2019_97af07a1,
  author = {Barbu, Andrei and Mayo, David and Alverio, Julian and Luo, William and Wang, Christopher and Gutfreund,
    Dan and Tenenbaum, Josh and Katz, Boris},
  booktitle = {Advances in Neural Information Processing Systems},
  editor = {H. Wallach and H. Larochelle and A. Beygelzimer and F. d\\textquotesingle Alch\\'{e}-Buc and E. Fox and R.
    Garnett},
  publisher = {Curran Associates, Inc.},
  title = {ObjectNet: A large-scale bias-controlled dataset for pushing the limits of object recognition models},
  url = {https://proceedings.neurips.cc/paper/2019/file/97af07a14cacba681feacf3012730892-Paper.pdf},
  volume = {32},
  year = {2019}
}"""

for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
