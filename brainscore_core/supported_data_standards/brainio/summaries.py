"""Summaries of assemblies and stimulus sets, whose cost has a bound whatever their size."""

from __future__ import annotations

import base64
import io
import mmap
from collections.abc import Hashable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.formatting import first_few, number_text, printable, size_text
from brainscore_core.supported_data_standards.brainio.images import ImageError, load_image, open_image
from brainscore_core.supported_data_standards.brainio.levels import level_codes, level_dims

_MOST_COUNTED = 20_000_000  # values among which missing ones are counted
_LONGEST_DIMENSION = 2_000_000  # along which distinct values are counted
_PREVIEWS = 12
_PREVIEW_SIZE = 96  # pixels
_LARGEST_FILE = 20_000_000  # bytes
_LARGEST_IMAGE = 50_000_000  # pixels


def assembly_rows(array: xr.DataArray) -> list[tuple[str, str]]:
    """Names and texts of regions, stimuli, repetitions, subjects, time bins and missing values.

    Values that are in a file are not read, and those of large arrays are not counted.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly([[1.0, np.nan]], dims=["presentation", "neuroid"], coords={
    ...     "stimulus_id": ("presentation", ["a"]), "region": ("neuroid", ["V4", "IT"])})
    >>> assembly_rows(assembly)
    [('stimuli', '1'), ('regions', 'V4 (1), IT (1)'), ('missing values', '1 of 2 (50.0 %)')]
    """
    dims = level_dims(array)
    rows: list[tuple[str, str]] = []
    for stimulus in ("stimulus_id", "image_id"):
        if stimulus in dims:
            counts = _counts(array, stimulus, dims)
            if counts is None:
                rows.append(("stimuli", f"not counted ({array.sizes[dims[stimulus]]} presentations)"))
            else:
                rows.append(("stimuli", str(len(counts))))
                if "repetition" not in dims and len(counts) and max(counts.values()) > 1:
                    rows.append(("presentations", f"{_range(counts.values())} of each stimulus"))
            break
    if "repetition" in dims and (counts := _counts(array, "repetition", dims)) is not None:
        rows.append(("repetitions", str(len(counts))))
    for names, title in (
        (("region",), "regions"),
        (("subject", "subject_id", "animal"), "subjects"),
        (("model",), "models"),
        (("layer",), "layers"),
        (("choice",), "choices"),
    ):
        for name in names:
            if name in dims and (counts := _counts(array, name, dims)) is not None and counts:
                rows.append((title, _listed(counts)))
                break
    if (bins := _time_bins(array, dims)) is not None:
        rows.append(("time bins", bins))
    return [*rows, ("missing values", _missing(array))] if rows else []


def stimulus_previews(stimuli: Any) -> str:
    """Small pictures of the first stimuli, as HTML.

    Files that are missing, large or not images are named instead.
    """
    if "stimulus_id" not in stimuli.columns or not stimuli.stimulus_paths:
        return ""
    names = list(dict.fromkeys(stimuli["stimulus_id"].iloc[: 10 * _PREVIEWS].tolist()))[:_PREVIEWS]
    cells = "".join(_preview(name, stimuli.stimulus_paths.get(name)) for name in names)
    shown = f"first {len(names)} of {len(stimuli)} rows" if len(stimuli) > len(names) else ""
    return f'<div style="display: flex; flex-wrap: wrap; gap: 6px">{cells}</div><div style="opacity: .7">{shown}</div>'


def _counts(array: xr.DataArray, name: Hashable, dims: dict[Hashable, Hashable]) -> dict[Any, int] | None:
    """Number of positions with each value of a level; None if there are too many positions."""
    if array.sizes[dims[name]] > _LONGEST_DIMENSION:
        return None
    codes, values = level_codes(array, name)
    counts = pd.Series(codes[codes >= 0]).value_counts(sort=False)  # in the order in which they occur
    return dict(zip(values[counts.index], counts.tolist(), strict=True))


def _listed(counts: dict[Any, int]) -> str:
    if len(counts) > 8:
        return f"{len(counts)}: {first_few(counts, most=4)}"
    return ", ".join(f"{name} ({count})" for name, count in counts.items())


def _range(counts: Any) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low}–{high}"


def _time_bins(array: xr.DataArray, dims: dict[Hashable, Hashable]) -> str | None:
    starts, ends = "time_bin_start", "time_bin_end"
    if any(array.coords[name].ndim > 1 for name in (starts, ends) if name in array.coords):
        return None
    if starts not in array.coords or ends not in array.coords or array.coords[starts].size > _LONGEST_DIMENSION:
        return None
    first, last = (np.ravel(array.coords[name].values) for name in (starts, ends))
    if not len(first) or first.dtype.kind not in "iuf" or last.dtype.kind not in "iuf":
        return None
    limits = f"{number_text(float(first.min()), 0)} to {number_text(float(last.max()), 0)} ms"
    return limits if len(first) == 1 else f"{len(first)}, {limits}"


def _missing(array: xr.DataArray) -> str:
    if not array.variable._in_memory or _is_mapped(array.values):  # noqa: SLF001 -- nothing public tells it
        return f"not counted (values are in a file, {size_text(array.nbytes)})"
    limit = _MOST_COUNTED if array.dtype.kind != "O" else _MOST_COUNTED // 20
    if array.size > limit:
        return f"not counted ({size_text(array.nbytes)})"
    if array.dtype.kind not in "fcmMO":
        return "none"
    number = int(pd.isna(array.values).sum())
    return f"{number} of {array.size} ({100 * number / array.size:.1f} %)" if number else "none"


def _is_mapped(values: Any) -> bool:
    """Whether values of an array are read from a file when they are used."""
    while isinstance(values, np.ndarray):
        if isinstance(values, np.memmap):
            return True
        values = values.base
    return isinstance(values, mmap.mmap)


def _preview(name: Any, path: str | Path | None) -> str:
    style = f"width: {_PREVIEW_SIZE}px; font-size: 11px; overflow-wrap: anywhere"
    label = escape(printable(str(name)))
    return f'<figure style="margin: 0; {style}">{_picture(path)}<figcaption>{label}</figcaption></figure>'


def _picture(path: str | Path | None) -> str:
    """A small copy of an image, or the reason why it is not shown, as HTML."""
    path = None if path is None else Path(path)
    try:
        if path is None or not path.is_file():
            return "<em>no file</em>" if path is None else "<em>file missing</em>"
        if path.stat().st_size > _LARGEST_FILE:
            return f"<em>not shown ({size_text(path.stat().st_size)})</em>"
        with open_image(path) as image:
            width, height = image.size
        if width * height > _LARGEST_IMAGE:
            return f"<em>not shown ({width} × {height} pixels)</em>"
        small = load_image(path)
        small.thumbnail((_PREVIEW_SIZE, _PREVIEW_SIZE))
    except (OSError, ValueError, ImageError):  # a ValueError for names that are not valid
        kind = printable(path.suffix) if path is not None and path.suffix else "no image"
        return f"<em>cannot be shown ({escape(kind)})</em>"
    stream = io.BytesIO()
    small.save(stream, "PNG")
    data = base64.b64encode(stream.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="" style="max-width: 100%">'
