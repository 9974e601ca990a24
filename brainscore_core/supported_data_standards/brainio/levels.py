"""Coordinates of assemblies, and selection by their values.

A *level* is any one-dimensional coordinate: all coordinates along a dimension are levels of the dimension's index.
The coordinate that holds the tuples of a MultiIndex is not a level.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex, PandasMultiIndex

from brainscore_core.errors import UnknownIdentifier
from brainscore_core.supported_data_standards.brainio.findings import format_values

Array = TypeVar("Array", bound=xr.DataArray)


_STIMULUS_IDS = ("stimulus_id", "image_id")
_START_OR_END = re.compile(r"_(start|end)\b")


class GatheredCoords(NamedTuple):
    """Coordinate variables and indexes for the constructor of an array."""

    variables: dict[Hashable, xr.Variable]
    indexes: dict[Hashable, Any]


def holds_tuples(array: xr.DataArray, name: Hashable) -> bool:
    """Whether the coordinate ``name`` holds the tuples of a MultiIndex."""
    if name in array.dims:
        return isinstance(array.xindexes.get(name), PandasMultiIndex)
    # selection of one position reduces such a coordinate to a scalar tuple
    variable = array.coords.variables[name]
    return variable.ndim == 0 and variable.dtype == object and isinstance(variable.values.item(), tuple)


def named_coords(array: xr.DataArray) -> dict[Hashable, xr.Variable]:
    """All coordinates except those that hold the tuples of a MultiIndex."""
    return {name: variable for name, variable in array.coords.variables.items() if not holds_tuples(array, name)}


def level_dims(array: xr.DataArray) -> dict[Hashable, Hashable]:
    """Map each level to its dimension."""
    return {name: variable.dims[0] for name, variable in named_coords(array).items() if variable.ndim == 1}


def walk_coords(assembly: xr.DataArray) -> Iterator[tuple[Any, tuple[Any, ...], np.ndarray]]:
    """Walk over all coordinates, including levels of indexes.

    `assembly`: the array. Yields `name`: name of the coordinate. Yields `dims`: its dimensions; empty for a scalar
    coordinate. Yields `values`: its values.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> assembly = DataAssembly([1, 2], coords={"stimulus_id": ("presentation", ["a", "b"])}, dims=["presentation"])
    >>> [(name, dims, list(values)) for name, dims, values in walk_coords(assembly)]
    [('stimulus_id', ('presentation',), ['a', 'b'])]
    """
    for name, variable in named_coords(assembly).items():
        yield name, variable.dims, variable.values


def get_levels(assembly: xr.DataArray) -> list[Any]:
    """Names of all levels: the one-dimensional coordinates of any dimension.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> get_levels(DataAssembly([1, 2], coords={"stimulus_id": ("presentation", ["a", "b"])}, dims=["presentation"]))
    ['stimulus_id']
    """
    return list(level_dims(assembly))


def coords_for_dim(assembly: xr.DataArray, dim: Hashable) -> dict[Any, xr.Variable]:
    """Coordinates along one dimension.

    `assembly`: the array with the coordinates. `dim`: name of the dimension. Returns name → variable (with ``dims`` and
    ``values``), in the assembly's order.
    """
    return {name: variable for name, variable in named_coords(assembly).items() if variable.dims == (dim,)}


def get_metadata(
    assembly: xr.DataArray,
    dims: Sequence[Hashable | None] | None = None,
    names_only: bool = False,
    include_coords: bool = True,
    include_indexes: bool = True,
    include_levels: bool = True,
) -> Iterator[Any]:
    """Walk over the coordinates of selected dimensions and kinds.

    - `assembly`: the array with the coordinates.
    - `dims`: yield only coordinates along these dimensions; None selects coordinates along no dimension or several
      ones. By default, all coordinates are yielded.
    - `names_only`: yield names instead of ``(name, dims, values)``.
    - `include_coords`: whether to yield coordinates that belong to no index.
    - `include_indexes`: whether to yield coordinates that alone are the index of their dimension.
    - `include_levels`: whether to yield levels of indexes that consist of several coordinates.

    Yields: the name, or the tuple ``(name, dims, values)``.
    """
    selected = (*assembly.dims, None) if dims is None else tuple(dims)
    indexes = assembly.xindexes
    for dim in selected:
        for name, variable in named_coords(assembly).items():
            along = variable.dims[0] if variable.ndim == 1 else None
            if along != dim:
                continue
            if name not in indexes:
                included = include_coords
            elif isinstance(indexes[name], PandasMultiIndex):
                included = include_levels
            else:
                included = include_indexes
            if included:
                yield name if names_only else (name, variable.dims, variable.values)


def normalise_coords(coords: Mapping[Any, Any], dims: Any = None) -> dict[Hashable, Any]:
    """Convert the coordinates that a caller passes into an unambiguous form for xarray.

    A MultiIndex is replaced by its levels, and an array by its dims, values and attributes.
    """
    normalised: dict[Hashable, Any] = {}
    for name, value in coords.items():
        if isinstance(value, pd.MultiIndex):
            for number, level in enumerate(value.names):
                normalised.setdefault(level or f"{name}_level_{number}", ((name,), value.get_level_values(number)))
        elif isinstance(value, xr.DataArray):
            if value.ndim == 1 and isinstance(value.xindexes.get(name), PandasMultiIndex) and name in value.dims:
                for level, variable in coords_for_dim(value, name).items():
                    normalised.setdefault(level, variable)
            elif not (value.ndim == 0 and isinstance(value.values.item(), tuple)):
                normalised[name] = (value.dims, value.values, value.attrs)
        elif isinstance(value, tuple) and len(value) >= 2 and isinstance(value[1], pd.MultiIndex):
            normalised |= normalise_coords({value[0]: value[1]})
        elif isinstance(value, tuple) and len(value) >= 2 and isinstance(value[1], xr.DataArray | pd.Series | pd.Index):
            normalised[name] = (value[0], _values(value[1]), *value[2:])
        elif isinstance(value, pd.Series | pd.Index):
            normalised[name] = ((name,), _values(value))
        else:
            normalised[name] = value
    return normalised


def _values(values: Any) -> np.ndarray:
    """Return values as a NumPy array, with strings as Python objects, which can have any length."""
    if isinstance(values, xr.Variable | xr.DataArray):
        values = values.values
    if not isinstance(values, np.ndarray):
        index = values if isinstance(values, pd.Index | pd.Series) else pd.Index(values, tupleize_cols=False)
        if isinstance(index.dtype, np.dtype):
            values = index.to_numpy()
        else:
            values = index.astype(object).to_numpy()
    if values.dtype.kind in "UST":
        return values.astype(object)
    return values.astype(np.float32) if values.dtype == np.float16 else values  # pandas indexes do not support float16


def index_order(names: Iterable[Hashable]) -> list[Hashable]:
    """Sort levels by name, but put ``…_start`` before ``…_end``, so that time bins are (start, end).

    Because of this common order, assemblies with the same coordinates can be compared, added and concatenated even if
    their coordinates were defined in different orders.
    """
    return sorted(
        names,
        key=lambda name: (_START_OR_END.sub(lambda match: "_0" if match[1] == "start" else "_1", str(name)), str(name)),
    )


def gather_coords(
    coords: Mapping[Hashable, Any], dims: Sequence[Hashable], array: xr.DataArray | None = None
) -> GatheredCoords:
    """Make every one-dimensional coordinate a level of its dimension's index.

    The order of the levels in an index is that of :func:`index_order`. None of the coordinates holds tuples. Indexes of
    the assembly `array` are used again for dimensions whose coordinates are all its own.
    """
    known = {} if array is None else array.coords.variables
    variables: dict[Hashable, xr.Variable] = dict(coords)
    tuples: dict[Hashable, xr.Variable] = {}
    indexes: dict[Hashable, Any] = {}
    for dim in dims:
        along = {name: variable for name, variable in coords.items() if variable.dims == (dim,)}
        if not along:
            continue
        index: Any = None if array is None else array.xindexes.get(dim)
        if index is not None and {*index.index.names} == {*along} and all(along[name] is known[name] for name in along):
            index_variables = {name: known[name] for name in (dim, *along)}
        else:
            along = {name: xr.Variable((dim,), _values(each), each.attrs) for name, each in along.items()}
            if dim in along:  # in xarray, a level cannot have the name of its dimension: it must be the index by itself
                variables |= along
                along = {dim: along[dim]}
                index = PandasIndex(pd.Index(along[dim].values, name=dim, tupleize_cols=False), dim)
            else:
                # without these types, a boolean level would convert missing values to True when read
                types = {name: along[name].dtype for name in index_order(along)}
                index = PandasMultiIndex(_multi_index(list(along), along), dim, types)
            index_variables = index.create_variables(along)
        for name, variable in index_variables.items():
            (variables if name in coords else tuples)[name] = variable
            indexes[name] = index
    # the coordinate with the tuples comes before its levels, as in xarray
    return GatheredCoords(tuples | variables, indexes)


def _multi_index(names: Sequence[Hashable], variables: Mapping[Hashable, xr.Variable]) -> pd.MultiIndex:
    names = index_order(names)
    try:
        return pd.MultiIndex.from_arrays([variables[name].values for name in names], names=names)
    except TypeError as error:
        for name in names:
            for value in variables[name].values:
                if not isinstance(value, Hashable):
                    raise TypeError(
                        f"coordinate {name!r} contains a {type(value).__name__} ({value!r}), but its values must "
                        f"be scalars, such as strings or numbers"
                    ) from error
        raise


def build_array(cls: type[Array], variable: xr.Variable, gathered: GatheredCoords, name: Hashable | None) -> Array:
    """Make an array of class ``cls`` without checks, since parts and reductions may lack dimensions of the class."""
    return cls(variable, coords=gathered.variables, name=name, indexes=gathered.indexes, fastpath=True)


def converted(cls: type[Array], array: xr.DataArray) -> Array:
    """Convert any array to a class of assemblies."""
    gathered = GatheredCoords(dict(array.coords.variables), dict(array.xindexes))
    if not is_canonical(array):
        gathered = gather_coords(named_coords(array), array.dims)
    return build_array(cls, array.variable, gathered, array.name)


def is_canonical(array: xr.DataArray) -> bool:
    """Whether every level is in the index of its dimension, in the order of :func:`index_order`."""
    indexes = array.xindexes
    for dim in array.dims:
        names = list(coords_for_dim(array, dim))
        if not names or dim in names:
            continue
        index = indexes.get(dim)
        if not isinstance(index, PandasMultiIndex) or list(index.index.names) != index_order(names):
            return False
    return True


def level_codes(array: xr.DataArray, name: Hashable) -> tuple[np.ndarray, pd.Index]:
    """Encode a level as positions in an index of its distinct values, with −1 for missing values.

    The index may contain values that do not occur in the level.
    """
    index = array.xindexes.get(name)
    if isinstance(index, PandasMultiIndex):
        number = index.index.names.index(name)
        return np.asarray(index.index.codes[number], dtype=np.intp), index.index.levels[number]
    codes, values = pd.factorize(pd.Index(array.coords.variables[name].values, tupleize_cols=False))
    return codes, values


def group_codes(array: xr.DataArray, names: Sequence[Hashable], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Number the groups of positions that have equal values in all given levels; groups are sorted by these levels.

    Missing values count as equal and come last. Numbers come before text. Stimulus ids that are integers written as
    text are sorted as numbers. All levels belong to the same dimension, which has ``size`` positions. Returns the
    number of the group of each position, and the position of each group's first member.
    """
    combined = np.zeros(size, dtype=np.int64)
    for name in names:
        ranks, number = _ranks(array, name, as_numbers=name in _STIMULUS_IDS)
        # renumber the groups, because the product of the numbers of values of many levels could overflow
        combined = np.unique(combined * (number + 1) + ranks, return_inverse=True)[1]
    _, first = np.unique(combined, return_index=True)
    return combined, first


def _ranks(array: xr.DataArray, name: Hashable, *, as_numbers: bool = False) -> tuple[np.ndarray, int]:
    """Rank of each position by a level, with missing values last; and the number of values."""
    codes, values = level_codes(array, name)
    values = _as_numbers(values) if as_numbers else values
    try:
        order = np.arange(len(values)) if values.is_monotonic_increasing else values.argsort()
    except TypeError:  # values of different types cannot be compared
        order = np.array(sorted(range(len(values)), key=lambda i: _sort_key(values[i])), dtype=np.intp)
    ranks = np.full(len(values) + 1, len(values))  # the last one is of missing values, whose code is −1
    ranks[order] = np.arange(len(values))
    return ranks[codes], len(values)


def _as_numbers(values: pd.Index) -> pd.Index:
    """Convert integers written as text, without leading zeros, to numbers; return other values unchanged."""
    try:
        numbers = pd.Index([int(value) for value in values])
    except (TypeError, ValueError):
        return values
    return numbers if all(str(number) == value for number, value in zip(numbers, values, strict=True)) else values


def _sort_key(value: Any) -> tuple[int, Any]:
    """Sort key for values of different types: numbers, then text, then others."""
    if isinstance(value, int | float | np.number | np.bool_):
        return 0, float(value)
    return (1, value) if isinstance(value, str) else (2, repr(value))


def is_missing(value: Any) -> bool:
    """Whether a single value is None, NaN or NaT."""
    return bool(np.ndim(value) == 0 and pd.isna(value))


class SelectionPlan(NamedTuple):
    """The parts of a selection: positions by dimension, and selections to pass to the ``sel`` of xarray."""

    positions: dict[Hashable, np.ndarray]
    native: dict[Hashable, Any]


def plan_selection(array: xr.DataArray, wanted: Mapping[Hashable, Any]) -> SelectionPlan:
    """Translate ``array.sel(wanted)`` into positions, and selections that xarray supports."""
    dims = level_dims(array)
    by_dim: dict[Hashable, list[tuple[Hashable, Any]]] = {}
    plan = SelectionPlan({}, {})
    for name, value in wanted.items():
        if name in array.dims:
            if isinstance(value, xr.DataArray) and value.dims == (name,) and value.dtype == bool:
                value = value.values
            if is_mask(value, array.sizes[name]) and array[name].dtype.kind != "b":
                plan.positions[name] = np.flatnonzero(np.asarray(value))
            elif selections := _selections_on_levels(array, name, value):
                by_dim.setdefault(name, []).extend(selections)
            else:
                plan.native[name] = value
        elif name in dims:
            by_dim.setdefault(dims[name], []).append((name, value))
        elif name in array.coords and array.coords[name].ndim == 0:
            present = array.coords.variables[name].values.item()
            values = list(value) if np.ndim(value) else [value]
            same = [each == present or (pd.isna(each) and pd.isna(present)) for each in values]
            if isinstance(value, slice) or not any(same):
                raise KeyError(f"coordinate {name!r} has the single value {present!r}, not {value!r}")
        else:
            raise unknown_name_error(array, name, what="sel")
    for dim, selections in by_dim.items():
        positions = positions_of(array, selections)
        if dim in plan.positions:
            positions = positions[np.isin(positions, plan.positions[dim])]
        plan.positions[dim] = positions
    return plan


def _selections_on_levels(array: xr.DataArray, dim: Hashable, value: Any) -> list[tuple[Hashable, Any]]:
    """Split a selection on a MultiIndex into selections on its levels; empty if this is left to xarray."""
    index = array.xindexes.get(dim)
    if not isinstance(index, PandasMultiIndex):
        return []
    names = index.index.names
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, tuple):
        return list(zip(names, value, strict=False)) if len(value) < len(names) else []
    return [(names[0], value)] if len(names) == 1 and not isinstance(value, xr.DataArray) else []


def sorted_positions(array: xr.DataArray, names: Sequence[Hashable], *, ascending: bool) -> dict[Hashable, np.ndarray]:
    """Positions that sort each dimension by those of the given levels that belong to it; missing values come last."""
    dims = level_dims(array)
    keys: dict[Hashable, list[np.ndarray]] = {}
    for name in names:
        ranks, number = _ranks(array, name)
        keys.setdefault(dims[name], []).append(ranks if ascending else np.where(ranks < number, -ranks, number))
    return {dim: np.lexsort(columns[::-1]) for dim, columns in keys.items()}


def is_mask(value: Any, size: int) -> bool:
    """Whether ``value`` is an array with one boolean for each of ``size`` positions."""
    if np.ndim(value) != 1 or isinstance(value, str):
        return False
    array = np.asarray(value)
    return bool(array.dtype.kind == "b" and len(array) == size)


def unknown_name_error(array: xr.DataArray, name: Hashable, *, what: str) -> UnknownIdentifier:
    """Make the error for a name that is neither a dimension nor a level; `what` is the name of the method."""
    levels = list(level_dims(array))
    near = get_close_matches(str(name), [str(present) for present in (*array.dims, *levels)], n=1)
    return UnknownIdentifier(
        f"{what}: unknown dimension or level {name!r}; dimensions: {format_values(array.dims)}; "
        f"levels: {format_values(levels)}",
        remedy=f"did you mean {near[0]!r}?" if near else None,
    )


def positions_of(array: xr.DataArray, wanted: Sequence[tuple[Hashable, Any]]) -> np.ndarray:
    """Positions along one dimension at which all given levels have the wanted values.

    The levels belong to the same dimension. Wanted for a level is a single value; several values, which also determine
    the order (unless they are a set); a slice of values, which includes both ends; or a boolean array with one entry
    for each position. The result is in the order of the values wanted for the first level; otherwise in the order of
    the array. Raises UnknownIdentifier (a KeyError) if a wanted value, or the combination of wanted values, does not
    occur.
    """
    dim = level_dims(array)[wanted[0][0]]
    size = array.sizes[dim]
    positions = np.arange(size)
    for name, value in reversed(wanted):
        if isinstance(value, xr.DataArray | xr.Variable):
            value = value.values
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        codes, uniques = level_codes(array, name)
        if isinstance(value, slice):
            chosen = _in_slice(name, codes[positions], uniques, value)
        elif is_mask(value, size) and uniques.dtype.kind != "b" and not _holds_booleans(uniques):
            chosen = np.flatnonzero(np.asarray(value)[positions])
        else:
            unordered = isinstance(value, set | frozenset)
            several = unordered or (np.ndim(value) > 0 and not isinstance(value, tuple))
            values = list(value) if several else [value]
            codes_of_values = [_codes_for(uniques, item) for item in values]
            occurs = np.zeros(len(uniques) + 1, dtype=bool)
            occurs[codes] = True  # the last entry is for missing values, whose code is −1
            absent = [item for item, sought in zip(values, codes_of_values, strict=True) if not occurs[sought].any()]
            if absent:
                present = [uniques[code] for code in pd.unique(codes) if code >= 0]
                near = get_close_matches(str(absent[0]), [str(each) for each in present], n=3)
                raise UnknownIdentifier(
                    f"level {name!r} has no value {format_values(absent, most=10)}; available: "
                    f"{format_values(present, most=10)}",
                    remedy=f"nearest: {format_values(near)}" if near else None,
                )
            chosen = _in_order(codes[positions], [code for sought in codes_of_values for code in sought])
            chosen = np.sort(chosen) if unordered else chosen
            if not len(chosen) and values:
                combination = " and ".join(f"{level}={selected!r}" for level, selected in wanted)
                raise UnknownIdentifier(f"no {dim} has {combination}, although each of these values occurs")
        positions = positions[chosen]
    return positions


def _holds_booleans(uniques: pd.Index) -> bool:
    return uniques.dtype == object and len(uniques) > 0 and all(isinstance(value, bool | np.bool_) for value in uniques)


def _codes_for(uniques: pd.Index, value: Any) -> list[int]:
    if is_missing(value):
        return [-1]
    try:
        position = uniques.get_loc(value)
    except (KeyError, TypeError, pd.errors.InvalidIndexError):
        return []
    # in an index of dates, a partial date such as a year can match several values
    return [position] if isinstance(position, int) else list(np.arange(len(uniques))[position])


def _in_order(codes: np.ndarray, codes_in_order: list[int]) -> np.ndarray:
    """Positions of the wanted codes: all positions of the first code, then those of the second, and so on."""
    if len(codes_in_order) == 1:
        return np.flatnonzero(codes == codes_in_order[0])
    order = np.argsort(codes, kind="stable")
    sorted_codes = codes[order]
    starts = np.searchsorted(sorted_codes, codes_in_order, side="left")
    ends = np.searchsorted(sorted_codes, codes_in_order, side="right")
    runs = [order[start:end] for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(runs) if runs else np.zeros(0, dtype=np.intp)


def _in_slice(name: Hashable, codes: np.ndarray, uniques: pd.Index, limits: slice) -> np.ndarray:
    inside = np.ones(len(uniques) + 1, dtype=bool)
    inside[-1] = (
        limits.start is None and limits.stop is None
    )  # missing values, whose code is −1, are not in any interval
    try:
        if limits.start is not None:
            inside[:-1] &= np.asarray(uniques >= limits.start)
        if limits.stop is not None:
            inside[:-1] &= np.asarray(uniques <= limits.stop)
    except TypeError as error:
        raise TypeError(
            f"level {name!r} cannot be sliced by {limits}: "
            f"its values ({format_values(uniques)}) cannot be compared with the ends of the slice"
        ) from error
    return np.flatnonzero(inside[codes])[:: limits.step]
