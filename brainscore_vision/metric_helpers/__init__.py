"""Helpers for metric plugins."""

from brainscore_core.metric_helpers.xarray_utils import Defaults

__all__ = ["Defaults"]
