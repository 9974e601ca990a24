"""Confidence limits of a score relative to its ceiling, both uncertain."""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
