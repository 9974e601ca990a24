"""Psychometric functions: accuracy as a function of the strength of a stimulus."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import (
    log_ndtr,
    ndtr,
    ndtri,
)  # at the top, as nothing imports this module but the metrics that need it

from brainscore_core.numerics._arrays import Array

__all__ = ["LAPSES", "PsychometricFit", "before_asymptote", "fit_psychometric"]

LAPSES = (0.03, 0.5)
"""Bounds of the lapse rate in fits."""

_SLOPES = np.geomspace(0.05, 200, 40)  # times the standard deviation of x


class PsychometricFit(NamedTuple):
    """guess + (1 − guess − lapse) · Φ(slope · (x − location)).

    Attributes
    ----------
    slope : float
        In 1 / units of x.
    location : float
        Where the rise is steepest, in units of x.
    lapse : float
        1 − accuracy for the strongest stimuli.
    guess : float
        Accuracy for the weakest stimuli.
    r2 : float
        Explained share of the variance of the mean accuracies at each x; NaN where these do not vary.
    """

    slope: float
    location: float
    lapse: float
    guess: float
    r2: float

    def predict(self, x: ArrayLike) -> Array:
        """Accuracy at x."""
        strength = self.slope * (np.asarray(x, dtype=np.float64) - self.location)
        return np.asarray(self.guess + (1 - self.guess - self.lapse) * ndtr(strength))

    def inverse(self, accuracy: float) -> float:
        """Strength at which an accuracy is reached; NaN for one that is never reached."""
        share = (accuracy - self.guess) / (1 - self.guess - self.lapse) if self.lapse < 1 - self.guess else np.nan
        return float(self.location + ndtri(share) / self.slope) if 0 < share < 1 and self.slope != 0 else float("nan")


def before_asymptote(x: ArrayLike, accuracy: ArrayLike) -> int:
    """How many points to keep: up to the last one within a standard deviation of the best.

    What comes after is a decline, which a function that only rises cannot follow.

    Parameters
    ----------
    x, accuracy : array (points,)
        Sorted by x.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> before_asymptote([1, 2, 3, 4, 5, 6], [0.5, 0.6, 0.9, 1.0, 0.6, 0.5])
    4
    """
    values = np.asarray(accuracy, dtype=np.float64)
    if values.shape != np.shape(x) or not values.size:
        raise ValueError(
            f"accuracy has the shape {values.shape}, x {np.shape(x)}; one of both is needed for each point"
        )
    # the tolerance keeps the last point of a constant
    return int(np.flatnonzero(values >= values.max() - values.std() - 1e-12)[-1]) + 1


def fit_psychometric(
    x: ArrayLike, correct: ArrayLike, *, guess: float = 0.5, lapses: tuple[float, float] = LAPSES
) -> PsychometricFit:
    """Cumulative Gaussian with the largest likelihood.

    Parameters
    ----------
    x : array (trials,)
        Strength of the stimulus.
    correct : array of bool (trials,)
        Whether the answer was right.
    guess : float
        Accuracy without any stimulus; 0.5 for two alternatives.
    lapses : (float, float)
        Bounds of the lapse rate.

    Returns
    -------
    PsychometricFit
        Slope and location are free (a slope below 0 is a fall). Started from the best point of a grid, then L-BFGS-B:
        where accuracy jumps from one strength to the next, several fits are about equally likely.

    Raises
    ------
    ValueError
        If x has fewer than three different values, or holds NaN.

    Examples
    --------
    >>> x = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 200)
    >>> correct = np.random.default_rng(0).random(1000) < 0.5 + 0.45 * ndtr(2 * (x - 3))
    >>> round(fit_psychometric(x, correct).location, 1)
    3.0
    """
    from scipy.optimize import minimize

    strength, answers = np.asarray(x, dtype=np.float64), np.asarray(correct, dtype=bool)
    if strength.shape != answers.shape or strength.ndim != 1 or not np.isfinite(strength).all():
        raise ValueError(f"x {strength.shape} and correct {answers.shape} must be finite and of one length")
    points, codes = np.unique(strength, return_inverse=True)
    if len(points) < 3:
        raise ValueError(f"x has {len(points)} different values; at least 3 are needed to fit slope and location")
    n, right = np.bincount(codes), np.bincount(codes, answers)
    middle, spread = points.mean(), points.std()
    u = (points - middle) / spread  # so that slope and location are of one size

    def loss(parameters: Array) -> tuple[float, Array]:
        slope, location, lapse = parameters
        z = slope * (u - location)
        rise, density = ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        height = 1 - guess - lapse
        p = guess + height * rise
        q = lapse + height * np.exp(log_ndtr(-z))  # 1 − p without cancellation
        by_p = (n - right) / q - right / p
        gradient = [by_p * height * density * (u - location), by_p * height * density * -slope, by_p * -rise]
        return float(-(right @ np.log(p) + (n - right) @ np.log(q))), np.array([part.sum() for part in gradient])

    grid = [
        (slope, location, lapse)
        for slope in _SLOPES
        for location in np.linspace(u[0], u[-1], 20)
        for lapse in (lapses[0], min(0.1, lapses[1]))
    ]
    best = min(grid, key=lambda parameters: loss(np.array(parameters))[0])
    bounds = [(None, None), (None, None), lapses]
    result = minimize(loss, best, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9})
    slope, location, lapse = (float(value) for value in result.x)
    fit = PsychometricFit(float(slope / spread), float(middle + spread * location), lapse, guess, float("nan"))
    return fit._replace(r2=_r2(right / n, fit.predict(points)))


def _r2(measured: NDArray[np.float64], predicted: Array) -> float:
    total = float(((measured - measured.mean()) ** 2).sum())
    return float("nan") if total < 1e-12 else 1 - float(((measured - predicted) ** 2).sum()) / total
