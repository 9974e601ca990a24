"""The model that generates Simulated2026, as a control."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

METADATA = {
    "simulated-truth": ModelMetadata(
        architecture="encoding model that made the data",
        family="simulated",
        parameters=0,
        image_size=128,
        training_data=None,
        code_licence="MIT",
        weights_licence=None,
        source=None,
        bibtex=None,
        notes=("A control: its responses are those of the simulated neuroids, without their noise.",),
    )
}


def _simulated_truth() -> "BrainModel":
    from brainscore_vision.models.simulated_truth.model import simulated_truth

    return simulated_truth()


model_registry["simulated-truth"] = _simulated_truth
