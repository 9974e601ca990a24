"""Representational similarity analysis."""

from collections.abc import Mapping
from typing import Any

from brainscore_core.metric_helpers.geometry import CrossValidatedGeometry
from brainscore_core.metric_helpers.rdm import Comparison, RDMMetric
from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .noise import NoiseNormalisedRDMMetric


def _cross_validated(
    *, crossvalidation_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
) -> CrossValidatedGeometry:
    return CrossValidatedGeometry(RDMMetric(**kwargs), crossvalidation_kwargs=crossvalidation_kwargs)


def _mahalanobis(*, comparison: Comparison = "spearman", repetition_coord: str = "repetition") -> Any:
    return NoiseNormalisedRDMMetric(
        crossvalidated=False, comparison=comparison, repetition_coord=repetition_coord
    )  # fmt: skip


def _crossnobis(*, comparison: Comparison = "spearman", repetition_coord: str = "repetition") -> Any:
    return NoiseNormalisedRDMMetric(comparison=comparison, repetition_coord=repetition_coord)


metric_registry["rdm"] = RDMMetric
metric_registry["rdm_cv"] = _cross_validated
metric_registry["rdm_cosine"] = lambda *, device=None: RDMMetric(dissimilarity="cosine", device=device)
metric_registry["rdm_euclidean"] = lambda *, device=None: RDMMetric(dissimilarity="euclidean", device=device)
metric_registry["rdm_whitened"] = lambda *, device=None: RDMMetric(
    dissimilarity="sqeuclidean", comparison="whitened", device=device
)
metric_registry["rdm_mahalanobis"] = _mahalanobis
metric_registry["rdm_crossnobis"] = _crossnobis
metric_registry["rdm_crossnobis_whitened"] = lambda *, repetition_coord="repetition": _crossnobis(
    comparison="whitened", repetition_coord=repetition_coord
)

BIBTEX = read_citation(__file__)
