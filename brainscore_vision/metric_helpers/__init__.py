"""Helpers for metric plugins."""

from brainscore_vision.metric_helpers.xarray_utils import Defaults

__all__ = ["Defaults"]
