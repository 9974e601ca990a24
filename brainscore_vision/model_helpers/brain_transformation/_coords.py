"""Coordinates added to an assembly without looking at those that it has: layers have very many neuroids."""

from typing import Any, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from xarray.indexes import PandasMultiIndex

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

__all__ = ["with_dimension", "with_level"]

AssemblyT = TypeVar("AssemblyT", bound=DataAssembly)


def with_level(assembly: AssemblyT, dim: str, name: str, value: str) -> AssemblyT:
    """Add a coordinate of one value along a dimension."""
    known = assembly.xindexes.get(dim)
    if not isinstance(known, PandasMultiIndex) or name in known.index.names:
        return assembly.assign_coords({name: (dim, np.full(assembly.sizes[dim], value, dtype=object))})
    index: Any = known.index
    levels: dict[Any, Any] = dict(zip(index.names, zip(index.levels, index.codes, strict=True), strict=True))
    levels[name] = (pd.Index([value], dtype=object), np.zeros(len(index), dtype=np.intp))
    return with_dimension(assembly, assembly.values, dim, levels)


def with_dimension(
    assembly: AssemblyT, values: NDArray[Any], dim: str, levels: dict[str, tuple[Any, NDArray[np.intp]]]
) -> AssemblyT:
    """`values` with an assembly's coordinates, but those of one dimension; a new dimension is the last one.

    Parameters
    ----------
    assembly : DataAssembly
        What has the other coordinates.
    values : ndarray
        Measurements.
    dim : str
        The dimension.
    levels : dict
        Name → distinct values, and for each position the number of its value among them.
    """
    # the order in which assemblies keep their levels: otherwise they would sort all coordinates anew
    names = sorted(levels, key=lambda name: name.removesuffix("_end") + "_start_" if name.endswith("_end") else name)
    index: Any = pd.MultiIndex(
        levels=[levels[name][0] for name in names],
        codes=[levels[name][1] for name in names],  # type: ignore[misc]
        names=names,
        verify_integrity=False,
    )
    types: dict[Any, Any] = {name: np.asarray(levels[name][0]).dtype for name in names}
    wrapped = PandasMultiIndex(index, dim, types)
    variables = {name: column for name, column in assembly.coords.variables.items() if column.dims != (dim,)}
    indexes = {name: known for name, known in assembly.xindexes.items() if name in variables}
    coords = xr.Coordinates(
        variables | wrapped.create_variables(), indexes=indexes | dict.fromkeys([dim, *names], wrapped)
    )
    dims = assembly.dims if dim in assembly.dims else (*assembly.dims, dim)
    return type(assembly)(values, coords=coords, dims=dims, attrs=assembly.attrs)
