"""ResNet-18, trained on ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "resnet-18": ModelMetadata(
        architecture="residual network",
        family="resnet",
        parameters=11_689_512,
        total_parameters=11_689_512,
        size_mb=46.8,
        image_size=224,
        training_data="ImageNet (ILSVRC 2012)",
        code_licence="MIT",
        weights_licence=None,
        source="https://docs.pytorch.org/vision/stable/models/resnet.html",
        notes=(
            "The neural layers are those of the published model 'resnet-18_test_m', which has the same weights. Its "
            "behaviour is read from 1,000 logits here, and from 512 pooled features, called 'logits', there.",
            "No licence of the weights is stated; terms of ImageNet may apply.",
        ),
        bibtex=BIBTEX,
    )
}


def _resnet_18() -> "BrainModel":
    from brainscore_vision.models.resnet_18.model import MODEL

    return MODEL.trained("resnet-18")


model_registry["resnet-18"] = _resnet_18
