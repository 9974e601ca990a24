"""MobileNetV2 with 1.4 times the width, for images of 224 pixels."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

_METADATA = ModelMetadata(
    architecture="convolutional network of inverted residuals",
    family="mobilenet",
    parameters=6_108_776,
    total_parameters=6_108_776,
    size_mb=24.6,
    image_size=224,
    training_data="ImageNet (ILSVRC 2012)",
    code_licence="Apache-2.0",
    weights_licence=None,
    source="https://huggingface.co/Matthijs/mobilenet_v2_1.4_224",
    notes=(
        "The class 0 of its 1,001, the background, is left out.",
        "The commit of the weights is not published: that of the first download is held to.",
    ),
    bibtex=BIBTEX,
)

METADATA = {"mobilenet_v2_1_4_224": _METADATA, "mobilenet_v2_1.4_224": _METADATA}


def _mobilenet_v2_1_4_224(identifier: str) -> "BrainModel":
    from brainscore_vision.models.mobilenet_v2_1_4_224.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["mobilenet_v2_1_4_224", "mobilenet_v2_1.4_224"]:
    model_registry[_identifier] = partial(_mobilenet_v2_1_4_224, _identifier)
