"""Helpers of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval
from brainscore_core.metrics import Score
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.numerics.resampling import combined_interval
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, walk_coords
from brainscore_language.artificial_subject import ArtificialSubject

__all__ = ["attach_units", "ci_error", "manual_merge", "reading_times"]


def reading_times(candidate: ArtificialSubject, parts: Sequence[str]) -> NDArray[np.float64]:
    """Reading times of the parts of a text, one each, by a subject that does this task.

    Raises
    ------
    UserError
        If the subject returns another number of times, or something else.
    """
    answer = candidate.digest_text(list(parts))
    times = np.asarray(answer["behavior"] if isinstance(answer, Mapping) else None)
    if times.size != len(parts) or times.dtype.kind not in "iuf":
        what = f"{times.size} reading times" if times.dtype.kind in "iuf" else "no numbers"
        raise UserError(
            f"the subject returned {what} for {len(parts)} parts of a text",
            "return {'behavior': one time for each part, in their order}",
        )
    return times.astype(float).reshape(-1)


def ci_error(samples: Any, center: Any, confidence: float = 0.95) -> tuple[Any, Any]:
    """Distances from a centre to the lower and upper percentile of samples; NaN is ignored.

    Examples
    --------
    >>> low, high = ci_error(np.arange(101), 50)
    >>> float(low), float(high)
    (47.5, 47.5)
    """
    tail = 100 * (1 - confidence) / 2
    return center - np.nanpercentile(samples, tail), np.nanpercentile(samples, 100 - tail) - center


def manual_merge(*elements: DataAssembly, on: str = "neuroid") -> DataAssembly:
    """Join assemblies along a dimension; their other dimensions and coordinates must be equal.

    Raises
    ------
    ValueError
        If another dimension or coordinate differs.
    """
    first = elements[0]
    axis = first.dims.index(on)
    coords: dict[str, Any] = {}
    for name, dims, values in walk_coords(first):
        joined = [np.asarray(element[name].values) for element in elements]
        if tuple(dims) == (on,):
            coords[name] = (on, np.concatenate(joined))
        elif all(np.array_equal(values, other) for other in joined):
            coords[name] = (dims, values)
        else:
            raise ValueError(f"the assemblies differ in {name!r}; only coordinates of {on!r} may differ")
    if any(element.dims != first.dims for element in elements):
        raise ValueError(f"the assemblies have the dimensions {[element.dims for element in elements]}")
    values = np.concatenate([element.values for element in elements], axis=axis)
    return type(first)(values, coords=coords, dims=first.dims)


def attach_units(
    score: Score,
    left_out: Mapping[str, tuple[Any, Sequence[float]]],
    *,
    estimates: str,
    fixed: str = "",
    correlation: bool = False,
) -> Score:
    """Attach error, interval, and the influence of each unit, by which models are compared.

    Parameters
    ----------
    score : Score
        Changed in place.
    left_out : mapping
        One or two kinds of units, such as ``'stories'`` and ``'subjects'`` → their names, and the value without each.
        Their variances are added.
    estimates : str
        What the value is.
    fixed : str
        What does not vary, such as ``' for these readers'``.
    correlation : bool
        Whether the value is a correlation; the interval is then computed on Fisher's z scale.

    Examples
    --------
    >>> score = attach_units(Score(2.0), {"stories": ("abc", [2.5, 2.0, 1.5])}, estimates="mean")
    >>> score.attrs["ci_estimates"], round(float(score.attrs["error"]), 3)
    ('new stories; 3 stories; mean', 0.577)
    """
    influences = {kind: deletion_influence(values) for kind, (_, values) in left_out.items()}
    for number, (kind, influence) in enumerate(influences.items()):
        attach_influence(score, influence, units=kind, ids=list(left_out[kind][0]), further=number > 0)
    interval = combined_interval(float(score), list(influences.values()), correlation=correlation)
    numbers = ", ".join(f"{len(influence):,} {kind}" for kind, influence in influences.items())
    varied = " and ".join(f"new {kind}" for kind in influences)
    return attach_interval(score, interval, estimates=f"{varied}{fixed}; {numbers}; {estimates}")
