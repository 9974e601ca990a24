"""A bank of V1 simple and complex cells, without weights."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "gabor": ModelMetadata(
        architecture="bank of Gabor filters",
        family="gabor",
        parameters=0,
        total_parameters=0,
        image_size=224,
        training_data=None,
        code_licence="MIT",
        weights_licence=None,
        source="https://doi.org/10.1101/2020.06.16.154542",
        notes=("Written from the literature; its filters are drawn anew, they are not those of the publication.",),
        bibtex=BIBTEX,
    )
}


def _gabor() -> "BrainModel":
    from brainscore_vision.models.gabor.model import gabor

    return gabor()


model_registry["gabor"] = _gabor
