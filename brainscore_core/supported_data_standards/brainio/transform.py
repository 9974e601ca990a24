"""Assemblies brought into correspondence with each other."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.supported_data_standards.brainio._levels import coords_for_dim, level_dims
from brainscore_core.supported_data_standards.brainio._select import listed, unknown_name

__all__ = ["subset"]


def subset(
    source: Any, target: Any, *, dims: Sequence[str] | None = None, dims_must_match: bool = True, repeat: bool = False
) -> Any:
    """Restrict one assembly to the coordinate values that another one has.

    Parameters
    ----------
    source : DataAssembly
        What is restricted.
    target : DataAssembly
        Whose values are wanted.
    dims : sequence of str, optional
        Dimensions, of which all levels common to both assemblies count, or levels; by default all dimensions of the
        target.
    dims_must_match : bool
        Whether it is an error if the source lacks one of ``dims``; otherwise that one is left out.
    repeat : bool
        False: entries of the source whose value in each level occurs in the target's, in the source's order. True:
        for every entry of the target the entries of the source that agree in all levels, in the target's order, as
        often as they stand there.

    Returns
    -------
    DataAssembly
        Of the source's class.

    Raises
    ------
    KeyError
        A dimension is missing.
    ValueError
        The two have no level in common.

    Notes
    -----
    Takes O(n log n) for n entries.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> source = DataAssembly([1, 2, 3], coords={"stimulus_id": ("trial", ["a", "b", "c"])}, dims=["trial"])
    >>> target = DataAssembly([0, 0, 0], coords={"stimulus_id": ("trial", ["c", "a", "a"])}, dims=["trial"])
    >>> subset(source, target).values
    array([1, 3])
    >>> subset(source, target, repeat=True).values
    array([3, 1, 1])
    """
    names = list(target.dims) if dims is None else [dims] if isinstance(dims, str) else list(dims)
    for name in names:
        wanted = _columns(target, name)
        if wanted is None:
            raise unknown_name(target, name, what="subset, target")
        have = _columns(source, name)
        if have is None:
            if dims_must_match:
                raise unknown_name(source, name, what="subset, source")
            continue
        common = [level for level in have if level in wanted]
        if not common:
            raise ValueError(
                f"along {name!r}, source and target have no level in common: the source has {listed(have)}, the "
                f"target {listed(wanted)}"
            )
        dim = name if name in source.dims else level_dims(source)[name]
        if repeat:
            positions = _each(have, wanted, common)
        else:
            inside = [pd.Index(have[level], tupleize_cols=False).isin(pd.unique(wanted[level])) for level in common]
            positions = np.flatnonzero(np.logical_and.reduce(inside))
        source = source.isel({dim: positions})
    return source


def _columns(array: xr.DataArray, name: Hashable) -> dict[Hashable, np.ndarray] | None:
    """Values of the levels that ``name`` stands for; None where it is unknown."""
    if name in array.dims:
        return {level: variable.values for level, variable in coords_for_dim(array, name).items()}
    if name in level_dims(array):
        return {name: array.coords.variables[name].values}
    return None


def _each(
    have: dict[Hashable, np.ndarray], wanted: dict[Hashable, np.ndarray], levels: Sequence[Hashable]
) -> np.ndarray:
    """Positions of the source that agree with each entry of the target, one after the other."""
    size = len(have[levels[0]])
    codes = np.zeros(size + len(wanted[levels[0]]), dtype=np.int64)
    for level in levels:
        both = np.concatenate([np.asarray(have[level], dtype=object), np.asarray(wanted[level], dtype=object)])
        found, values = pd.factorize(pd.Index(both, tupleize_cols=False), use_na_sentinel=True)
        codes = pd.factorize(codes * (len(values) + 1) + found + 1)[0].astype(np.int64)
    ours, theirs = codes[:size], codes[size:]
    order = np.argsort(ours, kind="stable")
    starts = np.searchsorted(ours[order], theirs, side="left")
    counts = np.searchsorted(ours[order], theirs, side="right") - starts
    ends = np.cumsum(counts)
    offsets = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    return order[np.repeat(starts, counts) + offsets]
