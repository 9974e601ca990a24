"""Confidence intervals by resampling, and the influence of units on a statistic."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from brainscore_core.numerics._matrices import CHUNK_BYTES, Array

Statistic = Callable[[Array, int], Array]
"""``statistic(values, axis)`` reduces `axis`, and optionally others, but not the axis before `axis`."""

Method = Literal["auto", "percentile", "bca", "t"]

SMALL = 20
"""Number of units below which percentile intervals are too narrow."""


class Interval(NamedTuple):
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        Limits; NaN if there is no interval.
    error : float
        Standard error; NaN if there is none.
    method : str
        Method of the interval.
    n : int
        Number of resampled units.
    reason : str or None
        Why limits or error are NaN.
    """

    low: float
    high: float
    error: float
    method: str
    n: int
    reason: str | None = None


def bootstrap_interval(
    values: ArrayLike,
    statistic: Literal["mean", "median"] | Statistic = "mean",
    *,
    axis: int = -1,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    method: Method = "auto",
    units: str = "units",
) -> Interval:
    """Confidence interval of a statistic, by resampling independent units with replacement.

    Parameters
    ----------
    values : array
        Values with units along `axis`; values along all other axes belong to a unit and are drawn with it.
    statistic : ``'mean'``, ``'median'`` or callable
        ``statistic(values, axis)`` is called with an array that has the resampled units along the last axis and the
        resamples along the one before; it returns one number per resample. ``'mean'`` and ``'median'`` ignore NaN, and
        average over all other axes after the reduction of the units.
    axis : int
        Axis of the units.
    n_resamples : int
        Number of bootstrap resamples.
    level : float
        Confidence level in (0, 1).
    seed : int
        Seed of the resamples.
    method : ``'auto'``, ``'percentile'``, ``'bca'`` or ``'t'``
        ``'t'``: jackknife standard error times Student's t (for a mean: the t interval). ``'bca'``: bias-corrected and
        accelerated bootstrap [1]_. ``'auto'``: ``'percentile'`` from 20 units on; below that ``'t'`` for the mean and
        ``'bca'`` for anything else.
    units : str
        Name of the units in the reason.

    Returns
    -------
    Interval
        NaN with a reason for fewer than 3 units, or if the statistic is undefined on resamples.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] Efron (1987). Journal of the American Statistical Association 82, 171–185.
       https://doi.org/10.1080/01621459.1987.10478410

    Examples
    --------
    >>> interval = bootstrap_interval([0.2, 0.4, 0.6, 0.8], "mean")
    >>> interval.method, round(interval.low, 3), round(interval.high, 3)
    ('t', 0.089, 0.911)
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must be between 0 and 1")
    if n_resamples < 2:
        raise ValueError(f"n_resamples is {n_resamples}; it must be at least 2")
    if method not in ("auto", "percentile", "bca", "t"):
        raise ValueError(f"unknown method {method!r}; use 'auto', 'percentile', 'bca' or 't'")
    array = np.moveaxis(np.asarray(values, dtype=np.float64), axis, -1)
    n = array.shape[-1]
    if method == "auto":
        method = "percentile" if n >= SMALL else "t" if statistic == "mean" else "bca"
    name = {"percentile": "bootstrap"}.get(method, method)
    if n < 3:
        return _undefined(name, n, f"{n} {units}: at least 3 are needed to tell how much they vary")
    function = _statistic_of(statistic)
    estimate = float(function(array[..., None, :], -1)[0])
    if not math.isfinite(estimate):
        return _undefined(name, n, "the value itself is undefined")
    if method == "t":
        return _student(estimate, _jackknife(array, function), level=level, method=name)
    replicates = _replicates(array, statistic, n_resamples=n_resamples, seed=seed)
    undefined = int((~np.isfinite(replicates)).sum())
    if undefined > 0.05 * n_resamples:
        return _undefined(name, n, f"undefined in {undefined} of {n_resamples} resamples of the {units}")
    replicates = replicates[np.isfinite(replicates)]
    error = float(replicates.std(ddof=1))
    tail = (1 - level) / 2
    tails = (tail, 1 - tail)
    if method == "bca":
        adjusted = _bca_tails(replicates, estimate, _jackknife(array, function), tails)
        if adjusted is None:
            return Interval(math.nan, math.nan, error, name, n, f"too few distinct {units} for a BCa interval")
        tails = adjusted
    low, high = np.quantile(replicates, tails)
    return Interval(float(low), float(high), error, name, n)


def jackknife_interval(estimate: float, left_out: ArrayLike, *, level: float = 0.95, units: str = "units") -> Interval:
    """Student's t interval from the values without each unit.

    For statistics of pairs or larger groups of units, such as the mean agreement of all pairs of subjects.

    Parameters
    ----------
    estimate : float
        Value of all units.
    left_out : array
        Value without unit i.
    level : float
        Confidence level.
    units : str
        Name of the units in the reason.

    Returns
    -------
    Interval
        NaN with a reason for fewer than 3 units, or if a value is undefined.

    Notes
    -----
    Tukey's jackknife [1]_: error² = (n − 1)/n · Σ (left out − their mean)².

    References
    ----------
    .. [1] Efron & Stein (1981). Annals of Statistics 9, 586–596. https://doi.org/10.1214/aos/1176345462

    Examples
    --------
    >>> jackknife_interval(0.5, [0.4, 0.6, 0.5]).method
    't'
    """
    values = np.asarray(left_out, dtype=np.float64)
    if values.size < 3:
        return _undefined("t", values.size, f"{values.size} {units}: at least 3 are needed to tell how much they vary")
    return _student(float(estimate), values, level=level, method="t")


def influence_interval(
    estimate: float, influence: ArrayLike, *, level: float = 0.95, correlation: bool = False, units: str = "stimuli"
) -> Interval:
    """Student's t interval from each unit's influence on the value (the infinitesimal jackknife).

    Parameters
    ----------
    estimate : float
        Value of all units.
    influence : array
        Derivative of the value by the weight of unit i, times the number of units; sums to about 0.
    level : float
        Confidence level.
    correlation : bool
        Whether the value is bounded by −1 and 1; the interval is then computed on Fisher's z scale.
    units : str
        Name of the units in the reason.

    Returns
    -------
    Interval
        NaN with a reason for fewer than 3 units, or if the value is undefined.

    Examples
    --------
    >>> values = np.array([0.1, 0.4, 0.7, 0.2])
    >>> interval = influence_interval(values.mean(), values - values.mean())
    >>> bool(np.isclose(interval.error, values.std(ddof=1) / 2))
    True
    """
    values = np.asarray(influence, dtype=np.float64)
    n = values.size
    if n < 3:
        return _undefined("influence", n, f"{n} {units}: at least 3 are needed to tell how much they vary")
    error = float(values.std(ddof=1) / math.sqrt(n))
    if not (math.isfinite(estimate) and math.isfinite(error)):
        return _undefined("influence", n, "the value itself is undefined")
    return student_interval(estimate, error, df=n - 1, n=n, level=level, correlation=correlation)


def influence_variance(influence: ArrayLike) -> tuple[float, float]:
    """Variance of a value from the influence of units, or of two crossed kinds of units, and its degrees of freedom.

    `influence` (units or units × other units): influence of each unit (see :func:`influence_interval`); a matrix for
    two crossed kinds, such as subjects and images, whose row means are the influence of the rows, and column means that
    of the columns. Returns: one kind: Σ (influence − mean)² / (n (n − 1)). Two kinds: variance of the row means + that
    of the column means − that of the interaction, which is part of both [1]_, and at least each of the first two.
    Returns: degrees of freedom, by Satterthwaite's formula for two kinds.

    References
    ----------
    .. [1] Owen (2007). Annals of Applied Statistics 1, 386–411. https://doi.org/10.1214/07-AOAS122

    Examples
    --------
    >>> influence_variance([-1.0, 0.0, 1.0])
    (0.3333333333333333, 2.0)
    """
    values = np.asarray(influence, dtype=np.float64)
    if values.ndim == 1:
        return float(values.var(ddof=1)) / values.size, float(values.size - 1)
    rows, columns = values.shape
    of_rows, of_columns = values.mean(axis=1), values.mean(axis=0)
    residual = values - of_rows[:, None] - of_columns + values.mean()
    interaction = float(np.sum(residual**2)) / ((rows - 1) * (columns - 1)) / values.size
    parts = [(float(part.var(ddof=1)) / part.size, part.size - 1) for part in (of_rows, of_columns)]
    variance = max(sum(one for one, _ in parts) - interaction, *(one for one, _ in parts))
    return variance, min(satterthwaite(parts), rows + columns - 2)


def satterthwaite(parts: Sequence[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of variances, each with its own."""
    total = sum(variance for variance, _ in parts)
    if len(parts) == 1 or not total > 0:
        return float(min(df for _, df in parts))
    return total**2 / sum(variance**2 / df for variance, df in parts)


def combined_interval(
    estimate: float,
    influences: Sequence[ArrayLike],
    *,
    shared: float | None = None,
    level: float = 0.95,
    correlation: bool = False,
) -> Interval:
    """Student's t interval of a value that varies with several kinds of units.

    Parameters
    ----------
    estimate : float
        Value of all units.
    influences : sequence of array
        Influence of each kind of units, or of two crossed kinds (see :func:`influence_variance`); the variances are
        added.
    shared : float, optional
        Variance of what depends on two kinds of units at once, which is in the variance of both.
    level : float
        Confidence level.
    correlation : bool
        Whether the value is bounded by −1 and 1; the interval is then computed on Fisher's z scale.

    Returns
    -------
    Interval
        `n` is the smallest number of units. The degrees of freedom are those of Satterthwaite, and at most n − 1
        without `shared`, where the sum is too large. NaN with a reason for fewer
        than 3 units of a kind, or if the value is undefined without some of them.

    Notes
    -----
    The sum of the jackknife's variances is at least the variance on average [1]_: what depends on two kinds of units at
    once is in the variance of both. It is subtracted once if it is known, and the variance is at least that of each
    kind.

    References
    ----------
    .. [1] Efron & Stein (1981). Annals of Statistics 9, 586–596. https://doi.org/10.1214/aos/1176345462

    Examples
    --------
    >>> interval = combined_interval(0.5, [[-0.1, 0.0, 0.1, 0.0], [0.2, -0.2, 0.0]])
    >>> interval.n, round(interval.error, 4)
    (3, 0.1225)
    """
    arrays = [np.asarray(part, dtype=np.float64) for part in influences]
    n = min(size for part in arrays for size in part.shape)
    if n < 3:
        return _undefined("influence", n, f"{n} units: at least 3 are needed to tell how much they vary")
    parts = [influence_variance(part) for part in arrays]
    total = sum(variance for variance, _ in parts)
    variance = total if shared is None else max(total - shared, *(variance for variance, _ in parts))
    error = math.sqrt(variance)
    if not math.isfinite(estimate):
        return _undefined("influence", n, "the value itself is undefined")
    if not math.isfinite(error):
        return _undefined("influence", n, "undefined without one of the units")
    df = satterthwaite(parts)
    df = min(df, n - 1) if shared is None or not total > 0 else df * (variance / total) ** 2
    return student_interval(estimate, error, df=df, n=n, level=level, correlation=correlation)


def student_interval(
    estimate: float, error: float, *, df: float, n: int, level: float = 0.95, correlation: bool = False
) -> Interval:
    """Student's t interval from a standard error; of a correlation on Fisher's z scale.

    Examples
    --------
    >>> interval = student_interval(0.5, 0.1, df=9, n=10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.274, 0.726)
    """
    half = float(stdtrit(df, (1 + level) / 2))
    if correlation and abs(estimate) < 1:
        z, scale = math.atanh(estimate), error / (1 - estimate**2)
        low, high = math.tanh(z - half * scale), math.tanh(z + half * scale)
    else:
        low, high = estimate - half * error, estimate + half * error
        if correlation:
            low, high = max(low, -1.0), min(high, 1.0)
    return Interval(low, high, error, "influence", n)


def median(values: Array, axis: int) -> Array:
    """Median that ignores NaN; NaN without a warning if nothing is left."""
    if not np.isnan(values).any():
        return np.asarray(np.median(values, axis=axis))
    ordered = np.sort(values, axis=axis)  # NaN come last
    valid = (~np.isnan(ordered)).sum(axis=axis, keepdims=True)
    lower = np.take_along_axis(ordered, np.maximum(valid - 1, 0) // 2, axis=axis)
    upper = np.take_along_axis(ordered, np.minimum(valid // 2, values.shape[axis] - 1), axis=axis)
    return np.asarray(np.squeeze(np.where(valid > 0, (lower + upper) / 2, np.nan), axis=axis))


def mean(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Mean that ignores NaN; NaN without a warning if nothing is left."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    total = np.where(defined, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _undefined(method: str, n: int, reason: str) -> Interval:
    return Interval(math.nan, math.nan, math.nan, method, n, reason)


def _statistic_of(statistic: str | Statistic) -> Statistic:
    if callable(statistic):
        return statistic
    if statistic == "median":
        return lambda values, axis: _mean_of_rest(median(values, axis))
    if statistic == "mean":
        return lambda values, axis: _mean_of_rest(mean(values, axis))
    raise ValueError(f"unknown statistic {statistic!r}; use 'mean', 'median', or a function (values, axis)")


def _mean_of_rest(reduced: Array) -> Array:
    return mean(reduced, tuple(range(reduced.ndim - 1))) if reduced.ndim > 1 else reduced


def _replicates(array: Array, statistic: str | Statistic, *, n_resamples: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    n = array.shape[-1]
    step = max(1, CHUNK_BYTES // (8 * max(1, array.size)))
    function, medians = _statistic_of(statistic), ResampledMedians(array) if statistic == "median" else None
    parts = []
    for start in range(0, n_resamples, step):
        drawn = rng.integers(0, n, (min(step, n_resamples - start), n))
        if medians is None:
            parts.append(np.asarray(function(array[..., drawn], -1), dtype=np.float64))
        else:
            parts.append(_mean_of_rest(medians.of(drawn)))
    return np.concatenate(parts)


class ResampledMedians:
    """Medians of resamples along the last axis, without NaN; sorts each row once and counts entries of resamples."""

    def __init__(self, array: Array) -> None:
        self._shape = array.shape[:-1]
        rows = array.reshape(-1, array.shape[-1])
        self._order = np.argsort(rows, axis=1)  # NaN come last
        self._sorted = np.take_along_axis(rows, self._order, axis=1)
        self._defined = (~np.isnan(rows)).sum(axis=1)

    def of(self, drawn: NDArray[np.intp]) -> Array:
        """Medians of each row of the array and each resample: the array's other axes × resamples."""
        n_resamples, n = drawn.shape
        cells = drawn + n * np.arange(n_resamples)[:, None]
        kind = np.int16 if n < 2**15 else np.int64
        counts = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape).T.astype(kind)
        result = np.full((len(self._order), n_resamples), np.nan)
        for row, (order, values, defined) in enumerate(zip(self._order, self._sorted, self._defined, strict=True)):
            if not defined:
                continue
            upto = counts[order[:defined]].cumsum(axis=0, dtype=kind)
            total = upto[-1]
            lower, upper = ((upto <= middle).sum(axis=0, dtype=kind) for middle in ((total - 1) // 2, total // 2))
            some = total > 0
            result[row, some] = (values[lower[some]] + values[upper[some]]) / 2
        return result.reshape(*self._shape, n_resamples)


def _jackknife(array: Array, function: Statistic) -> Array:
    n = array.shape[-1]
    step = max(1, CHUNK_BYTES // (8 * max(1, array.size)))
    parts = []
    for start in range(0, n, step):
        left_out = np.arange(start, min(start + step, n))[:, None]
        kept = np.arange(n - 1)[None, :]
        parts.append(np.asarray(function(array[..., kept + (kept >= left_out)], -1), dtype=np.float64))
    return np.concatenate(parts)


def _student(estimate: float, left_out: Array, *, level: float, method: str) -> Interval:
    n = len(left_out)
    error = float(np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2)))
    if not (math.isfinite(error) and math.isfinite(estimate)):
        return _undefined(method, n, "undefined when one unit is left out")
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    return Interval(estimate - half, estimate + half, error, method, n)


def _bca_tails(
    replicates: Array, estimate: float, left_out: Array, tails: tuple[float, float]
) -> tuple[float, float] | None:
    difference, rounding = replicates - estimate, 1e-12 * float(np.abs(replicates).max())
    below = ((difference < -rounding).mean() + (difference <= rounding).mean()) / 2
    deviations = left_out.mean() - left_out
    spread = float(np.sum(deviations**2))
    if not (0 < below < 1) or not spread > 0:
        return None
    acceleration = float(np.sum(deviations**3)) / (6 * spread**1.5)
    bias = float(ndtri(below))
    shifted = bias + ndtri(np.array(tails))
    low, high = ndtr(bias + shifted / (1 - acceleration * shifted))
    return float(low), float(high)


def mean_influence(values: ArrayLike) -> Array:
    """Influence of each value on the mean of the defined values.

    Examples
    --------
    >>> mean_influence([1.0, 3.0, np.nan]).tolist()
    [-1.5, 1.5, 0.0]
    """
    array = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(array)
    if not defined.any():
        return np.full(array.shape, np.nan)
    return np.asarray(np.where(defined, (array - array[defined].mean()) * (array.size / defined.sum()), 0.0))


def jackknife_influence(values: ArrayLike, statistic: Statistic) -> Array:
    """Influence of each unit on a statistic, from the values without it.

    Parameters
    ----------
    values : array
        Units along the last axis.
    statistic : callable
        As for :func:`~brainscore_core.numerics.bootstrap_interval`.

    Returns
    -------
    array (units,)
        (n − 1) · (mean of the values without one unit − value without this unit).

    Examples
    --------
    >>> jackknife_influence([1.0, 3.0, 5.0], lambda values, axis: values.mean(axis=axis)).tolist()
    [-2.0, 0.0, 2.0]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape[-1] < 2:
        return np.full(array.shape[-1], np.nan)
    left_out = _jackknife(array, statistic)
    return np.asarray((len(left_out) - 1) * (left_out.mean() - left_out))
