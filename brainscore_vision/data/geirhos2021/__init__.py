"""Decisions of 90 observers on 17 sets of distorted and out-of-distribution images (Geirhos et al. 2021)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_core.provenance import note
from brainscore_vision import data_registry, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Geirhos2021_*": "truth"}


_OF_GEIRHOS2019 = ("cue-conflict", "edge", "silhouette")
"""Pictures and observers are those of an earlier study."""


def _observers(test: str) -> DataAssembly:
    from brainscore_vision.data.geirhos2021.data_packaging import load_observers

    if test in _OF_GEIRHOS2019:
        note("study", identifier="Geirhos2019")
    return load_observers(test)


def _stimuli(test: str) -> StimulusSet:
    from brainscore_vision.data.geirhos2021.data_packaging import load_stimuli

    if test in _OF_GEIRHOS2019:
        note("collection", identifier="Geirhos2019")
    if test == "stylized":
        note("collection", identifier="ImageNet (ILSVRC 2012), validation")
    return load_stimuli(test)


for _test in table_keys(__file__, "published.csv"):
    data_registry[f"Geirhos2021_{_test}"] = partial(_observers, _test)
    stimulus_set_registry[f"Geirhos2021_{_test}"] = partial(_stimuli, _test)
