"""92 objects, and how dissimilar they are to human and monkey IT, to human judges and to published models."""

from typing import Any

from brainscore_vision import data_registry, stimulus_set_registry

BIBTEX = """@article{kriegeskorte2008matching,
  title = {Matching categorical object representations in inferior temporal cortex of man and monkey},
  author = {Kriegeskorte, Nikolaus and Mur, Marieke and Ruff, Douglas A. and Kiani, Roozbeh and
    Bodurka, Jerzy and Esteky, Hossein and Tanaka, Keiji and Bandettini, Peter A.},
  journal = {Neuron},
  volume = {60},
  number = {6},
  pages = {1126--1141},
  year = {2008},
  doi = {10.1016/j.neuron.2008.10.043}
}"""


def _data(name: str) -> Any:
    from brainscore_vision.data.kriegeskorte2008 import data_packaging

    return getattr(data_packaging, name)()


stimulus_set_registry["Kriegeskorte2008"] = lambda: _data("load_stimuli")
data_registry["Kriegeskorte2008.IT-human"] = lambda: _data("load_human_it")
data_registry["Kriegeskorte2008.IT-monkey"] = lambda: _data("load_monkey_it")
data_registry["Kriegeskorte2008.judgements"] = lambda: _data("load_judgements")
data_registry["Kriegeskorte2008.models"] = lambda: _data("load_models")
