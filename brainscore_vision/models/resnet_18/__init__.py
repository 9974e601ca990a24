"""ResNet-18, trained on ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _resnet_18() -> "BrainModel":
    from brainscore_vision.models.resnet_18.model import MODEL

    return MODEL.trained("resnet-18")


model_registry["resnet-18"] = _resnet_18
