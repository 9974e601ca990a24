"""Errors and intervals of scores."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.numerics import Interval, bootstrap_interval
from brainscore_core.numerics.resampling import mean, median

__all__ = ["attach_interval", "attach_neuroid_interval", "clipped", "note_undefined", "over_splits"]


def attach_interval(score: Score, interval: Interval, *, estimates: str, error: float | None = None) -> Score:
    """Write an interval into a score's attributes; `error`, where given, takes the place of the interval's own."""
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
    interval = bootstrap_interval(values, _median_of_each_split, units="neuroids")
    return attach_interval(
        score,
        interval,
        estimates=f"median over neuroids{of_splits}; neuroids were resampled, stimuli and splits kept",
        error=error,
    )


def over_splits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard error (ddof 0, as published) over splits; splits in which nothing is defined are left out."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return math.nan, math.nan
    return float(defined.mean()), float(defined.std() / np.sqrt(defined.size))


def note_undefined(score: Score, raw: NDArray[Any], *, what: str) -> Score:
    """Count undefined values in ``attrs['undefined']``, and say why where nothing is defined."""
    undefined = np.isnan(np.asarray(raw, dtype=np.float64))
    score.attrs["undefined"] = int(undefined.sum())
    if undefined.all():
        reason = f"{what} is undefined everywhere: the values do not vary"
        attach_uncertainty(score, reason=reason)
    return score


def clipped(interval: Interval, low: float = -1.0, high: float = 1.0) -> Interval:
    """The part of an interval in which a value can lie."""
    if math.isnan(interval.low):
        return interval
    return interval._replace(low=min(max(interval.low, low), high), high=max(min(interval.high, high), low))


def _median_of_each_split(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    reduced = median(values, axis)
    return reduced if reduced.ndim == 1 else mean(reduced, 0)
