"""CORnet-S: a shallow recurrent network with an area for each of V1, V2, V4 and IT."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _cornet_s() -> "BrainModel":
    from brainscore_vision.models.cornet_s.model import MODEL

    return MODEL.trained("CORnet-S")


model_registry["CORnet-S"] = _cornet_s
