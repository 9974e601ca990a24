"""The model that generates Simulated2026, as a control."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel


def _simulated_truth() -> "BrainModel":
    from brainscore_vision.models.simulated_truth.model import simulated_truth

    return simulated_truth()


model_registry["simulated-truth"] = _simulated_truth
