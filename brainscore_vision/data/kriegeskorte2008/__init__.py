"""92 objects, and how dissimilar they are to human and monkey IT, to human judges and to published models."""

from typing import Any

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry

BIBTEX = read_citation(__file__)


def _data(name: str) -> Any:
    from brainscore_vision.data.kriegeskorte2008 import data_packaging

    return getattr(data_packaging, name)()


stimulus_set_registry["Kriegeskorte2008"] = lambda: _data("load_stimuli")
data_registry["Kriegeskorte2008.IT-human"] = lambda: _data("load_human_it")
data_registry["Kriegeskorte2008.IT-monkey"] = lambda: _data("load_monkey_it")
data_registry["Kriegeskorte2008.judgements"] = lambda: _data("load_judgements")
data_registry["Kriegeskorte2008.models"] = lambda: _data("load_models")
