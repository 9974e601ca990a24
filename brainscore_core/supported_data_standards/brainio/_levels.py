"""Coordinates of assemblies: every coordinate of a dimension is a level of that dimension's index.

A *level* is any one-dimensional coordinate. The coordinate that holds the tuples of a MultiIndex is no level.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex, PandasMultiIndex

__all__ = [
    "Gathered",
    "assembled",
    "codes_of",
    "coords_for_dim",
    "gather",
    "gathered_of",
    "get_levels",
    "get_metadata",
    "group_codes",
    "holds_tuples",
    "is_canonical",
    "is_missing",
    "level_dims",
    "named_coords",
    "normalise_coords",
    "ordered",
    "walk_coords",
]


Array = TypeVar("Array", bound=xr.DataArray)


_STIMULUS_IDS = ("stimulus_id", "image_id")
_ENDS = re.compile(r"_(start|end)\b")


class Gathered(NamedTuple):
    """Coordinate variables and indexes, ready to be put into an array."""

    variables: dict[Hashable, xr.Variable]
    indexes: dict[Hashable, Any]


def holds_tuples(array: xr.DataArray, name: Hashable) -> bool:
    """Whether the coordinate ``name`` is the one that holds the tuples of a MultiIndex."""
    if name in array.dims:
        return isinstance(array.xindexes.get(name), PandasMultiIndex)
    # what is left of such a coordinate after an integer index took its dimension away
    variable = array.coords.variables[name]
    return variable.ndim == 0 and variable.dtype == object and isinstance(variable.values.item(), tuple)


def named_coords(array: xr.DataArray) -> dict[Hashable, xr.Variable]:
    """Every coordinate except those that hold tuples of other coordinates."""
    return {name: variable for name, variable in array.coords.variables.items() if not holds_tuples(array, name)}


def level_dims(array: xr.DataArray) -> dict[Hashable, Hashable]:
    """Map each level to its dimension."""
    return {name: variable.dims[0] for name, variable in named_coords(array).items() if variable.ndim == 1}


def walk_coords(assembly: xr.DataArray) -> Iterator[tuple[Any, tuple[Any, ...], np.ndarray]]:
    """Walk over all coordinates, levels of indexes included.

    Parameters
    ----------
    assembly : DataArray
        What to walk over.

    Yields
    ------
    name : str
        Name of the coordinate.
    dims : tuple of str
        Its dimensions; empty for a scalar coordinate.
    values : array
        Its values.

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
    """Names of all levels: the one-dimensional coordinates, of whatever dimension.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> get_levels(DataAssembly([1, 2], coords={"stimulus_id": ("presentation", ["a", "b"])}, dims=["presentation"]))
    ['stimulus_id']
    """
    return list(level_dims(assembly))


def coords_for_dim(assembly: xr.DataArray, dim: Hashable) -> dict[Any, xr.Variable]:
    """Coordinates along one dimension.

    Parameters
    ----------
    assembly : DataArray
        What holds the coordinates.
    dim : str
        Name of the dimension.

    Returns
    -------
    dict
        Name → variable (with ``dims`` and ``values``), in the assembly's order.
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
    """Walk over coordinates, chosen by dimension and by kind.

    Parameters
    ----------
    assembly : DataArray
        What holds the coordinates.
    dims : sequence of str or None, optional
        Only coordinates along these dimensions; a None among them stands for coordinates along none or several.
        By default all.
    names_only : bool
        Yield names instead of ``(name, dims, values)``.
    include_coords : bool
        Whether to yield coordinates that belong to no index.
    include_indexes : bool
        Whether to yield coordinates that are the index of their dimension by themselves.
    include_levels : bool
        Whether to yield levels of indexes made of several coordinates.

    Yields
    ------
    str or tuple
        Name, or name, dims and values.
    """
    wanted = (*assembly.dims, None) if dims is None else tuple(dims)
    indexes = assembly.xindexes
    for dim in wanted:
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
    """Turn coordinates as callers write them into what xarray takes without guessing.

    A MultiIndex is replaced by its levels; an array with coordinates of its own by dims and values.
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
    """Values as NumPy holds them; strings as Python objects, of any length."""
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
    return values.astype(np.float32) if values.dtype == np.float16 else values  # pandas indexes know no float16


def ordered(names: Iterable[Hashable]) -> list[Hashable]:
    """Levels as they stand in an index: by name, but a start before its end, so that time bins are (start, end).

    One order for all lets assemblies with the same coordinates be compared, added and concatenated, whatever the
    order in which their coordinates were written down.
    """
    return sorted(names, key=lambda name: (_ENDS.sub(lambda end: f"_{'se'.index(end[1][0])}", str(name)), str(name)))


def gather(coords: Mapping[Hashable, Any], dims: Sequence[Hashable]) -> Gathered:
    """Make every one-dimensional coordinate a level of its dimension's index.

    Inside an index, levels are ordered by name, see :func:`ordered`.

    Parameters
    ----------
    coords : mapping of name to Variable
        All coordinates, none of which holds tuples.
    dims : sequence of str
        Dimensions of the array.
    """
    variables: dict[Hashable, xr.Variable] = {}
    indexes: dict[Hashable, Any] = {}
    along: dict[Hashable, list[Hashable]] = {dim: [] for dim in dims}
    for name, variable in coords.items():
        if variable.ndim == 1:
            variable = xr.Variable(variable.dims, _values(variable), variable.attrs)
            along[variable.dims[0]].append(name)
        variables[name] = variable
    for dim, names in along.items():
        if not names:
            continue
        if dim in names:
            # xarray knows no level that is called like its dimension: that coordinate is the index, others stay beside
            index: Any = PandasIndex(_pandas_index(dim, variables[dim]), dim)
            made = index.create_variables({dim: variables[dim]})
        else:
            # the type must be told: without it, True and a missing value would both come back as True
            types = {name: variables[name].dtype for name in ordered(names)}
            index = PandasMultiIndex(_multi_index(names, variables), dim, types)
            made = index.create_variables({name: variables[name] for name in names})
        for name, variable in made.items():
            variables[name] = variable
            indexes[name] = index
    # the coordinate with the tuples stands before its levels, as xarray shows it
    tuples_first = {name: variables[name] for name in variables if name in dims and name not in coords}
    return Gathered(tuples_first | variables, indexes)


def _pandas_index(name: Hashable, variable: xr.Variable) -> pd.Index:
    return pd.Index(variable.values, name=name, tupleize_cols=False)


def _multi_index(names: Sequence[Hashable], variables: Mapping[Hashable, xr.Variable]) -> pd.MultiIndex:
    names = ordered(names)
    try:
        return pd.MultiIndex.from_arrays([variables[name].values for name in names], names=names)
    except TypeError as error:
        for name in names:
            for value in variables[name].values:
                if not isinstance(value, Hashable):
                    raise TypeError(
                        f"coordinate {name!r} holds a {type(value).__name__} ({value!r}): its values must be single "
                        f"values, such as strings or numbers"
                    ) from error
        raise


def gathered_of(array: xr.DataArray) -> Gathered:
    """Coordinates of an array, every one a level."""
    if is_canonical(array):
        return Gathered(dict(array.coords.variables), dict(array.xindexes))
    return gather(named_coords(array), array.dims)


def assembled(cls: type[Array], variable: xr.Variable, gathered: Gathered, name: Hashable | None) -> Array:
    """Array of class ``cls``, unchecked: a part or a reduction need not have the class's dimensions."""
    return cls(variable, coords=gathered.variables, name=name, indexes=gathered.indexes, fastpath=True)


def is_canonical(array: xr.DataArray) -> bool:
    """Whether every level stands in its dimension's index, in their order."""
    indexes = array.xindexes
    for dim in array.dims:
        names = list(coords_for_dim(array, dim))
        if not names or dim in names:
            continue
        index = indexes.get(dim)
        if not isinstance(index, PandasMultiIndex) or list(index.index.names) != ordered(names):
            return False
    return True


def codes_of(array: xr.DataArray, name: Hashable) -> tuple[np.ndarray, pd.Index]:
    """Level as integers: positions in an index of its distinct values, −1 for missing ones.

    The index may hold values that do not occur.
    """
    index = array.xindexes.get(name)
    if isinstance(index, PandasMultiIndex):
        number = index.index.names.index(name)
        return np.asarray(index.index.codes[number], dtype=np.intp), index.index.levels[number]
    codes, values = pd.factorize(pd.Index(array.coords.variables[name].values, tupleize_cols=False))
    return codes, values


def group_codes(array: xr.DataArray, names: Sequence[Hashable], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Number the groups that agree in all the given levels, sorted by these levels, the first the most important.

    Missing values agree with each other, and come last. In a level that holds both, numbers come before text. Ids of
    stimuli that are whole numbers, written as text, are sorted as numbers.

    Returns
    -------
    codes : array of int, of length ``size``
        Group of each position.
    first : array of int
        Position of each group's first member.
    """
    combined = np.zeros(size, dtype=np.int64)
    for name in names:
        codes, values = codes_of(array, name)
        ranks = _ranks(_numbers_of(values) if name in _STIMULUS_IDS else values)
        ranks = np.append(ranks, len(values))  # the last is that of missing values, whose code is -1
        combined = combined * (len(values) + 1) + ranks[codes]
        # number the groups anew, lest the product of the numbers of values overflows
        combined = np.unique(combined, return_inverse=True)[1]
    _, first = np.unique(combined, return_index=True)
    return combined, first


def _numbers_of(values: pd.Index) -> pd.Index:
    """Return whole numbers that are written as text, without leading zeros, as numbers; other values as they are."""
    try:
        numbers = pd.Index([int(value) for value in values])
    except (TypeError, ValueError):
        return values
    return numbers if all(str(number) == value for number, value in zip(numbers, values, strict=True)) else values


def _ranks(values: pd.Index) -> np.ndarray:
    """Rank of each of several distinct values."""
    if values.is_monotonic_increasing:
        return np.arange(len(values))
    try:
        order = values.argsort()
    except TypeError:  # values of several types cannot be compared with each other
        order = np.array(sorted(range(len(values)), key=lambda i: _sort_key(values[i])), dtype=np.intp)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    return ranks


def _sort_key(value: Any) -> tuple[int, Any]:
    """Key by which values of different types sort: numbers, text, anything else."""
    if isinstance(value, int | float | np.number | np.bool_):
        return 0, float(value)
    return (1, value) if isinstance(value, str) else (2, repr(value))


def is_missing(value: Any) -> bool:
    """Whether a single value is None, NaN or NaT."""
    return bool(np.ndim(value) == 0 and pd.isna(value))
