"""DINOv2, ViT-B/14."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

_METADATA = ModelMetadata(
    architecture="vision transformer",
    family="vit",
    parameters=86_579_712,
    total_parameters=86_579_712,
    size_mb=346.3,
    image_size=518,
    training_data="LVD-142M, without labels",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",
    source="https://huggingface.co/timm/vit_base_patch14_dinov2.lvd142m",
    notes=(
        "It has no logits: the task 'label' does not apply.",
        "The commit of the weights is not published: that of the first download is held to.",
    ),
    bibtex=BIBTEX,
)

METADATA = {"dinov2": _METADATA, "vit_base_patch14_dinov2-lvd142m": _METADATA}


def _dinov2(identifier: str) -> "BrainModel":
    from brainscore_vision.models.dinov2.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["dinov2", "vit_base_patch14_dinov2-lvd142m"]:
    model_registry[_identifier] = partial(_dinov2, _identifier)
