"""Tests of differences, and confidence limits of ratios whose denominators are uncertain, too."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from brainscore_core.numerics.resampling import influence_variance, satterthwaite

Correction = Literal["holm", "benjamini-hochberg", "none"]


def corrected(p_values: ArrayLike, method: Correction = "holm") -> NDArray[np.float64]:
    """Correct p-values of a family of tests.

    Parameters
    ----------
    p_values : array
        Values in [0, 1], of any shape; NaN means no test: it stays NaN and does not count.
    method : ``'holm'``, ``'benjamini-hochberg'`` or ``'none'``
        Holm [1]_: the probability of any false positive is at most α, for any dependence of the tests. Benjamini &
        Hochberg [2]_: the expected fraction of false positives among the significant differences is at most α, for
        independent or positively dependent tests.

    Returns
    -------
    array
        Corrected p-values, of the same shape.

    Raises
    ------
    ValueError
        If a p-value is out of range, or the method is unknown.

    References
    ----------
    .. [1] Holm (1979). Scandinavian Journal of Statistics 6, 65–70. https://www.jstor.org/stable/4615733
    .. [2] Benjamini & Hochberg (1995). Journal of the Royal Statistical Society B 57, 289–300.
       https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> corrected([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.03, 0.06, 0.06, 0.02]
    >>> corrected([0.01, 0.04, 0.03, 0.005], "benjamini-hochberg").round(3).tolist()
    [0.02, 0.04, 0.04, 0.02]
    """
    if method not in get_args(Correction):
        raise ValueError(f"unknown correction {method!r}; use one of {', '.join(map(repr, get_args(Correction)))}")
    values = np.asarray(p_values, dtype=np.float64)
    defined = ~np.isnan(values)
    p = values[defined]
    outside = p[(p < 0) | (p > 1)]
    if outside.size:
        raise ValueError(f"the p-value {outside[0]:g} is not in [0, 1]")
    result = values.copy()
    if method == "none" or not p.size:
        return result
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, p.size + 1)
    if method == "holm":
        stepped = np.maximum.accumulate((p.size - ranks + 1) * p[order])
    else:
        stepped = np.minimum.accumulate((p.size / ranks * p[order])[::-1])[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    result[defined] = adjusted
    return result


class PairedTest(NamedTuple):
    """A difference, its interval and a test of the hypothesis that it is 0.

    Attributes
    ----------
    difference : float
        First value minus second value.
    low, high : float
        Limits of the interval; NaN if there is none.
    error : float
        Standard error; NaN if there is none.
    p : float
        Two-sided p-value; NaN if there is none.
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
    difference: float,
    influence: ArrayLike,
    *,
    level: float = 0.95,
    unpaired: ArrayLike | None = None,
    further: Sequence[ArrayLike] = (),
) -> PairedTest:
    """Test a difference by the influence of each unit on it.

    Parameters
    ----------
    difference : float
        First value minus second value.
    influence : array, units or units × other units
        Influence of each unit on the difference: that on the first value minus that on the second (see
        :func:`~brainscore_core.numerics.influence_interval`). A matrix for two crossed kinds of units, such as stimuli
        and observers.
    level : float
        Confidence level in (0, 1).
    unpaired : array, units, optional
        Influence on the second value if it was measured on other units than the first; `influence` is then that on the
        first value.
    further : sequence of array
        Influence of units of other kinds that vary as well, such as neuroids; their variances are added.

    Returns
    -------
    PairedTest
        Student's t test. NaN with a reason for fewer than 3 units of a kind, or if units do not vary although the
        values differ.

    Notes
    -----
    One kind: error² = Σ (influence − mean)² / (n (n − 1)); for two means this is the paired t test. Two kinds:
    variance of the row means + that of the column means − that of the interaction, which is part of both; resampling
    rows and columns at once would count it three times [1]_ [2]_. Degrees of freedom are those of Satterthwaite, and at
    most those of a kind that contributes more than half of the variance, such as few animals. Unpaired: Welch's test.

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
        raise ValueError(f"level is {level}; it must be between 0 and 1")
    values = np.asarray(influence, dtype=np.float64)
    if values.ndim not in (1, 2):
        raise ValueError(
            f"influence has the shape {values.shape}; it must have one or two dimensions, one for each kind of units"
        )
    kinds = [values] if unpaired is None else [values, np.asarray(unpaired, dtype=np.float64)]
    further_kinds = [np.asarray(kind, dtype=np.float64) for kind in further]
    fewest = min(size for kind in (*kinds, *further_kinds) for size in kind.shape)
    if fewest < 3:
        return untested(difference, f"{fewest} units: at least 3 are needed to tell how much they vary")
    each = [influence_variance(kind) for kind in (*kinds, *further_kinds)]
    variance, df = sum(variance_of_kind for variance_of_kind, _ in each), satterthwaite(each)
    largest, of_largest = max(each)
    if unpaired is None and largest > variance / 2:
        df = min(df, of_largest)
    return student_test(difference, variance, df, level=level)


def student_test(difference: float, variance: float, df: float, *, level: float = 0.95) -> PairedTest:
    """Student's t test and interval of a difference with a given variance.

    Examples
    --------
    >>> result = student_test(1.0, 0.25, 10)
    >>> round(result.low, 3), round(result.p, 3)
    (-0.114, 0.073)
    """
    difference, df = float(difference), float(df)
    if not (math.isfinite(difference) and math.isfinite(variance)):
        return untested(difference, "one of the values, or what a unit does to it, is undefined")
    error = math.sqrt(max(variance, 0.0))
    if error <= 1e-12 * max(1.0, abs(difference)):
        if abs(difference) <= 1e-12:
            return PairedTest(difference, difference, difference, 0.0, 1.0, df)
        return untested(difference, "the units do not vary, so nothing tells whether the difference is due to chance")
    half = float(stdtrit(df, (1 + level) / 2)) * error
    p = 2 * float(stdtr(df, -abs(difference) / error))
    return PairedTest(difference, difference - half, difference + half, error, p, df)


def with_ceiling(test: PairedTest, relative_error: float, *, level: float = 0.95) -> PairedTest:
    """Widen the interval of a ceiled difference by the ceiling's own uncertainty.

    Both scores were divided by the same ceiling, which varies independently of them. The interval is Fieller's [1]_: it
    contains 0 exactly when p > 1 − level, as the ceiling does not affect whether there is a difference.

    Parameters
    ----------
    test : PairedTest
        Test with the ceiling assumed to be exact.
    relative_error : float
        Standard error of the ceiling / ceiling.
    level : float
        Confidence level of the interval.

    Returns
    -------
    PairedTest
        Test with the same p. Limits are NaN with a reason if the ceiling itself may be 0.

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


def untested(difference: float, reason: str) -> PairedTest:
    """A difference without a test, and why."""
    return PairedTest(difference, math.nan, math.nan, math.nan, math.nan, math.nan, reason)


Outcome = Literal["win", "tie", "loss", "untested"]
"""Result of a benchmark for the first model; ``'untested'`` is a difference without a test."""


_POINTS = 721  # includes the four corners of the region exactly
_ROUNDS = 4


class Uncertain(NamedTuple):
    """A value and its confidence limits; both limits equal the value if it is exact."""

    value: float
    low: float
    high: float


def ratio_limits(
    score: Uncertain,
    ceiling: Uncertain,
    *,
    correlation: float = 0.0,
    form: Literal["ratio", "explained variance"] = "ratio",
) -> tuple[float, float]:
    """Profile limits of a score relative to its ceiling.

    A value θ is inside if some pair of a score ρ and a ceiling γ > 0 that gives θ is compatible with both estimates,

        (z_ρ² − 2 κ z_ρ z_γ + z_γ²) / (1 − κ²) ≤ 1,

    where z is the distance from the estimate, divided by the half of its interval on that side, and κ the correlation
    of the two estimates. For the ratio ρ / γ and symmetric intervals this is Fieller's set [1]_; where that has two
    parts, it is the one with the estimate, since the other needs a negative ceiling. For explained variance,
    sign(ρ) · ρ² / γ, it is the profile of the same region [2]_. With an exact ceiling the limits are those of the
    score, transformed.

    Parameters
    ----------
    score : Uncertain
        Score with its limits. Intervals that are not symmetric keep their two sides.
    ceiling : Uncertain
        Ceiling > 0 with limits of the same level.
    correlation : float
        Correlation of the two estimates; 0 if they are independent.
    form : {'ratio', 'explained variance'}
        What relates the score to the ceiling.

    Returns
    -------
    (float, float)
        Lower and upper limit. If the ceiling's interval includes 0, at least one of them is infinite. NaN if a number
        is NaN.

    Raises
    ------
    ValueError
        If the ceiling is not positive, the limits are in the wrong order, or the correlation is not in [−1, 1].

    References
    ----------
    .. [1] Fieller 1954, J. R. Stat. Soc. B, https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
    .. [2] Venzon & Moolgavkar 1988, Applied Statistics, https://doi.org/10.2307/2347496

    Examples
    --------
    >>> low, high = ratio_limits(Uncertain(0.4, 0.3, 0.5), Uncertain(0.8, 0.7, 0.9))
    >>> round(low, 3), round(high, 3)
    (0.367, 0.649)
    >>> low, high = ratio_limits(Uncertain(0.3, 0.2, 0.4), Uncertain(0.1, -0.01, 0.2))
    >>> round(low, 3), high
    (1.333, inf)
    >>> low, high = ratio_limits(Uncertain(0.6, 0.4, 0.7), Uncertain(0.5, 0.5, 0.5), form="explained variance")
    >>> round(low, 3), round(high, 3)
    (0.32, 0.98)
    """
    if any(math.isnan(number) for number in (*score, *ceiling, correlation)):
        return math.nan, math.nan
    if ceiling.value <= 0:
        raise ValueError(f"the ceiling is {ceiling.value:.4g}, but a score can only be related to a positive ceiling")
    for name, estimate in (("score", score), ("ceiling", ceiling)):
        if estimate.low > estimate.high:
            raise ValueError(f"the limits of the {name}, {estimate.low} and {estimate.high}, are in the wrong order")
    if not -1 <= correlation <= 1:
        raise ValueError(f"the correlation is {correlation}, but it must be between −1 and 1")
    region = _Region(_within(score), _within(ceiling), correlation)
    low, high = (region.extreme(side, form == "explained variance") for side in (-1, 1))
    return low, high


def undetermined_by(ceiling: Uncertain) -> str | None:
    """Why a score relative to this ceiling is undetermined: the ceiling's interval includes 0; None if it does not.

    Parameters
    ----------
    ceiling : Uncertain
        Ceiling with its limits, NaN if there are none.

    Examples
    --------
    >>> undetermined_by(Uncertain(0.1, -0.01, 0.21))
    'the interval of the ceiling 0.100, -0.010 to 0.210, includes 0'
    >>> undetermined_by(Uncertain(0.1, 0.01, 0.21))
    """
    if not (ceiling.low <= 0 <= ceiling.high and ceiling.low < ceiling.high):
        return None
    value, low, high = (f"{number:.3f}" for number in ceiling)
    return f"the interval of the ceiling {value}, {low} to {high}, includes 0"


def _within(estimate: Uncertain) -> Uncertain:
    """The value moved between its limits, which bootstraps and transformations do not promise."""
    return estimate._replace(value=min(max(estimate.value, estimate.low), estimate.high))


class _Region(NamedTuple):
    score: Uncertain
    ceiling: Uncertain
    correlation: float

    def extreme(self, side: int, squared: bool) -> float:
        """Largest (side 1) or smallest (side −1) value over the part of the region with a positive ceiling."""
        at_zero = self._scores_at_zero()
        if at_zero is not None and (side * at_zero[0] > 0 or side * at_zero[1] > 0 or 0 in at_zero):
            return side * math.inf
        # no extreme is inside the region: the value is monotonic in score and ceiling
        centre, width = 0.0, math.pi
        best = -math.inf
        for _ in range(_ROUNDS):
            angles = centre + width * np.linspace(-1, 1, _POINTS)
            values = side * self._values(angles, squared)
            index = int(values.argmax())
            if values[index] > best:
                best, centre = float(values[index]), float(angles[index])
            width *= 4 / (_POINTS - 1)
        return side * best

    def _values(self, angles: NDArray[np.float64], squared: bool) -> NDArray[np.float64]:
        """Values on the boundary; that of the centre where the ceiling is not positive."""
        a = np.cos(angles)
        b = self.correlation * a + math.sqrt(1 - self.correlation**2) * np.sin(angles)
        scores, ceilings = _placed(self.score, a), _placed(self.ceiling, b)
        positive = ceilings > 0
        scores = np.where(positive, scores, self.score.value)
        ceilings = np.where(positive, ceilings, self.ceiling.value)
        return (np.copysign(scores**2, scores) if squared else scores) / ceilings

    def _scores_at_zero(self) -> tuple[float, float] | None:
        """Smallest and largest score in the region where the ceiling is 0; None if it is always positive."""
        if self.ceiling.low > 0:
            return None
        b = -self.ceiling.value / (self.ceiling.value - self.ceiling.low)
        half = math.sqrt((1 - self.correlation**2) * (1 - b**2))
        low, high = (float(_placed(self.score, np.array(self.correlation * b + end))) for end in (-half, half))
        return low, high


def _placed(estimate: Uncertain, z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values at distances from the estimate, in halves of the interval on each side."""
    return estimate.value + np.where(z < 0, (estimate.value - estimate.low) * z, (estimate.high - estimate.value) * z)
