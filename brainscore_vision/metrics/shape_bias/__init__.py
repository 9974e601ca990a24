"""How close a model's preference for shape over texture is to people's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

if TYPE_CHECKING:
    from brainscore_core.metrics import Metric

BIBTEX = read_citation(__file__)


def _shape_bias(**kwargs: Any) -> Metric:
    from brainscore_vision.metrics.shape_bias.metric import ShapeBias

    return ShapeBias(**kwargs)


metric_registry["shape_bias"] = _shape_bias
