"""Centred kernel alignment."""

from collections.abc import Mapping
from typing import Any

from brainscore_core.metric_helpers.cka import CKAMetric
from brainscore_core.metric_helpers.geometry import CrossValidatedGeometry
from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry


def _cross_validated(
    *, crossvalidation_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
) -> CrossValidatedGeometry:
    return CrossValidatedGeometry(CKAMetric(**kwargs), crossvalidation_kwargs=crossvalidation_kwargs)


metric_registry["cka"] = CKAMetric
metric_registry["cka_cv"] = _cross_validated
metric_registry["cka_biased"] = lambda *, device=None: CKAMetric(unbiased=False, device=device)
metric_registry["cka_rbf"] = lambda *, unbiased=True, bandwidth=0.8, device=None: CKAMetric(
    unbiased=unbiased, kernel="rbf", bandwidth=bandwidth, device=device
)

BIBTEX = read_citation(__file__)
