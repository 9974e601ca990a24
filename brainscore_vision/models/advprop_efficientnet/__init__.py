"""EfficientNets of efficientnet_pytorch, trained with adversarial images (AdvProp): rows of ``models.csv``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import model_registry

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel


def _make(identifier: str) -> BrainModel:
    from brainscore_vision.model_sources.tables import table_model

    return table_model(__file__, identifier)


for _identifier in table_keys(__file__, "models.csv"):
    model_registry[_identifier] = partial(_make, _identifier)
