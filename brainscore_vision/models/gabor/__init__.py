"""A bank of V1 simple and complex cells, without weights."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _gabor() -> "BrainModel":
    from brainscore_vision.models.gabor.model import gabor

    return gabor()


model_registry["gabor"] = _gabor
