"""Psychometric functions: accuracy as a function of the strength of a stimulus."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr, ndtri  # imported here, as only the metrics that use it import this module

from brainscore_core.numerics._matrices import Array

LAPSES = (0.03, 0.5)
"""Bounds of the lapse rate in fits."""

_START_LAPSES = (0.03, 0.1, 0.25, 0.45)
_STARTS = 16
_EQUAL = 1e-11  # losses that differ by less count as equal


class PsychometricFit(NamedTuple):
    """guess + (1 − guess − lapse) · Φ(slope · (x − location)).

    - `slope`: in 1 / units of x.
    - `location`: position of the steepest rise, in units of x.
    - `lapse`: 1 − accuracy for the strongest stimuli.
    - `guess`: accuracy for the weakest stimuli.
    - `r2`: explained fraction of the variance of the mean accuracies at each x; NaN if these do not vary.
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
        """Strength at which an accuracy is reached; NaN if it is never reached."""
        share = (accuracy - self.guess) / (1 - self.guess - self.lapse) if self.lapse < 1 - self.guess else np.nan
        return float(self.location + ndtri(share) / self.slope) if 0 < share < 1 and self.slope != 0 else float("nan")


def before_asymptote(x: ArrayLike, accuracy: ArrayLike) -> int:
    """Number of points to keep: up to the last one within a standard deviation of the best.

    Later points are a decline, which a rising function cannot fit.

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
        raise ValueError(f"accuracy has the shape {values.shape}, x {np.shape(x)}; both must have one value per point")
    # without the tolerance, rounding could drop points of a constant accuracy
    return int(np.flatnonzero(values >= values.max() - values.std() - 1e-12)[-1]) + 1


def fit_psychometric(
    x: ArrayLike, correct: ArrayLike, *, guess: float = 0.5, lapses: tuple[float, float] = LAPSES
) -> PsychometricFit:
    """Fit a cumulative Gaussian by maximum likelihood.

    Parameters
    ----------
    x : array (trials,) or (points,)
        Strength of the stimulus.
    correct : array (trials,) or (points,)
        Whether the answer was correct, or the fraction of correct answers; all values have equal weight. With single
        trials, strengths are thus weighted by their number of trials; with fractions, all strengths count equally.
    guess : float
        Accuracy without any stimulus; 0.5 for two alternatives.
    lapses : (float, float)
        Bounds of the lapse rate.

    Returns
    -------
    PsychometricFit
        Slope and location are free (a slope below 0 is a fall). SLSQP starts from the best local optima of a grid; the
        most likely result is returned, and among equally likely ones the shallowest. If accuracy jumps from one
        strength to the next, the data do not determine the location in between: it is then the midpoint.

    Raises
    ------
    ValueError
        If x has fewer than three different values, or a value is NaN or not a fraction.

    Examples
    --------
    >>> x = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 200)
    >>> correct = np.random.default_rng(0).random(1000) < 0.5 + 0.45 * ndtr(2 * (x - 3))
    >>> round(fit_psychometric(x, correct).location, 1)
    3.0
    """
    from scipy.optimize import minimize

    strength, answers = np.asarray(x, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if strength.shape != answers.shape or strength.ndim != 1 or not np.isfinite(strength).all():
        raise ValueError(f"x {strength.shape} and correct {answers.shape} must be finite and have the same length")
    if not ((answers >= 0) & (answers <= 1)).all():
        raise ValueError("correct has values outside [0, 1]; use 0 or 1, or fractions of correct answers")
    points, codes = np.unique(strength, return_inverse=True)
    if len(points) < 3:
        raise ValueError(f"x has {len(points)} different values; a fit of slope and location requires at least 3")
    likelihood = _Likelihood(points, np.bincount(codes), np.bincount(codes, answers).astype(np.float64), guess)
    bounds = [(None, None), (None, None), lapses]
    options = {"ftol": 1e-15, "maxiter": 1000}
    ends = [
        minimize(likelihood.loss, start, jac=True, bounds=bounds, method="SLSQP", options=options)
        for start in likelihood.starts(lapses)
    ]
    ends = [end for end in ends if math.isfinite(end.fun)]
    least = min(end.fun for end in ends)
    equal = [end.x for end in ends if end.fun <= least + _EQUAL]
    return likelihood.fit(min(equal, key=lambda parameters: abs(parameters[0])))


class _Likelihood:
    """Mean negative log-likelihood of (slope, offset, lapse), with the argument slope · u − offset of Φ.

    With u in standard deviations of the points, and an offset instead of a location, the parameters have similar sizes.
    """

    def __init__(self, points: Array, n: NDArray[np.intp], right: Array, guess: float) -> None:
        self._points, self._n, self._right, self._guess = points, n, right, guess
        self._middle, self._spread = points.mean(), points.std()
        self._u = (points - self._middle) / self._spread

    def loss(self, parameters: Array) -> tuple[float, Array]:
        """Value and gradient."""
        slope, offset, lapse = parameters
        z = slope * self._u - offset
        rise, density = ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        height = 1 - self._guess - lapse
        p = self._guess + height * rise
        q = lapse + height * np.exp(log_ndtr(-z))  # 1 − p without cancellation
        wrong = self._n - self._right
        by_p = wrong / q - self._right / p
        gradient = [by_p * height * density * self._u, by_p * -height * density, by_p * -rise]
        loss = -(self._right @ np.log(p) + wrong @ np.log(q))
        return float(loss / self._n.sum()), np.array([terms.sum() for terms in gradient]) / self._n.sum()

    def starts(self, lapses: tuple[float, float]) -> list[Array]:
        """Starting points: optima of a grid, and jumps at each strength and between neighbouring strengths."""
        gaps = np.diff(self._u)
        lapse = np.unique(np.clip(_START_LAPSES, *lapses))
        rises = np.geomspace(0.05, 12 / np.median(gaps), 30)
        slopes = np.concatenate([-rises[::-1], rises])
        grid, losses = self._best_lapse(slopes[:, None], np.linspace(self._u[0], self._u[-1], 25), lapse)
        rim = np.pad(losses, 1, constant_values=np.inf)
        around = [rim[i : i + losses.shape[0], j : j + losses.shape[1]] for i in range(3) for j in range(3)]
        optimal = losses <= np.min(around, axis=0)
        nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
        at = np.concatenate([self._u, self._u[1:] - gaps / 2])
        jump = 12 / np.concatenate([nearest, gaps])
        jumps, their_losses = self._best_lapse(np.stack([jump, -jump]), at, lapse)
        candidates = np.concatenate([grid[optimal], jumps.reshape(-1, 3)])
        order = np.argsort(np.concatenate([losses[optimal], their_losses.ravel()]), kind="stable")
        return list(candidates[order[:_STARTS]])

    def _best_lapse(self, slopes: Array, locations: Array, lapses: Array) -> tuple[Array, Array]:
        """Parameters and losses with the best of the given lapse rates for each slope and location."""
        slopes, locations = np.broadcast_arrays(slopes, locations)
        rise = ndtr(slopes[..., None] * (self._u - locations[..., None]))
        each = []
        for lapse in lapses:
            height = 1 - self._guess - lapse
            p, q = self._guess + height * rise, lapse + height * (1 - rise)
            each.append(-(np.log(p) @ self._right + np.log(q) @ (self._n - self._right)))
        best = np.argmin(each, axis=0)
        return np.stack([slopes, slopes * locations, lapses[best]], axis=-1), np.min(each, axis=0)

    def fit(self, parameters: Array) -> PsychometricFit:
        """Parameters in units of x; see :meth:`_jump`."""
        slope, offset, lapse = (float(value) for value in self._jump(parameters))
        location = float(self._middle + self._spread * (offset / slope if slope else 0.0))
        fit = PsychometricFit(float(slope / self._spread), location, lapse, self._guess, float("nan"))
        return fit._replace(r2=_r2(self._right / self._n, fit.predict(self._points)))

    def _jump(self, parameters: Array) -> Array:
        """Choose one of the equally likely jumps if accuracy jumps between two strengths or at one strength.

        A jump between two strengths is placed in the middle; a jump at one strength passes through its accuracy. Both
        rise by 16 standard deviations from one strength to the next, so that the fit does not depend on where the
        optimiser stopped. Other parameters are returned unchanged.
        """
        slope, offset, lapse = (float(value) for value in parameters)
        loss = self.loss(parameters)[0]
        location = offset / slope if slope else math.inf
        above = int(np.searchsorted(self._u, location))
        if not 0 < above < len(self._u):
            return parameters
        gaps = np.diff(self._u)
        middle = (self._u[above - 1] + self._u[above]) / 2
        steep = math.copysign(16 / gaps[above - 1], slope)
        jumps = [(steep, steep * middle, lapse)]
        for at in (above - 1, above):
            steep = math.copysign(16 / gaps[max(at - 1, 0) : at + 1].min(), slope)
            jumps.append((steep, steep * self._u[at] - (slope * self._u[at] - offset), lapse))
        equal = [np.array(jump) for jump in jumps if self.loss(np.array(jump))[0] <= loss + _EQUAL]
        return equal[0] if equal else parameters


def _r2(measured: NDArray[np.float64], predicted: Array) -> float:
    total = float(((measured - measured.mean()) ** 2).sum())
    return float("nan") if total < 1e-12 else 1 - float(((measured - predicted) ** 2).sum()) / total
