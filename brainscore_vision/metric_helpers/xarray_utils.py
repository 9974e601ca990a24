"""Published import path of names of ``brainscore_core.metric_helpers.xarray_utils``."""

from brainscore_core.metric_helpers.xarray_utils import Defaults, XarrayCorrelation, XarrayRegression

__all__ = ["Defaults", "XarrayCorrelation", "XarrayRegression"]
