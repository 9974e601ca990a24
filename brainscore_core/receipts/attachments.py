"""The arrays that are kept beside a receipt: raw values, out-of-fold predictions, what units do to the score."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from brainscore_core.metrics import Score

__all__ = ["Arrays", "arrays_of", "write_attachment"]


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
        ``targets``; ``'influence'``: what each resampled unit does to the score before it was clamped, or to the raw
        score (``attrs['estimate']``). What the metric does not give is left out.
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
        influence = attrs.get("influence")
        if isinstance(influence, xr.DataArray) and np.size(level) == 1 and "influence" not in found:
            kept = _storable(influence)
            kept.attrs["estimate"] = float(attrs.get("unclamped", level))
            found["influence"] = Arrays(kept)
    return found, notes


def write_attachment(content: Arrays | str, path: Path) -> None:
    """Write arrays as netCDF, text as UTF-8."""
    if isinstance(content, str):
        path.write_bytes(content.encode("utf-8", "replace"))
        return
    from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf

    write_netcdf(content.main, path, extras=content.groups or None)


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
