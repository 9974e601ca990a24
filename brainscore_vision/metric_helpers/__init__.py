"""What metrics have in common."""

from brainscore_vision.metric_helpers.xarray_utils import Defaults

__all__ = ["Defaults"]
