"""ConvNeXt-T, trained on ImageNet: torchvision's, and timm's with more training images."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _convnext(identifier: str) -> "BrainModel":
    from brainscore_vision.models.convnext.model import MODEL

    return MODEL.trained(identifier)


def _in12k() -> "BrainModel":
    from brainscore_vision.models.convnext.model import IN12K

    return IN12K.trained("convnext_tiny:in12k_ft_in1k")


for _identifier in ["convnext", "convnext_tiny_sup"]:
    model_registry[_identifier] = partial(_convnext, _identifier)
model_registry["convnext_tiny:in12k_ft_in1k"] = _in12k
