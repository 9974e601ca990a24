"""Closeness of two numbers."""

import math
from typing import Any

import numpy as np

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import Metric, Score, Uncertainty, attach_uncertainty, declare_no_error


class ValueDelta(Metric):
    """exp(−scale · |source − target|): 1 where the two are equal, towards 0 the farther apart they are [1]_.

    Parameters
    ----------
    scale : float
        Positive; how fast the score falls with the distance, in 1 / the units of the two numbers.

    Notes
    -----
    The numbers stand for whole experiments, so nothing is left to resample: where one of them is a score with an
    ``error``, ``error`` and ``ci`` follow from theirs (first order; both taken as independent and normal); otherwise
    they are NaN with a reason. ``attrs['raw']`` holds source and target. A NaN in either gives NaN with a reason.

    References
    ----------
    .. [1] Ferguson, Ngo, Lee, DiCarlo & Schrimpf (2024). How Well is Visual Search Asymmetry predicted by a
       Binary-Choice, Rapid, Accuracy-based Visual-search, Oddball-detection (BRAVO) task? OSF.
       https://doi.org/10.17605/OSF.IO/5BA3N

    Examples
    --------
    >>> round(float(ValueDelta(scale=0.75)(0.3, 0.5)), 4)
    0.8607
    """

    scale = "similarity"
    compares = "values"

    def __init__(self, scale: float = 1.0) -> None:
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(f"scale is {scale}; a positive number is needed")
        self._rate = float(scale)

    def __call__(self, source: Any, target: Any) -> Score:
        """Compare two numbers.

        Parameters
        ----------
        source, target : float, Score or array of one number
            For example the integrals of a model's and of people's search asymmetry.

        Returns
        -------
        Score
            In [0, 1].

        Raises
        ------
        MetricInputError
            If either is not one number, or is infinite.
        """
        a, b = (_number(value, role) for value, role in ((source, "source"), (target, "target")))
        score = Score(math.exp(-self._rate * abs(a - b)))
        if math.isnan(float(score)):
            declare_no_error(score, f"the {'source' if math.isnan(a) else 'target'} is NaN")
        else:
            self._attach(score, abs(a - b), math.hypot(_error(source), _error(target)))
        score.attrs.update(
            {
                Score.RAW_VALUES_KEY: Score([a, b], coords={"side": ["source", "target"]}, dims=["side"]),
                "scale": self.scale,
            }
        )
        return score

    def _attach(self, score: Score, distance: float, spread: float) -> None:
        if not spread > 0:
            declare_no_error(score, "two numbers without errors of their own: nothing tells how much they vary")
            return
        near, far = max(distance - 1.959963984540054 * spread, 0.0), distance + 1.959963984540054 * spread
        low, high = (math.exp(-self._rate * limit) for limit in (far, near))
        attach_uncertainty(
            score,
            error=self._rate * spread * float(score),
            ci=(low, high),
            estimates="closeness of the two values, whose own errors were carried over",
            method="delta",
        )


def _number(value: Any, role: str) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiub":
        raise MetricInputError(
            f"the {role} is not a single number: shape {array.shape}, type {array.dtype}",
            remedy="reduce it to one number first, for example with float(assembly.mean())",
        )
    number = float(array.reshape(()))
    if math.isinf(number):
        raise MetricInputError(f"the {role} is {number}", remedy="pass a finite number")
    return number


def _error(value: Any) -> float:
    error = Uncertainty.of(value).standard_error
    return 0.0 if math.isnan(error) else error
