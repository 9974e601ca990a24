"""The arrays that are kept beside a receipt: raw values and out-of-fold predictions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from brainscore_core.metrics import Score

__all__ = ["Arrays", "arrays_of", "write_arrays"]


@dataclass(frozen=True)
class Arrays:
    """What goes into one netCDF file: an array, and further ones as groups."""

    main: xr.DataArray
    groups: dict[str, xr.DataArray] = field(default_factory=dict)


def arrays_of(score: Score) -> tuple[dict[str, Arrays], list[str]]:
    """Find what is worth keeping in a score, and in the raw scores inside it.

    Returns
    -------
    dict
        ``'raw'``: the values before aggregation; ``'predictions'``: out-of-fold predictions, with the group
        ``targets``. What the metric does not give is left out.
    list of str
        What is there but cannot be stored, and why.
    """
    found: dict[str, Arrays] = {}
    notes: list[str] = []
    for level in _levels(score):
        if level is not score and np.ndim(level) > 0 and "raw" not in found:
            if isinstance(level, xr.DataArray):
                found["raw"] = Arrays(_storable(level))
            else:
                notes.append(f"raw values were not stored: a {type(level).__name__} is no assembly")
        attrs = getattr(level, "attrs", {})
        if "predictions" in attrs and "predictions" not in found:
            predictions, targets = attrs["predictions"], attrs.get("targets")
            if isinstance(predictions, xr.DataArray):
                groups = {"targets": _storable(targets)} if isinstance(targets, xr.DataArray) else {}
                found["predictions"] = Arrays(_storable(predictions), groups)
            else:
                notes.append(f"predictions were not stored: a {type(predictions).__name__} is no assembly")
    return found, notes


def write_arrays(arrays: Arrays, path: Path) -> None:
    """Write one attachment."""
    from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf

    write_netcdf(arrays.main, path, extras=arrays.groups or None)


def _levels(score: Any) -> Iterator[Any]:
    seen: set[int] = set()
    while score is not None and id(score) not in seen:
        seen.add(id(score))
        yield score
        score = getattr(score, "attrs", {}).get("raw")


def _storable(array: xr.DataArray) -> xr.DataArray:
    """Drop attributes that a file cannot hold (scores inside scores, intervals, objects)."""
    array = array.copy(deep=False)
    array.attrs = {
        str(key): value
        for key, value in array.attrs.items()
        if isinstance(value, str | int | float | np.integer | np.floating) and not isinstance(value, bool)
    }
    return array
