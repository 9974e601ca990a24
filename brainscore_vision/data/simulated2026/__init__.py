"""A simulated experiment whose truth is known: stimuli and responses are computed, nothing is downloaded."""

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

STIMULUS_GROUPS = {"Simulated2026": "object_name"}


def _stimulus_set() -> "StimulusSet":
    from brainscore_vision.data.simulated2026.packages import stimulus_set

    return stimulus_set()


def _assembly() -> "NeuroidAssembly":
    from brainscore_vision.data.simulated2026.packages import assembly

    return assembly()


stimulus_set_registry["Simulated2026"] = _stimulus_set
data_registry["Simulated2026"] = _assembly
