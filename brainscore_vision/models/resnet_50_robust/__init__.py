"""ResNet-50, trained on adversarial images of ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "resnet-50-robust": ModelMetadata(
        architecture="residual network",
        family="resnet",
        parameters=25_557_032,
        total_parameters=25_557_032,
        size_mb=102.4,
        image_size=224,
        training_data="ImageNet (ILSVRC 2012), adversarial images of it",
        code_licence="MIT",
        weights_licence=None,
        source="https://github.com/MadryLab/robustness",
        notes=("Which attack the network was trained against is not published with the checkpoint.",),
        bibtex=BIBTEX,
    )
}


def _resnet_50_robust() -> "BrainModel":
    from brainscore_vision.models.resnet_50_robust.model import MODEL

    return MODEL.trained("resnet-50-robust")


model_registry["resnet-50-robust"] = _resnet_50_robust
