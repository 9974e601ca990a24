"""ResNet-18 trained without labels by local aggregation; its weights come from the user."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "resnet18-local_aggregation": ModelMetadata(
        architecture="residual network",
        family="resnet",
        parameters=11_242_176,
        total_parameters=11_242_176,
        size_mb=45.0,
        image_size=224,
        training_data="ImageNet (ILSVRC 2012), without labels",
        code_licence="MIT",
        weights_licence=None,
        source="https://doi.org/10.48550/arXiv.1903.12355",
        runnable=False,
        notes=(
            "No public weights are known: a file of the user's is needed, and scores are those of that file.",
            "Layers are selected on benchmarks: none are published for this model.",
        ),
        bibtex=BIBTEX,
    )
}


def _resnet18_local_aggregation() -> "BrainModel":
    from brainscore_vision.models.resnet18_local_aggregation.model import MODEL

    return MODEL.trained("resnet18-local_aggregation")


model_registry["resnet18-local_aggregation"] = _resnet18_local_aggregation
