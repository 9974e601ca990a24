"""ResNet-50, trained on adversarial images of ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _resnet_50_robust() -> "BrainModel":
    from brainscore_vision.models.resnet_50_robust.model import MODEL

    return MODEL.trained("resnet-50-robust")


model_registry["resnet-50-robust"] = _resnet_50_robust
