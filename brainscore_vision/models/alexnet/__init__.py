"""AlexNet, trained on ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "alexnet": ModelMetadata(
        architecture="convolutional network",
        family="alexnet",
        parameters=61_100_840,
        total_parameters=61_100_840,
        size_mb=244.4,
        image_size=224,
        training_data="ImageNet (ILSVRC 2012)",
        code_licence="BSD-3-Clause",
        weights_licence=None,
        source="https://docs.pytorch.org/vision/stable/models/alexnet.html",
        notes=(
            "The network of torchvision: one column, without local response normalisation (Krizhevsky 2014).",
            "No licence of the weights is stated; terms of ImageNet may apply.",
        ),
        bibtex=BIBTEX,
    )
}


def _alexnet() -> "BrainModel":
    from brainscore_vision.models.alexnet.model import MODEL

    return MODEL.trained("alexnet")


model_registry["alexnet"] = _alexnet
