"""DINOv2, ViT-B/14."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _dinov2(identifier: str) -> "BrainModel":
    from brainscore_vision.models.dinov2.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["dinov2", "vit_base_patch14_dinov2-lvd142m"]:
    model_registry[_identifier] = partial(_dinov2, _identifier)
