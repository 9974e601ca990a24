"""VGG-16, trained on ImageNet."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

_METADATA = ModelMetadata(
    architecture="convolutional network",
    family="vgg",
    parameters=138_357_544,
    total_parameters=138_357_544,
    size_mb=553.4,
    image_size=224,
    training_data="ImageNet (ILSVRC 2012)",
    code_licence="BSD-3-Clause",
    weights_licence=None,
    source="https://docs.pytorch.org/vision/stable/models/vgg.html",
    notes=("No licence of the weights is stated; terms of ImageNet may apply.",),
    bibtex=BIBTEX,
)

METADATA = {"vgg-16": _METADATA, "vgg_16": _METADATA}


def _vgg_16(identifier: str) -> "BrainModel":
    from brainscore_vision.models.vgg_16.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["vgg-16", "vgg_16"]:
    model_registry[_identifier] = partial(_vgg_16, _identifier)
