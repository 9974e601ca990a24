"""Means of several scores, with what is known of their uncertainty."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.numerics import bootstrap_interval, mean_influence
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.uncertainty import attach_influence, attach_interval

__all__ = ["concatenated", "mean_of_fixed", "mean_of_sampled", "unclamped", "values_along"]


def values_along(scores: Sequence[Score], labels: Sequence[Hashable], dim: str) -> Score:
    """Values of several scores along one dimension, before any of them was clamped."""
    coords: Any = {dim: (dim, np.asarray(labels, dtype=object if isinstance(labels[0], str) else None))}
    return Score([unclamped(score) for score in scores], coords=coords, dims=[dim])


def unclamped(score: Score) -> float:
    """Value of a score before it was clamped to [0, 1]."""
    return float(score.attrs.get("unclamped", score))


def mean_of_fixed(scores: Sequence[Score], *, units: str) -> Score:
    """Mean of the scores of units that are all there are of interest, such as the two animals of an experiment.

    Each score varies as its own ``error`` and ``ci`` say, independently of the others; the units themselves do not.
    The interval is by the method of variance estimates recovery [1]_.

    Parameters
    ----------
    scores : sequence of Score
        Single values.
    units : str
        What each is the score of, in the plural.

    Returns
    -------
    Score
        With ``error`` and ``ci``; NaN with a reason where one of `scores` has none.

    References
    ----------
    .. [1] Zou & Donner 2008, Statistics in Medicine, https://doi.org/10.1002/sim.3095
    """
    values = np.array([unclamped(score) for score in scores])
    result = Score(values.mean())
    errors = np.array([float(score.attrs.get("error", math.nan)) for score in scores])
    limits = np.array(
        [score.attrs.get("unclamped_ci", score.attrs.get("ci", (math.nan, math.nan))) for score in scores]
    )
    k = len(values)
    down, up = (float(np.linalg.norm(limits[:, side] - values) / k) for side in (0, 1))
    known = next((score.attrs for score in scores if "ci_estimates" in score.attrs), {})
    reasons = [score.attrs[key] for score in scores for key in ("error_reason", "ci_reason") if key in score.attrs]
    missing = bool(np.isnan(errors).any() or np.isnan(down) or np.isnan(up))
    return attach_uncertainty(
        result,
        error=float(np.linalg.norm(errors) / k),
        ci=None if math.isnan(down) or math.isnan(up) else (float(result) - down, float(result) + up),
        level=known.get("ci_level", 0.95),
        estimates=f"mean over {k} {units}, which are kept; of each: {known.get('ci_estimates', 'its own interval')}",
        method=f"{known.get('ci_method', '')}, recovered variance",
        reason=(reasons[0] if reasons else f"one of the {units} has none") if missing else None,
    )


def mean_of_sampled(values: Score, *, units: str, error: float | None = None, note: str = "") -> Score:
    """Mean over units that stand for others of their kind, such as subjects, which are resampled (t interval).

    Parameters
    ----------
    values : Score
        One value a unit.
    units : str
        What they are, in the plural.
    error : float, optional
        Standard error that takes the place of the t interval's.
    note : str
        Added to ``ci_estimates``.
    """
    numbers = np.asarray(values.values, dtype=np.float64)
    interval = bootstrap_interval(numbers, "mean", method="t", units=units)
    mean = Score(float(numbers.mean()))  # of all of them: a unit without a value leaves none
    if numbers.ndim == 1 and not np.isnan(numbers).any():
        (dim,) = values.dims
        attach_influence(mean, mean_influence(numbers), units=str(dim), ids=values[dim].values)
    return attach_interval(mean, interval, estimates=f"mean over {units}, which vary{note}", error=error)


def concatenated(arrays: Sequence[Any]) -> DataAssembly | None:
    """Arrays of several groups of neuroids side by side; None where one has no neuroids."""
    import xarray as xr

    if any("neuroid" not in getattr(array, "dims", ()) for array in arrays):
        return None
    plain = []
    for array in arrays:
        array = array.copy(deep=False)
        array.attrs = {}
        plain.append(array)
    return xr.concat(plain, dim="neuroid")
