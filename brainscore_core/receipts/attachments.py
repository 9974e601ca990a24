"""Arrays stored beside a receipt: raw values, out-of-fold predictions, influence of units on the score."""

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
    """Content of one netCDF file: an array, and further ones as groups."""

    main: xr.DataArray
    groups: dict[str, xr.DataArray] = field(default_factory=dict)


def arrays_of(score: Score) -> tuple[dict[str, Arrays], list[str]]:
    """Collect the arrays to store from a score, and from the raw scores inside it.

    Returns
    -------
    dict
        ``'raw'``: the values before aggregation; ``'predictions'``: out-of-fold predictions, with the group
        ``targets``; ``'influence'``: influence of each resampled unit on the score before it was clamped, or on the raw
        score (``attrs['estimate']``), with the group ``further`` if other units vary as well (``attrs['further']`` is
        then 1). Only what the metric provides.
    list of str
        Notes on arrays that cannot be stored.
    """
    arrays: dict[str, Arrays] = {}
    notes: list[str] = []
    for level in _levels(score):
        if level is not score and np.ndim(level) > 0 and "raw" not in arrays:
            if isinstance(level, xr.DataArray):
                arrays["raw"] = Arrays(_storable(level))
            else:
                notes.append(f"raw values were not stored: a {type(level).__name__} is not an assembly")
        attrs = getattr(level, "attrs", {})
        if "predictions" in attrs and "predictions" not in arrays:
            predictions, targets = attrs["predictions"], attrs.get("targets")
            if isinstance(predictions, xr.DataArray):
                groups = {"targets": _storable(targets)} if isinstance(targets, xr.DataArray) else {}
                arrays["predictions"] = Arrays(_storable(predictions), groups)
            else:
                notes.append(f"predictions were not stored: a {type(predictions).__name__} is not an assembly")
        influence = attrs.get("influence")
        if isinstance(influence, xr.DataArray) and np.size(level) == 1 and "influence" not in arrays:
            kept = _storable(influence)
            kept.attrs["estimate"] = float(attrs.get("unclamped", level))
            further = attrs.get("further_influence")
            groups = {"further": _storable(further)} if isinstance(further, xr.DataArray) else {}
            if groups:
                kept.attrs["further"] = 1
            arrays["influence"] = Arrays(kept, groups)
    return arrays, notes


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
    """Drop attributes that a file cannot store (scores inside scores, intervals, objects)."""
    array = array.copy(deep=False)
    array.attrs = {
        str(key): value
        for key, value in array.attrs.items()
        if isinstance(value, str | int | float | np.integer | np.floating) and not isinstance(value, bool)
    }
    return array
