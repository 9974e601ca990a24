"""ViT-L/32 at 384 pixels, trained on ImageNet-21k and fine-tuned on ImageNet-1k."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "ViT_L_32_imagenet1k": ModelMetadata(
        architecture="vision transformer",
        family="vit",
        parameters=306_632_680,
        total_parameters=306_632_680,
        size_mb=1226.5,
        image_size=384,
        training_data="ImageNet-21k, then ImageNet (ILSVRC 2012)",
        code_licence="MIT",
        weights_licence="Apache-2.0",
        source="https://github.com/lukemelas/PyTorch-Pretrained-ViT",
        notes=(
            "Images are normalised with ImageNet's mean and standard deviation, as in the published model; "
            "the network was trained with 0.5 and 0.5.",
            "No hash of the release is published: the first download is kept with its hash and held to it.",
        ),
        bibtex=BIBTEX,
    )
}


def _vit_l_32() -> "BrainModel":
    from brainscore_vision.models.ViT_L_32_imagenet1k.model import MODEL

    return MODEL.trained("ViT_L_32_imagenet1k")


model_registry["ViT_L_32_imagenet1k"] = _vit_l_32
