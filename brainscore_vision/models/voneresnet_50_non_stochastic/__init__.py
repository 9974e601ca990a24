"""VOneResNet-50 without noise: a fixed model of V1 before ResNet-50."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _voneresnet_50_non_stochastic() -> "BrainModel":
    from brainscore_vision.models.voneresnet_50_non_stochastic.model import MODEL

    return MODEL.trained("voneresnet-50-non_stochastic")


model_registry["voneresnet-50-non_stochastic"] = _voneresnet_50_non_stochastic
