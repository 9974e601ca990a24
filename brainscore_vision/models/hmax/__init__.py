"""HMAX with the universal set of patches."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "hmax": ModelMetadata(
        architecture="template matching and pooling, alternating",
        family="hmax",
        parameters=1_305_600,
        total_parameters=1_305_600,
        size_mb=5.2,
        image_size=224,
        training_data="natural images, from which the patches were cut",
        code_licence="MIT",
        weights_licence=None,
        source="https://doi.org/10.1109/TPAMI.2007.56",
        notes=(
            "No weights are fitted: the parameters are values of patches that were cut out of images.",
            "The published plugin cites an unrelated paper.",
        ),
        bibtex=BIBTEX,
    )
}


def _hmax() -> "BrainModel":
    from brainscore_vision.models.hmax.model import MODEL

    return MODEL.trained("hmax")


model_registry["hmax"] = _hmax
