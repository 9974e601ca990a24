"""Published import path of names of ``brainscore_core.metric_helpers.geometry``."""

from brainscore_core.metric_helpers.geometry import (
    Array,
    CrossValidatedGeometry,
    GeometryMetric,
    geometry_score,
    matched,
    numbered,
)

__all__ = ["Array", "CrossValidatedGeometry", "GeometryMetric", "geometry_score", "matched", "numbered"]
