"""Functions over whole assemblies."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.supported_data_standards.brainio._levels import (
    assembled,
    coords_for_dim,
    gather,
    gathered_of,
    is_canonical,
    named_coords,
)
from brainscore_core.supported_data_standards.brainio._select import unknown_name

__all__ = ["array_is_element", "gather_indexes", "merge_data_arrays", "stacked"]


def array_is_element(arr: Any, element: Any) -> bool:
    """Whether ``arr`` holds one thing, and that is ``element``.

    Examples
    --------
    >>> array_is_element(("presentation",), "presentation")
    True
    >>> array_is_element(("presentation", "neuroid"), "presentation")
    False
    """
    return len(arr) == 1 and bool(arr[0] == element)


def gather_indexes(xr_data: Any) -> Any:
    """Make every coordinate of a dimension a level of that dimension's index.

    Assemblies are made so; this is for arrays whose index was reset.

    Parameters
    ----------
    xr_data : DataArray
        Any array.

    Returns
    -------
    DataArray
        Of the same class.
    """
    if is_canonical(xr_data):
        return xr_data
    return assembled(type(xr_data), xr_data.variable, gathered_of(xr_data), xr_data.name)


def merge_data_arrays(data_arrays: Sequence[Any]) -> Any:
    """Put together arrays that hold different parts of the same whole.

    Arrays that differ along one dimension are concatenated along it, in the order given. Otherwise the parts are
    aligned by their levels; what no part holds is NaN.

    Parameters
    ----------
    data_arrays : sequence of DataArray
        Parts with the same dimensions.

    Returns
    -------
    DataArray
        Of the first one's class, with its attributes and name.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> parts = [DataAssembly([[i]], coords={"s": ("p", ["a"]), "n": ("q", [i])}, dims=["p", "q"]) for i in (1, 2)]
    >>> merge_data_arrays(parts).values
    array([[1, 2]])
    """
    arrays = [gather_indexes(array) for array in data_arrays]
    if not arrays:
        raise ValueError("there is nothing to merge: the list of arrays is empty")
    first = arrays[0]
    if len(arrays) == 1:
        return first
    for array in arrays[1:]:
        if set(array.dims) != set(first.dims):
            raise ValueError(f"arrays to merge need the same dimensions, found {first.dims} and {array.dims}")
    varying = [dim for dim in first.dims if not all(_same_along(first, array, dim) for array in arrays[1:])]
    if len(varying) == 1 and _disjoint(arrays, varying[0]):
        merged = xr.concat([array.transpose(*first.dims) for array in arrays], dim=varying[0], join="exact")
    else:
        parts = [array.rename("values") for array in arrays]
        merged = xr.merge(parts, join="outer", compat="no_conflicts", combine_attrs="override")["values"]
    result = assembled(type(first), merged.variable, gathered_of(merged), first.name)
    result.attrs = dict(first.attrs)
    return result


def _same_along(left: xr.DataArray, right: xr.DataArray, dim: Hashable) -> bool:
    if left.sizes[dim] != right.sizes[dim]:
        return False
    ours, theirs = coords_for_dim(left, dim), coords_for_dim(right, dim)
    return ours.keys() == theirs.keys() and all(variable.equals(theirs[name]) for name, variable in ours.items())


def _disjoint(arrays: Sequence[xr.DataArray], dim: Hashable) -> bool:
    """Whether the arrays have the same levels along ``dim`` and no entry in common."""
    names = list(coords_for_dim(arrays[0], dim))
    if not names or any(set(coords_for_dim(array, dim)) != set(names) for array in arrays):
        return False
    frames = [pd.DataFrame({name: coords_for_dim(array, dim)[name].values for name in names}) for array in arrays]
    together = [frame.drop_duplicates() for frame in frames]
    return not pd.concat(together).duplicated().any()


def stacked(array: Any, new: Hashable, names: Any) -> Any:
    """Array with several dimensions stacked into one, whose levels are all levels of theirs."""
    if ... in names:
        others = [dim for dim in array.dims if dim not in names]
        names = [dim for name in names for dim in (others if name is ... else [name])]
    names = list(names)
    for name in names:
        if name not in array.dims:
            raise unknown_name(array, name, what="stack")
    sizes = {name: array.sizes[name] for name in names}
    coords: dict[Hashable, xr.Variable] = {}
    for name, variable in named_coords(array).items():
        if set(variable.dims) & set(names):
            missing = {dim: size for dim, size in sizes.items() if dim not in variable.dims}
            variable = variable.set_dims({**missing, **dict(zip(variable.dims, variable.shape, strict=True))})
            coords[name] = variable.stack({new: names})
        else:
            coords[name] = variable
    for name in names:
        if not coords_for_dim(array, name):
            counted = xr.Variable((name,), np.arange(sizes[name])).set_dims(sizes)
            coords[name] = counted.stack({new: names})
    variable = array.variable.stack({new: names})
    return assembled(type(array), variable, gather(coords, variable.dims), array.name)
