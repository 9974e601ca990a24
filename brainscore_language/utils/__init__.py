"""Helpers of published plugins."""

from typing import Any

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, walk_coords

__all__ = ["attach_presentation_meta", "fullname"]


def fullname(obj: Any) -> str:
    """Module and name of an object's class, joined by a point."""
    return f"{obj.__module__}.{type(obj).__name__}"


def attach_presentation_meta(assembly: DataAssembly, meta: DataAssembly) -> DataAssembly:
    """Copy the coordinates of the presentations of `meta` to `assembly`, which must be as long; changed in place."""
    for coord, dims, values in walk_coords(meta):
        if tuple(dims) == ("presentation",):
            assembly[coord] = ("presentation", values)
    return assembly
