"""AlexNet, trained on ImageNet."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _alexnet() -> "BrainModel":
    from brainscore_vision.models.alexnet.model import MODEL

    return MODEL.trained("alexnet")


model_registry["alexnet"] = _alexnet
