"""Errors and intervals of scores."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.numerics import Interval, bootstrap_interval
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

__all__ = [
    "attach_each",
    "attach_influence",
    "attach_interval",
    "attach_neuroid_interval",
    "clipped",
    "note_undefined",
    "over_splits",
]


_UNITS = {
    "stimuli": ("presentation", "stimulus_id"),
    "triplets": ("presentation", "triplet"),
    "pairs": ("presentation", "pair"),
    "subjects": ("subject", "subject"),
    "neuroids": ("neuroid", "neuroid_id"),
}


def attach_influence(
    score: Score,
    influence: NDArray[np.float64],
    *,
    units: str | tuple[str, str],
    ids: Any = None,
    bias: float = 0.0,
    paired: bool = True,
) -> Score:
    """Store the influence of each resampled unit on a score, for tests of the difference between two models.

    Parameters
    ----------
    score : Score
        Changed in place: ``attrs['influence']``.
    influence : array, units or units × other units
        Derivative of the score by the weight of a unit (or of a cell of two crossed kinds), times the number of units.
    units : str or two of them
        What varies: ``'stimuli'``, ``'triplets'``, ``'pairs'``, ``'subjects'`` or ``'neuroids'``; any other name is
        both dimension and coordinate.
    ids : array, or two of them, optional
        Which units these are; by default numbered in the order of the data. Units with the same id belong together.
    bias : float
        How much higher the score is expected to be than what it estimates.
    paired : bool
        Whether other models are scored on the same units; not so of a model's own neuroids.

    Returns
    -------
    Score
        The same object.

    Examples
    --------
    >>> score = attach_influence(Score(0.5), np.array([-0.5, 0.5]), units="subjects", ids=["a", "b"])
    >>> score.attrs["influence"]["subject"].values.tolist()
    ['a', 'b']
    """
    kinds, labels = ((units,), (ids,)) if isinstance(units, str) else (units, (None, None) if ids is None else ids)
    coords, dims = {}, []
    for kind, ids, size in zip(kinds, labels, np.shape(influence), strict=True):
        dim, name = _UNITS.get(kind, (kind, kind))
        coords[name] = (dim, np.arange(size) if ids is None else np.asarray(ids))
        dims.append(dim)
    kept = DataAssembly(np.asarray(influence, dtype=np.float64), coords=coords, dims=dims)
    kept.attrs = {"bias": float(bias), "paired": int(paired)}
    score.attrs["influence"] = kept
    return score


def attach_interval(score: Score, interval: Interval, *, estimates: str, error: float | None = None) -> Score:
    """Write an interval into a score's attributes; `error`, if given, replaces that of the interval."""
    own = interval.error if error is None else error
    missing = math.isnan(interval.low) or math.isnan(interval.high)
    reason = interval.reason
    if reason is None and math.isnan(own):
        reason = "the value itself is undefined"
    return attach_uncertainty(
        score,
        error=own,
        ci=None if missing else (interval.low, interval.high),
        estimates=f"{estimates}, {interval.n} of them",
        method=interval.method,
        reason=reason,
    )


def attach_neuroid_interval(score: Score, raw: Score, *, error: float | None = None) -> Score:
    """Attach the interval of a median over neuroids (averaged over splits), neuroids resampled.

    Parameters
    ----------
    score : Score
        Changed in place.
    raw : Score
        Values a neuroid, or split × neuroid.
    error : float, optional
        Standard error that takes the place of the bootstrap's.
    """
    values = np.asarray(raw.transpose(..., "neuroid").values, dtype=np.float64)
    of_splits = " (mean over splits)" if values.ndim > 1 else ""
    interval = bootstrap_interval(values, "median", units="neuroids")
    return attach_interval(
        score,
        interval,
        estimates=f"median over neuroids{of_splits}; neuroids were resampled, stimuli and splits kept",
        error=error,
    )


def attach_each(score: Score, parts: Sequence[Score], *, what: str) -> Score:
    """Attach errors and intervals of the values along the score's only dimension, such as its time bins.

    Parameters
    ----------
    score : Score
        Changed in place: ``error`` and both limits in ``ci`` have its shape, NaN if not available.
    parts : sequence of Score
        Scalars with errors and intervals, one per value.
    what : str
        What the dimension is, for ``ci_estimates``.
    """

    def along(values: list[Any]) -> Score:
        return Score(np.array(values, dtype=np.float64), coords=score.coords, dims=score.dims)

    reasons = ("error_reason", "ci_reason", "ci_level", "ci_estimates", "ci_method")
    for key in reasons:
        score.attrs.pop(key, None)
    limits = [part.attrs["ci"] for part in parts]
    score.attrs["error"] = along([part.attrs["error"] for part in parts])
    score.attrs["ci"] = (along([low for low, _ in limits]), along([high for _, high in limits]))
    for key in reasons:
        known = [part.attrs[key] for part in parts if key in part.attrs]
        if known:
            score.attrs[key] = f"in each {what}: {known[0]}" if key == "ci_estimates" else known[0]
    return score


def over_splits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard error (ddof 0, as published) over splits; splits in which nothing is defined are left out."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return math.nan, math.nan
    return float(defined.mean()), float(defined.std() / np.sqrt(defined.size))


def note_undefined(score: Score, raw: NDArray[Any], *, what: str) -> Score:
    """Count undefined values in ``attrs['undefined']``, and give the reason if all are undefined."""
    undefined = np.isnan(np.asarray(raw, dtype=np.float64))
    score.attrs["undefined"] = int(undefined.sum())
    if undefined.all():
        reason = f"{what} is undefined everywhere: the values do not vary"
        attach_uncertainty(score, reason=reason)
    return score


def clipped(interval: Interval, low: float = -1.0, high: float = 1.0) -> Interval:
    """Clip an interval to the range of possible values."""
    if math.isnan(interval.low):
        return interval
    return interval._replace(low=min(max(interval.low, low), high), high=max(min(interval.high, high), low))
