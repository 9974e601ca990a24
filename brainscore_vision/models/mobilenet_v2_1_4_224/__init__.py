"""MobileNetV2 with 1.4 times the width, for images of 224 pixels."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _mobilenet_v2_1_4_224(identifier: str) -> "BrainModel":
    from brainscore_vision.models.mobilenet_v2_1_4_224.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["mobilenet_v2_1_4_224", "mobilenet_v2_1.4_224"]:
    model_registry[_identifier] = partial(_mobilenet_v2_1_4_224, _identifier)
