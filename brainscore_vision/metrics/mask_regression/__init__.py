"""Predictivity with a spatial mask and channel weights for each neuroid."""

from collections.abc import Mapping
from typing import Any

from brainscore_core.metric_helpers.predictivity import CrossRegressedCorrelation, pearsonr_correlation
from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .regression import mask_regression

__all__ = ["mask_regression"]


def _mask_metric(*, regression_kwargs: Mapping[str, Any] | None = None, **kwargs: Any) -> CrossRegressedCorrelation:
    return CrossRegressedCorrelation(
        regression=mask_regression(**(regression_kwargs or {})), correlation=pearsonr_correlation(), **kwargs
    )


metric_registry["mask_regression"] = _mask_metric

BIBTEX = read_citation(__file__)
