"""The pixels themselves, as a lower baseline."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel


def _pixels() -> "BrainModel":
    from brainscore_vision.models.pixels.model import pixels

    return pixels()


model_registry["pixels"] = _pixels
