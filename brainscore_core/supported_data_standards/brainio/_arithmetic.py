"""Results of xarray's operations keep class and attributes of assemblies."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

__all__ = ["keeps_class", "merged_attrs", "same", "wants_attrs"]


def keeps_class(*methods: str) -> Callable[[type], type]:
    """Decorate a subclass of DataArray: these methods, which xarray lets return a plain array, keep the class."""

    def decorate(cls: type) -> type:
        for name in methods:
            setattr(cls, name, _keeping(getattr(xr.DataArray, name)))
        return cls

    return decorate


def _keeping(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def kept(self: Any, *args: Any, **kwargs: Any) -> Any:
        attrs = dict(self.attrs)
        # several of xarray's versions drop attributes here, others compare them, which tables do not endure
        with xr.set_options(keep_attrs=False):
            result = method(self, *args, **kwargs)
        if isinstance(result, xr.DataArray):
            if type(result) is xr.DataArray:
                result = type(self)._plain(result)
            if wants_attrs(kwargs.get("keep_attrs")):
                result.attrs = attrs
        return result

    return kept


def wants_attrs(keep_attrs: bool | None) -> bool:
    """Whether attributes are kept: as asked, else as xarray's option says, else yes."""
    if keep_attrs is None:
        option = xr.get_options()["keep_attrs"]
        return True if option == "default" else bool(option)
    return keep_attrs


def merged_attrs(operands: Iterable[Any]) -> dict[Any, Any]:
    """Attributes of all operands but those in which they contradict each other."""
    if not wants_attrs(None):
        return {}
    merged: dict[Any, Any] = {}
    contradictory = set()
    for operand in operands:
        if not isinstance(operand, xr.DataArray):
            continue
        for key, value in operand.attrs.items():
            if key in merged and not same(merged[key], value):
                contradictory.add(key)
            merged.setdefault(key, value)
    return {key: value for key, value in merged.items() if key not in contradictory}


def same(left: Any, right: Any) -> bool:
    """Whether two attributes hold the same, whatever they are; NaN is the same as NaN."""
    if left is right:
        return True
    if isinstance(left, xr.DataArray) and isinstance(right, xr.DataArray):
        return bool(left.equals(right))
    if isinstance(left, pd.DataFrame | pd.Series) or isinstance(right, pd.DataFrame | pd.Series):
        return type(left) is type(right) and bool(left.equals(right))
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return _same_arrays(np.asarray(left), np.asarray(right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    equal = left == right
    if isinstance(equal, bool | np.bool_):
        return bool(equal) or (isinstance(left, float) and isinstance(right, float) and left != left and right != right)
    return False


def _same_arrays(left: np.ndarray, right: np.ndarray) -> bool:
    if left.dtype.kind in "fc" and right.dtype.kind in "fc":
        return np.array_equal(left, right, equal_nan=True)
    return np.array_equal(left, right)
