"""Whether two values differ that were measured on the same units."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from brainscore_core.numerics._arrays import Array
from brainscore_core.numerics.resampling import Statistic, _jackknife

__all__ = ["PairedTest", "jackknife_influence", "mean_influence", "paired_test", "student_test", "with_ceiling"]


class PairedTest(NamedTuple):
    """A difference, its interval and the test that there is none.

    Attributes
    ----------
    difference : float
        First less second.
    low, high : float
        Limits of the interval; NaN where there is none.
    error : float
        Standard error; NaN where there is none.
    p : float
        Two-sided; NaN where there is none.
    df : float
        Degrees of freedom of Student's t.
    reason : str or None
        Why interval or p are NaN.
    """

    difference: float
    low: float
    high: float
    error: float
    p: float
    df: float
    reason: str | None = None


def paired_test(
    difference: float, influence: ArrayLike, *, level: float = 0.95, unpaired: ArrayLike | None = None
) -> PairedTest:
    """Test a difference by what each unit does to it.

    Parameters
    ----------
    difference : float
        First value less second value.
    influence : array, units or units × other units
        Of each unit on the difference: that on the first value less that on the second (see
        :func:`~brainscore_core.numerics.influence_interval`). A matrix where units of two kinds vary that are crossed,
        such as stimuli and observers.
    level : float
        Confidence level in (0, 1).
    unpaired : array, units, optional
        Influence on the second value, where it was measured on other units than the first; `influence` is then that on
        the first value.

    Returns
    -------
    PairedTest
        Student's t. NaN with a reason below 3 units of a kind, or where units do not vary although values differ.

    Notes
    -----
    One kind: error² = Σ (influence − mean)² / (n (n − 1)); for two means this is the paired t test. Two kinds:
    variance of the row means + that of the column means − that of the interaction, which is in both of the former;
    resampling rows and columns at once would count it three times [1]_ [2]_. Degrees of freedom by Satterthwaite.
    Unpaired: Welch's test.

    References
    ----------
    .. [1] Owen (2007). Annals of Applied Statistics 1, 386–411. https://doi.org/10.1214/07-AOAS122
    .. [2] Schütt et al. (2023). eLife 12, e82566. https://doi.org/10.7554/eLife.82566

    Examples
    --------
    >>> first, second = np.array([0.5, 0.7, 0.9, 0.6]), np.array([0.3, 0.6, 0.5, 0.5])
    >>> result = paired_test(first.mean() - second.mean(), first - second)
    >>> round(result.p, 4)
    0.0663
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a number between 0 and 1 is needed")
    values = np.asarray(influence, dtype=np.float64)
    if values.ndim not in (1, 2):
        raise ValueError(f"influence has the shape {values.shape}; one or two kinds of units are possible")
    parts = [values] if unpaired is None else [values, np.asarray(unpaired, dtype=np.float64)]
    if min(size for part in parts for size in part.shape) < 3:
        fewest = min(size for part in parts for size in part.shape)
        return _none(difference, f"{fewest} units: at least 3 are needed to tell how much they vary")
    if values.ndim == 2:
        variance, df = _crossed(values)
    else:
        each = [(float(part.var(ddof=1)) / part.size, part.size - 1) for part in parts]
        variance, df = sum(one for one, _ in each), _satterthwaite(each)
    return student_test(difference, variance, df, level=level)


def mean_influence(values: ArrayLike) -> Array:
    """What each value does to the mean of those that are defined.

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
    """What each unit does to a statistic, from the values without it.

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


def student_test(difference: float, variance: float, df: float, *, level: float = 0.95) -> PairedTest:
    """Student's t test and interval of a difference with a known variance.

    Examples
    --------
    >>> result = student_test(1.0, 0.25, 10)
    >>> round(result.low, 3), round(result.p, 3)
    (-0.114, 0.073)
    """
    difference, df = float(difference), float(df)
    if not (math.isfinite(difference) and math.isfinite(variance)):
        return _none(difference, "one of the values, or what a unit does to it, is undefined")
    error = math.sqrt(max(variance, 0.0))
    if error <= 1e-12 * max(1.0, abs(difference)):
        if abs(difference) <= 1e-12:
            return PairedTest(difference, difference, difference, 0.0, 1.0, df)
        return _none(difference, "the units do not vary, so nothing tells whether the difference is due to chance")
    half = float(stdtrit(df, (1 + level) / 2)) * error
    p = 2 * float(stdtr(df, -abs(difference) / error))
    return PairedTest(difference, difference - half, difference + half, error, p, df)


def with_ceiling(test: PairedTest, relative_error: float, *, level: float = 0.95) -> PairedTest:
    """Widen the interval of a ceiled difference by the ceiling's own uncertainty.

    Both scores were divided by the same ceiling, which varies independently of them. The interval is Fieller's [1]_: it
    holds 0 exactly when p > 1 − level, as the ceiling does not decide whether there is a difference.

    Parameters
    ----------
    test : PairedTest
        With the ceiling taken as exact.
    relative_error : float
        Standard error of the ceiling / ceiling.
    level : float
        Of the interval.

    Returns
    -------
    PairedTest
        With the same p. Limits are NaN with a reason where the ceiling itself may be 0.

    References
    ----------
    .. [1] Fieller (1954). Journal of the Royal Statistical Society B 16, 175–185.
       https://doi.org/10.1111/j.2517-6161.1954.tb00159.x

    Examples
    --------
    >>> wider = with_ceiling(student_test(0.2, 0.05**2, 50), 0.1)
    >>> round(wider.low, 3), round(wider.high, 3), round(wider.error, 4)
    (0.098, 0.319, 0.0539)
    """
    if not math.isfinite(test.error) or not relative_error > 0:
        return test
    t = float(stdtrit(test.df, (1 + level) / 2))
    share = 1 - (t * relative_error) ** 2
    error = math.hypot(test.error, test.difference * relative_error)
    if share <= 0:
        reason = "the ceiling is too uncertain: it may be 0"
        return test._replace(low=math.nan, high=math.nan, error=error, reason=reason)
    spread = math.sqrt(max(test.difference**2 - share * (test.difference**2 - (t * test.error) ** 2), 0.0))
    return test._replace(low=(test.difference - spread) / share, high=(test.difference + spread) / share, error=error)


def _none(difference: float, reason: str) -> PairedTest:
    return PairedTest(difference, math.nan, math.nan, math.nan, math.nan, math.nan, reason)


def _crossed(values: Array) -> tuple[float, float]:
    """Variance of the mean over rows and columns, and its degrees of freedom."""
    rows, columns = values.shape
    of_rows, of_columns = values.mean(axis=1), values.mean(axis=0)
    residual = values - of_rows[:, None] - of_columns + values.mean()
    interaction = float(np.sum(residual**2)) / ((rows - 1) * (columns - 1)) / values.size
    parts = [(float(part.var(ddof=1)) / part.size, part.size - 1) for part in (of_rows, of_columns)]
    variance = max(sum(one for one, _ in parts) - interaction, *(one for one, _ in parts))
    return variance, min(_satterthwaite(parts), rows + columns - 2)


def _satterthwaite(parts: list[tuple[float, int]]) -> float:
    total = sum(variance for variance, _ in parts)
    if len(parts) == 1 or not total > 0:
        return float(min(df for _, df in parts))
    return total**2 / sum(variance**2 / df for variance, df in parts)
