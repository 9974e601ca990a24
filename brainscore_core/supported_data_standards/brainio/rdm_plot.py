"""Figures of the dissimilarities of stimuli."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import rankdata

from brainscore_core.errors import UserError
from brainscore_core.figures import Matrix, MatrixGroup, Panel, Plot, panels
from brainscore_core.numerics.dissimilarity import expanded, rdm
from brainscore_core.supported_data_standards.brainio.levels import level_codes, level_dims

_ORDER = ("object_name", "category_name")


def rdm_plot(array: xr.DataArray, *, most: int = 200) -> Plot:
    """Draw the dissimilarities of stimuli; see :meth:`DataAssembly.plot_rdm`."""
    name = str(array.attrs.get("identifier") or array.name or type(array).__name__)
    return Plot(panels([[rdm_panel(array, most=most)]], title=f"Dissimilarities of stimuli: {name}"), name)


def rdm_panel(array: xr.DataArray, *, most: int) -> Panel:
    """Draw the dissimilarities of stimuli, as a part of a figure."""
    name = next((name for name in ("stimulus_id", "image_id") if level_dims(array).get(name) == "presentation"), None)
    if name is None or "neuroid" not in array.dims or array.dtype.kind not in "fiub":
        raise UserError(
            f"this {type(array).__name__} ({', '.join(map(str, array.dims))}) has no responses of neuroids to stimuli",
            remedy="use an assembly with the dimensions presentation and neuroid, and a coordinate stimulus_id",
        )
    codes, ids = level_codes(array, name)
    labels = _labels(array)
    first = {int(code): index for index, code in reversed(list(enumerate(codes))) if code >= 0}
    stimuli = sorted(first, key=lambda code: (str(labels[first[code]]) if labels is not None else "", first[code]))
    if len(stimuli) < 3 or most < 3:
        raise UserError(f"{min(len(stimuli), most)} stimuli are too few to compare", remedy="use at least 3")
    chosen = [stimuli[index] for index in np.linspace(0, len(stimuli) - 1, min(len(stimuli), most)).astype(int)]
    responses = array.transpose("presentation", "neuroid", ...)
    patterns = np.stack([_mean(responses, np.flatnonzero(codes == code)) for code in chosen])
    with_responses = np.isfinite(patterns).any(axis=1)
    without = int((~with_responses).sum())
    chosen, patterns = [code for code, has in zip(chosen, with_responses, strict=True) if has], patterns[with_responses]
    patterns = patterns[:, np.isfinite(patterns).all(axis=0)]
    if len(chosen) < 3 or patterns.shape[1] < 2:
        raise UserError(
            "fewer than 3 stimuli have responses of at least 2 neuroids that responded to all of them",
            remedy="select stimuli and neuroids without missing values",
        )
    distances = rdm(patterns)
    ranks = np.full(len(distances), np.nan)
    finite = np.isfinite(distances)
    ranks[finite] = (rankdata(distances[finite]) - 1) / max(finite.sum() - 1, 1)
    left_out = f", {len(chosen)} of {len(stimuli)} stimuli" if len(chosen) < len(stimuli) else ""
    left_out += f" ({without} without responses)" if without else ""
    chart = Matrix(
        labels=[str(ids[code]) for code in chosen],
        values=expanded(ranks),
        title="Dissimilarities of stimuli",
        groups=_groups([] if labels is None else [str(labels[first[code]]) for code in chosen]),
        symbol="rank",
    )
    note = f"1 − correlation of responses, as ranks from 0 to 1{left_out}"
    return Panel(chart=chart, heading="Dissimilarities of stimuli", notes=[note])


def _labels(array: xr.DataArray) -> Any:
    """What stimuli are ordered by; None if there are not several in a group."""
    dims: dict[Hashable, Hashable] = level_dims(array)
    for name in _ORDER:
        if dims.get(name) == "presentation":
            return array.coords[name].values
    return None


def _mean(responses: xr.DataArray, rows: np.ndarray) -> np.ndarray:
    """Mean response over presentations, without missing ones; all time bins."""
    values = responses.variable[{"presentation": rows}].values.astype(np.float64)
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        means = np.where(finite, values, 0.0).sum(axis=0) / finite.sum(axis=0)
    return np.asarray(means).ravel()


def _groups(labels: list[str]) -> list[MatrixGroup]:
    starts = [index for index, label in enumerate(labels) if index == 0 or label != labels[index - 1]]
    if not 1 < len(starts) <= 40:
        return []
    return [
        MatrixGroup(labels[start], start, stop) for start, stop in zip(starts, [*starts[1:], len(labels)], strict=True)
    ]
