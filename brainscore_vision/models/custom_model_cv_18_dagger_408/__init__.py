"""CrossViT-18† fine-tuned on rotated and adversarial images."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "custom_model_cv_18_dagger_408": ModelMetadata(
        architecture="vision transformer of two scales",
        family="crossvit",
        parameters=44_606_560,
        total_parameters=44_606_560,
        size_mb=178.4,
        image_size=224,
        training_data="ImageNet (ILSVRC 2012), then rotated and adversarial images of it",
        code_licence="Apache-2.0",
        weights_licence=None,
        source="https://doi.org/10.48550/arXiv.2203.06649",
        notes=("The architecture is that of timm, which scales images of 224 pixels up to 408.",),
        bibtex=BIBTEX,
    )
}


def _custom_model_cv_18_dagger_408() -> "BrainModel":
    from brainscore_vision.models.custom_model_cv_18_dagger_408.model import MODEL

    return MODEL.trained("custom_model_cv_18_dagger_408")


model_registry["custom_model_cv_18_dagger_408"] = _custom_model_cv_18_dagger_408
