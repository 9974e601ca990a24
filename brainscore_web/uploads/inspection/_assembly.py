"""Assemblies: how large they become is known before they are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from brainscore_web.uploads.inspection._report import Found, error

__all__ = ["check_header", "check_names"]

_MAGIC = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05")


def check_header(path: Path, name: str, limits: dict[str, int]) -> list[Found]:
    """Check that it is a netCDF file and fits into memory, without reading values."""
    with path.open("rb") as stream:
        start = stream.read(8)
    if not start.startswith(_MAGIC):
        return [error(name, "no netCDF file", "it begins like none", "save it with `brainscore package assembly`")]
    import netCDF4

    try:
        with netCDF4.Dataset(path) as dataset:
            size = _unpacked(dataset)
    except (OSError, RuntimeError, ValueError, IndexError, AttributeError) as problem:
        return [error(name, "unreadable assembly", str(problem), "package it again")]
    allowed = min(limits["unpacked"], limits["memory"] // 3)
    if size > allowed:
        what = f"its values need {size / 1e6:,.0f} MB in memory; {allowed / 1e6:,.0f} MB are allowed"
        return [error(name, "assembly too large", what, "divide the data set into subsets, or store float32")]
    return []


def check_names(attrs: dict[str, Any], name: str, *, identifier: str, assembly_identifier: str) -> list[Found]:
    """Check that the file is of what it is uploaded as."""
    found = []
    for key, wanted, what in (
        ("identifier", assembly_identifier, "assembly"),
        ("stimulus_set_identifier", identifier, "stimulus set"),
    ):
        said = attrs.get(key)
        if said is not None and said != wanted:
            remedy = f"give {said!r} as the name of the {what}, or package the assembly under that name"
            found.append(error(name, f"another {what}", f"the file says {said!r}, the upload {wanted!r}", remedy))
    return found


def _unpacked(group: Any) -> int:
    own = 0
    for variable in group.variables.values():
        item = 64 if variable.dtype is str else getattr(variable.dtype, "itemsize", 8)
        own += math.prod(variable.shape) * item
    return own + sum(_unpacked(inner) for inner in group.groups.values())
