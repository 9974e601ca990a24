"""A bank of V1 simple and complex cells, without weights."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel


def _gabor() -> "BrainModel":
    from brainscore_vision.models.gabor.model import gabor

    return gabor()


model_registry["gabor"] = _gabor
