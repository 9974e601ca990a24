"""Positions that a selection by level values means."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasMultiIndex

from brainscore_core.errors import UnknownIdentifier
from brainscore_core.supported_data_standards.brainio._levels import codes_of, is_missing, level_dims

__all__ = ["Plan", "listed", "plan_selection", "sorted_positions", "unknown_name"]


class Plan(NamedTuple):
    """How a selection is done."""

    positions: dict[Hashable, np.ndarray]  # by dimension
    native: dict[Hashable, Any]  # selections that xarray does itself


def plan_selection(array: xr.DataArray, wanted: Mapping[Hashable, Any]) -> Plan:
    """Work out what ``array.sel(wanted)`` means."""
    dims = level_dims(array)
    by_dim: dict[Hashable, list[tuple[Hashable, Any]]] = {}
    plan = Plan({}, {})
    for name, value in wanted.items():
        if name in array.dims:
            if isinstance(value, xr.DataArray) and value.dims == (name,) and value.dtype == bool:
                value = value.values
            if is_mask(value, array.sizes[name]) and not _is_boolean(array, name):
                plan.positions[name] = np.flatnonzero(np.asarray(value))
            elif parts := _by_parts(array, name, value):
                by_dim.setdefault(name, []).extend(parts)
            else:
                plan.native[name] = value
        elif name in dims:
            by_dim.setdefault(dims[name], []).append((name, value))
        elif name in array.coords and array.coords[name].ndim == 0:
            _check_scalar(array, name, value)
        else:
            raise unknown_name(array, name, what="sel")
    for dim, pairs in by_dim.items():
        found = positions_of(array, pairs)
        plan.positions[dim] = found[np.isin(found, plan.positions[dim])] if dim in plan.positions else found
    return plan


def _is_boolean(array: xr.DataArray, name: Hashable) -> bool:
    return name in array.coords.variables and array.coords.variables[name].dtype.kind == "b"


def _by_parts(array: xr.DataArray, dim: Hashable, value: Any) -> list[tuple[Hashable, Any]]:
    """Selection on an index of several levels, as selections on its levels; empty where it is none."""
    index = array.xindexes.get(dim)
    if not isinstance(index, PandasMultiIndex):
        return []
    names = index.index.names
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, tuple):
        return list(zip(names, value, strict=False)) if len(value) < len(names) else []
    return [(names[0], value)] if len(names) == 1 and not isinstance(value, xr.DataArray) else []


def _check_scalar(array: xr.DataArray, name: Hashable, value: Any) -> None:
    present = array.coords.variables[name].values.item()
    wanted = list(value) if np.ndim(value) else [value]
    if isinstance(value, slice) or not any(one == present or (pd.isna(one) and pd.isna(present)) for one in wanted):
        raise KeyError(f"coordinate {name!r} has the single value {present!r}, not {value!r}")


def sorted_positions(array: xr.DataArray, names: Sequence[Hashable], *, ascending: bool) -> dict[Hashable, np.ndarray]:
    """Order of each dimension when sorted by its own among the levels ``names``; missing values last."""
    dims = level_dims(array)
    keys: dict[Hashable, list[np.ndarray]] = {}
    for name in names:
        codes, values = codes_of(array, name)
        rank = np.empty(len(values) + 1, dtype=np.intp)
        try:
            rank[values.argsort()] = np.arange(len(values))
        except TypeError as error:
            raise TypeError(f"cannot sort by {name!r}: its values are of several types") from error
        rank = rank if ascending else -rank
        rank[-1] = len(values)  # code −1: missing
        keys.setdefault(dims[name], []).append(rank[codes])
    return {dim: np.lexsort(columns[::-1]) for dim, columns in keys.items()}


def is_mask(value: Any, size: int) -> bool:
    """Whether ``value`` is an array with one boolean for each of ``size`` positions."""
    if np.ndim(value) != 1 or isinstance(value, str):
        return False
    array = np.asarray(value)
    return bool(array.dtype.kind == "b" and len(array) == size)


def listed(values: Iterable[Any], *, most: int = 10) -> str:
    """Write values for a message, the first few only."""
    values = list(values)
    text = ", ".join(repr(value.item() if isinstance(value, np.generic) else value) for value in values[:most])
    return (text or "none") + (f", … ({len(values)} in all)" if len(values) > most else "")


def unknown_name(array: xr.DataArray, name: Hashable, *, what: str) -> UnknownIdentifier:
    """Error for a name that is neither dimension nor level."""
    levels = list(level_dims(array))
    near = get_close_matches(str(name), [str(known) for known in (*array.dims, *levels)], n=1)
    return UnknownIdentifier(
        f"{what}: no dimension or level is called {name!r}; dimensions: {listed(array.dims)}; levels: {listed(levels)}",
        remedy=f"did you mean {near[0]!r}?" if near else None,
    )


def positions_of(array: xr.DataArray, wanted: Sequence[tuple[Hashable, Any]]) -> np.ndarray:
    """Positions along one dimension at which all the given levels have the wanted values.

    Parameters
    ----------
    array : DataArray
        What holds the levels, all along the same dimension.
    wanted : sequence of (level, value)
        A value is a single value; several in the order in which they are wanted (a set: as in the array); a slice of
        values, both ends included; a boolean array with one entry for each position.

    Returns
    -------
    array of int
        Ordered as the first-named level wants it, otherwise as in the array.

    Raises
    ------
    UnknownIdentifier
        A KeyError; for a single value, or one of several, that does not occur.
    """
    size = array.sizes[level_dims(array)[wanted[0][0]]]
    positions = np.arange(size)
    for name, value in reversed(wanted):
        if isinstance(value, xr.DataArray | xr.Variable):
            value = value.values
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        codes, uniques = codes_of(array, name)
        if isinstance(value, slice):
            chosen = _in_slice(name, codes[positions], uniques, value)
        elif is_mask(value, size) and uniques.dtype.kind != "b" and not _holds_booleans(uniques):
            chosen = np.flatnonzero(np.asarray(value)[positions])
        else:
            unordered = isinstance(value, set | frozenset)
            several = unordered or (np.ndim(value) > 0 and not isinstance(value, tuple))
            values = list(value) if several else [value]
            found = [(one, _codes_for(uniques, one)) for one in values]
            occurs = np.zeros(len(uniques) + 1, dtype=bool)
            occurs[codes] = True  # code −1, missing, is the last one
            absent = [one for one, those in found if not occurs[those].any()]
            if absent:
                raise _unknown_value(name, absent, codes, uniques)
            chosen = _in_order(codes[positions], [code for _, those in found for code in those])
            chosen = np.sort(chosen) if unordered else chosen
            if not len(chosen) and values:
                raise _no_combination(array, name, wanted)
        positions = positions[chosen]
    return positions


def _holds_booleans(uniques: pd.Index) -> bool:
    return uniques.dtype == object and len(uniques) > 0 and all(isinstance(value, bool | np.bool_) for value in uniques)


def _codes_for(uniques: pd.Index, value: Any) -> list[int]:
    if is_missing(value):
        return [-1]
    try:
        found = uniques.get_loc(value)
    except (KeyError, TypeError, pd.errors.InvalidIndexError):
        return []
    # dates may be selected by a part of them, which several match
    return [found] if isinstance(found, int) else list(np.arange(len(uniques))[found])


def _in_order(codes: np.ndarray, wanted: list[int]) -> np.ndarray:
    if len(wanted) == 1:
        return np.flatnonzero(codes == wanted[0])
    order = np.argsort(codes, kind="stable")
    inorder = codes[order]
    starts = np.searchsorted(inorder, wanted, side="left")
    ends = np.searchsorted(inorder, wanted, side="right")
    parts = [order[start:end] for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def _in_slice(name: Hashable, codes: np.ndarray, uniques: pd.Index, wanted: slice) -> np.ndarray:
    inside = np.ones(len(uniques) + 1, dtype=bool)
    inside[-1] = wanted.start is None and wanted.stop is None  # code −1: missing values lie in no interval
    try:
        if wanted.start is not None:
            inside[:-1] &= np.asarray(uniques >= wanted.start)
        if wanted.stop is not None:
            inside[:-1] &= np.asarray(uniques <= wanted.stop)
    except TypeError as error:
        raise TypeError(
            f"level {name!r} cannot be sliced by {wanted}: its values ({listed(uniques)}) and the ends do not compare"
        ) from error
    return np.flatnonzero(inside[codes])[:: wanted.step]


def _unknown_value(name: Hashable, absent: list[Any], codes: np.ndarray, uniques: pd.Index) -> UnknownIdentifier:
    available = [uniques[code] for code in pd.unique(codes) if code >= 0]
    near = get_close_matches(str(absent[0]), [str(value) for value in available], n=3)
    message = f"level {name!r} has no value {listed(absent)}; available: {listed(available)}"
    return UnknownIdentifier(message, remedy=f"nearest: {listed(near)}" if near else None)


def _no_combination(array: xr.DataArray, name: Hashable, wanted: Sequence[tuple[Hashable, Any]]) -> UnknownIdentifier:
    dim = level_dims(array)[name]
    asked = " and ".join(f"{level}={value!r}" for level, value in wanted)
    return UnknownIdentifier(f"no {dim} has {asked}, although each of these values occurs")
