"""ConvNeXt-T, trained on ImageNet: torchvision's, and timm's with more training images."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

_METADATA = ModelMetadata(
    architecture="convolutional network in the manner of a transformer",
    family="convnext",
    parameters=28_589_128,
    total_parameters=28_589_128,
    size_mb=114.4,
    image_size=224,
    training_data="ImageNet (ILSVRC 2012)",
    code_licence="BSD-3-Clause",
    weights_licence=None,
    source="https://docs.pytorch.org/vision/stable/models/convnext.html",
    notes=(
        "Layers are those of the published model 'convnext_tiny_sup'.",
        "No licence of the weights is stated; terms of ImageNet may apply.",
    ),
    bibtex=BIBTEX,
)

METADATA = {
    "convnext": _METADATA,
    "convnext_tiny_sup": _METADATA,
    "convnext_tiny:in12k_ft_in1k": ModelMetadata(
        architecture="convolutional network in the manner of a transformer",
        family="convnext",
        parameters=28_589_128,
        total_parameters=28_589_128,
        size_mb=114.4,
        image_size=224,
        training_data="12,000 classes of ImageNet-22k, then ImageNet (ILSVRC 2012)",
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        source="https://huggingface.co/timm/convnext_tiny.in12k_ft_in1k",
        notes=("The commit of the weights is not published: that of the first download is held to.",),
        bibtex=BIBTEX,
    ),
}


def _convnext(identifier: str) -> "BrainModel":
    from brainscore_vision.models.convnext.model import MODEL

    return MODEL.trained(identifier)


def _in12k() -> "BrainModel":
    from brainscore_vision.models.convnext.model import IN12K

    return IN12K.trained("convnext_tiny:in12k_ft_in1k")


for _identifier in ["convnext", "convnext_tiny_sup"]:
    model_registry[_identifier] = partial(_convnext, _identifier)
model_registry["convnext_tiny:in12k_ft_in1k"] = _in12k
