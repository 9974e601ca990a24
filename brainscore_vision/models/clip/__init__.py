"""CLIP's image encoder, ViT-B/16: as it is, and fine-tuned on ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "clip": ModelMetadata(
        architecture="vision transformer",
        family="vit",
        parameters=86_193_152,
        total_parameters=86_193_152,
        size_mb=344.8,
        image_size=224,
        training_data="400 million pairs of image and text",
        code_licence="Apache-2.0",
        weights_licence="MIT",
        source="https://huggingface.co/timm/vit_base_patch16_clip_224.openai",
        notes=(
            "The encoder of images alone; the one of text is not used.",
            "It has no logits of ImageNet: the task 'label' does not apply.",
            "Layers are selected on benchmarks: none are published for this model.",
            "The commit of the weights is not published: that of the first download is held to.",
        ),
        bibtex=BIBTEX,
    ),
    "vit_base_patch16_clip_224:openai_ft_in1k": ModelMetadata(
        architecture="vision transformer",
        family="vit",
        parameters=86_568_424,
        total_parameters=86_568_424,
        size_mb=346.3,
        image_size=224,
        training_data="400 million pairs of image and text, then ImageNet (ILSVRC 2012)",
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        source="https://huggingface.co/timm/vit_base_patch16_clip_224.openai_ft_in1k",
        notes=("The commit of the weights is not published: that of the first download is held to.",),
        bibtex=BIBTEX,
    ),
}


def _clip() -> "BrainModel":
    from brainscore_vision.models.clip.model import MODEL

    return MODEL.trained("clip")


def _fine_tuned() -> "BrainModel":
    from brainscore_vision.models.clip.model import FINE_TUNED

    return FINE_TUNED.trained("vit_base_patch16_clip_224:openai_ft_in1k")


model_registry["clip"] = _clip
model_registry["vit_base_patch16_clip_224:openai_ft_in1k"] = _fine_tuned
