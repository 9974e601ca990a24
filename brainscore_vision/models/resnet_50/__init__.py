"""ResNet-50, trained on ImageNet."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

_METADATA = ModelMetadata(
    architecture="residual network",
    family="resnet",
    parameters=25_557_032,
    total_parameters=25_557_032,
    size_mb=102.4,
    image_size=224,
    training_data="ImageNet (ILSVRC 2012)",
    code_licence="MIT",
    weights_licence=None,
    source="https://docs.pytorch.org/vision/stable/models/resnet.html",
    notes=(
        "Layers are those of the published model 'resnet50-sup'.",
        "torchvision's first weights (IMAGENET1K_V1), not its later ones.",
        "No licence of the weights is stated; terms of ImageNet may apply.",
    ),
    bibtex=BIBTEX,
)

METADATA = {"resnet-50": _METADATA, "resnet50-sup": _METADATA}


def _resnet_50(identifier: str) -> "BrainModel":
    from brainscore_vision.models.resnet_50.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["resnet-50", "resnet50-sup"]:
    model_registry[_identifier] = partial(_resnet_50, _identifier)
