"""CrossViT-18† fine-tuned on rotated and adversarial images."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _custom_model_cv_18_dagger_408() -> "BrainModel":
    from brainscore_vision.models.custom_model_cv_18_dagger_408.model import MODEL

    return MODEL.trained("custom_model_cv_18_dagger_408")


model_registry["custom_model_cv_18_dagger_408"] = _custom_model_cv_18_dagger_408
