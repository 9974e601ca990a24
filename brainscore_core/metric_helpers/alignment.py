"""Alignment of the rows of two assemblies."""

from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError, spelling_hint
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.levels import group_codes

PUBLISHED_ORDER = "published_order"
"""Coordinate with the positions of presentations whose published order is not that of their coordinates."""

_SHOWN = 3

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A", bound=xr.DataArray)


class MetricInputError(UserError, ValueError):
    """Assemblies that a metric or ceiling cannot compare; the message names the part and the remedy."""


def also_named(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function to accept keyword arguments under their names in brain-score 2.x, too.

    `names` map the other name to the name of the parameter.

    Examples
    --------
    >>> @also_named(assembly1="source")
    ... def double(source):
    ...     return 2 * source
    >>> double(assembly1=4)
    8
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            renamed: Any = {names.get(name, name): value for name, value in kwargs.items()}
            if len(renamed) < len(kwargs):
                raise TypeError(f"{function.__qualname__} was given an argument under two names: {listed(kwargs)}")
            return function(*args, **renamed)

        return call

    return decorate


def coord_values(assembly: xr.DataArray, coord: str, *, role: str, dim: str = "presentation") -> NDArray[Any]:
    """Values of a coordinate along `dim`.

    Raises
    ------
    MetricInputError
        If the coordinate is missing; `role` names the assembly in the message.
    """
    if coord not in assembly.coords:
        present = ", ".join(sorted(str(name) for name in assembly.coords if name not in assembly.dims)) or "none"
        raise MetricInputError(
            f"the {role} has no coordinate {coord!r}; its coordinates: {present}",
            remedy=f"add it along {dim!r}, such as coords={{{coord!r}: ({dim!r}, values)}}",
        )
    if assembly[coord].dims != (dim,):
        raise MetricInputError(
            f"coordinate {coord!r} of the {role} lies along {assembly[coord].dims}, not along ({dim!r},)",
            remedy=f"make {coord!r} a coordinate of {dim!r}",
        )
    return np.asarray(assembly[coord].values)


def listed(values: Iterable[Any]) -> str:
    """The first three values, for messages."""
    values = list(values)
    shown = ", ".join(repr(value.item() if isinstance(value, np.generic) else value) for value in values[:_SHOWN])
    return shown + (", …" if len(values) > _SHOWN else "")


def match_rows(
    source: DataAssembly,
    target: DataAssembly,
    coord: str = "stimulus_id",
    *,
    roles: tuple[str, str] = ("source", "target"),
) -> NDArray[np.intp]:
    """Rows of `source` in the order of `target`, matched by a coordinate whose values are unique.

    Parameters
    ----------
    source, target : DataAssembly
        With a ``presentation`` dimension.
    coord : str
        Coordinate to match by.
    roles : (str, str)
        Names of the two in messages.

    Returns
    -------
    array of int
        ``source.isel(presentation=rows)`` is in the target's order.

    Raises
    ------
    MetricInputError
        If the coordinate is missing, repeats a value, or holds different values in the two; names the first ones.
    """
    sides = zip((source, target), roles, strict=True)
    first, second = (coord_values(assembly, coord, role=role) for assembly, role in sides)
    if np.array_equal(first, second) and len(set(first.tolist())) == len(first):
        return np.arange(len(first))
    pair = [pd.Index(values) for values in (first, second)]
    for index, role in zip(pair, roles, strict=True):
        if not index.is_unique:
            repeated = index[index.duplicated()].unique()
            raise MetricInputError(
                f"{listed(repeated)} of {coord!r} occurs more than once in the {role}",
                remedy="average over repetitions first, for example with assembly.mean(dim='repetition') or "
                "average_repetition(assembly)",
            )
    require_same(
        *pair,
        roles=roles,
        what=f"values of {coord!r}",
        remedy=f"show the model the {roles[1]}'s stimuli, or select the common stimuli, for example "
        f"{roles[0]}.sel({coord}={roles[1]}[{coord!r}].values)",
    )
    return np.asarray(pair[0].get_indexer(pair[1]), dtype=np.intp)


def require_same(
    source: ArrayLike, target: ArrayLike, *, roles: tuple[str, str] = ("source", "target"), what: str, remedy: str
) -> None:
    """Raise an error unless two sides hold the same values, in any order and number.

    The MetricInputError names the first values that only one side has; `remedy` says what to do if the two do not
    merely differ in spelling.

    Examples
    --------
    >>> require_same(["a", "b"], ["B", "a"], what="stimuli", remedy="show the model the same stimuli")
    Traceback (most recent call last):
        ...
    brainscore_core.metric_helpers.alignment.MetricInputError: source and target hold different stimuli: 1 only in \
the target ('B'), 1 only in the source ('b')
    'b' and 'B' differ in capitals
    """
    ours, theirs = (pd.Index(np.asarray(side)).unique() for side in (source, target))
    missing, surplus = theirs.difference(ours, sort=False), ours.difference(theirs, sort=False)
    if not len(missing) and not len(surplus):
        return
    differing = [
        f"{len(values)} only in the {role} ({listed(values)})"
        for role, values in ((roles[1], missing), (roles[0], surplus))
        if len(values)
    ]
    raise MetricInputError(
        f"{roles[0]} and {roles[1]} hold different {what}: {', '.join(differing)}",
        remedy=spelling_hint(surplus, missing) or remedy,
    )


def canonical_rows(assembly: DataAssembly) -> NDArray[np.intp]:
    """Rows of the presentations in their canonical order, whatever order they are in.

    Random splits of presentations are splits of this order: the same presentations have the same splits.

    ``assembly.isel(presentation=rows)`` is sorted by the coordinate ``published_order``, if the assembly has it, then
    by all coordinates of ``presentation``, in the order in which they were defined. Averages over repetitions are in
    the latter order.

    Examples
    --------
    >>> coords = {"stimulus_id": ("presentation", ["c", "a", "b"])}
    >>> assembly = DataAssembly([3.0, 1.0, 2.0], coords=coords, dims=["presentation"])
    >>> canonical_rows(assembly).tolist()
    [1, 2, 0]
    """
    names = sorted(coords_for_dim(assembly, "presentation"), key=lambda name: name != PUBLISHED_ORDER)
    codes, _ = group_codes(assembly, names, assembly.sizes["presentation"])
    return np.asarray(np.argsort(codes, kind="stable"), dtype=np.intp)


def as_table(assembly: A, dims: tuple[str, ...], *, role: str) -> A:
    """`assembly` with exactly `dims`, in this order; other dimensions of length 1 are dropped.

    Raises
    ------
    MetricInputError
        If it is not an assembly, a dimension is missing, or another dimension has several entries.
    """
    if not isinstance(assembly, xr.DataArray):
        raise MetricInputError(
            f"the {role} is a {type(assembly).__name__}, not an assembly", remedy="pass a DataAssembly with coordinates"
        )
    missing = [dim for dim in dims if dim not in assembly.dims]
    surplus: list[Hashable] = [dim for dim in assembly.dims if dim not in dims]
    longer = [dim for dim in surplus if assembly.sizes[dim] != 1]
    if missing or longer:
        raise MetricInputError(
            f"the {role} has the dimensions {_sizes(assembly)}; {' × '.join(dims)} are needed",
            remedy=(
                f"select one entry of {longer[0]!r}, such as assembly.isel({longer[0]}=0), or average over it"
                if longer
                else f"build the assembly with the dimension {missing[0]!r}"
            ),
        )
    if surplus:
        assembly = assembly.isel(dict.fromkeys(surplus, 0), drop=True)
    return assembly if assembly.dims == dims else assembly.transpose(*dims)


def finite_values(assembly: DataAssembly, *, role: str, label: str = "neuroid_id") -> NDArray[Any]:
    """Values of a presentation × neuroid assembly.

    Raises
    ------
    MetricInputError
        If values are missing, infinite or no numbers; names the first neuroid.
    """
    values = np.asarray(assembly.values)
    if values.dtype.kind not in "fiub":
        raise MetricInputError(
            f"the {role} holds values of type {values.dtype}; numbers are needed", remedy="pass neural recordings"
        )
    if values.size == 0:
        raise MetricInputError(f"the {role} is empty: {_sizes(assembly)}", remedy="check the selection before it")
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64)
    if np.isfinite(total) or np.isfinite(values).all():
        return values
    bad = ~np.isfinite(values)
    columns, rows = np.flatnonzero(bad.any(axis=0)), np.flatnonzero(bad.any(axis=1))
    name = _name(assembly, label, columns[0])
    stimulus = _name(assembly, "stimulus_id", rows[0])
    raise MetricInputError(
        f"the {role} holds NaN or infinity: {bad.sum()} values in {len(columns)} of {values.shape[1]} neuroids, the "
        f"first in neuroid {name}; in {len(rows)} of {len(values)} presentations, the first stimulus {stimulus}",
        remedy="leave out missing measurements, for example with assembly.dropna('neuroid')",
    )


def _name(assembly: DataAssembly, coord: str, position: int) -> str:
    return listed([assembly[coord].values[position]]) if coord in assembly.coords else f"number {position}"


def _sizes(assembly: xr.DataArray) -> str:
    return ", ".join(f"{dim}: {size}" for dim, size in assembly.sizes.items()) or "none"
