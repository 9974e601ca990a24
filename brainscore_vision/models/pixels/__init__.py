"""The pixels themselves, as a lower baseline."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "pixels": ModelMetadata(
        architecture="the image itself",
        family="pixels",
        parameters=0,
        total_parameters=0,
        image_size=256,
        training_data=None,
        code_licence="MIT",
        weights_licence=None,
        source="https://doi.org/10.1101/407007",
        bibtex=BIBTEX,
    )
}


def _pixels() -> "BrainModel":
    from brainscore_vision.models.pixels.model import pixels

    return pixels()


model_registry["pixels"] = _pixels
