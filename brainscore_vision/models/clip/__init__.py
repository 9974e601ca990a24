"""CLIP's image encoder, ViT-B/16: as it is, and fine-tuned on ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _clip() -> "BrainModel":
    from brainscore_vision.models.clip.model import MODEL

    return MODEL.trained("clip")


def _fine_tuned() -> "BrainModel":
    from brainscore_vision.models.clip.model import FINE_TUNED

    return FINE_TUNED.trained("vit_base_patch16_clip_224:openai_ft_in1k")


model_registry["clip"] = _clip
model_registry["vit_base_patch16_clip_224:openai_ft_in1k"] = _fine_tuned
