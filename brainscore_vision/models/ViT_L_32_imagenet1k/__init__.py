"""ViT-L/32 at 384 pixels, trained on ImageNet-21k and fine-tuned on ImageNet-1k."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _vit_l_32() -> "BrainModel":
    from brainscore_vision.models.ViT_L_32_imagenet1k.model import MODEL

    return MODEL.trained("ViT_L_32_imagenet1k")


model_registry["ViT_L_32_imagenet1k"] = _vit_l_32
