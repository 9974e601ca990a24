"""People naming objects drawn as photographs, contours, phosphenes and segments (Scialom et al. 2024)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

STIMULUS_GROUPS = {"Scialom2024_*": "truth"}


def _load_stimuli(identifier: str) -> StimulusSet:
    """Conditions are text, also where they look like numbers."""
    stimuli = load_stimuli(__file__, identifier)
    for column in ("percentage_elements", "condition"):
        stimuli[column] = stimuli[column].astype(str)
    return stimuli


data_registry.add_table(__file__, "assemblies.csv", load_assembly)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(_load_stimuli, _key)
