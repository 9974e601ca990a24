"""Edges, filled silhouettes and cue conflict: decisions of observers and networks (Geirhos et al. 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = read_citation(__file__)


def _observers(test: str) -> BehavioralAssembly:
    from brainscore_vision.data.geirhos2019.data_packaging import load_observers

    return load_observers(test)


def _networks() -> BehavioralAssembly:
    from brainscore_vision.data.geirhos2019.data_packaging import load_networks

    return load_networks()


def _stimuli(test: str) -> StimulusSet:
    from brainscore_vision.data.geirhos2019.data_packaging import load_stimuli

    return load_stimuli(test)


for _test in ("cue-conflict", "edge", "silhouette"):
    data_registry[f"Geirhos2019_{_test}"] = lambda test=_test: _observers(test)
    stimulus_set_registry[f"Geirhos2019_{_test}"] = lambda test=_test: _stimuli(test)

data_registry["Geirhos2019_networks"] = _networks
