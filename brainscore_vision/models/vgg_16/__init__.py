"""VGG-16, trained on ImageNet."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _vgg_16(identifier: str) -> "BrainModel":
    from brainscore_vision.models.vgg_16.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["vgg-16", "vgg_16"]:
    model_registry[_identifier] = partial(_vgg_16, _identifier)
