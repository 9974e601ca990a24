"""Edges, filled silhouettes and cue conflict: decisions of observers and networks (Geirhos et al. 2019)."""

from functools import partial
from typing import Any

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry

BIBTEX = read_citation(__file__)


def _load(function: str, *arguments: str) -> Any:
    from brainscore_vision.data.geirhos2019 import data_packaging

    return getattr(data_packaging, function)(*arguments)


for _test in ("cue-conflict", "edge", "silhouette"):
    data_registry[f"Geirhos2019_{_test}"] = partial(_load, "load_observers", _test)
    stimulus_set_registry[f"Geirhos2019_{_test}"] = partial(_load, "load_stimuli", _test)

data_registry["Geirhos2019_networks"] = partial(_load, "load_networks")
