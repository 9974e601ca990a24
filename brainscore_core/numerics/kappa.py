"""Agreement of errors beyond the agreement that follows from accuracy (Cohen's kappa of correct responses)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array

__all__ = ["KappaCounts", "kappa", "pairwise_kappa"]


class KappaCounts(NamedTuple):
    """The counts from which kappa is computed; arrays of the same shape.

    Attributes
    ----------
    n : array of int
        Number of decisions that both observers made.
    first, second : array of int
        Number of correct decisions of each among these.
    agreeing : array of int
        Number of decisions in which both were correct or both were wrong.
    """

    n: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    agreeing: NDArray[np.int64]


def kappa(counts: KappaCounts) -> Array:
    """Error consistency (observed − expected) / (1 − expected).

    Parameters
    ----------
    counts : KappaCounts
        Counts of decisions.

    Returns
    -------
    array
        In [−1, 1]; NaN without common decisions, and if both are always correct or both always wrong: agreement by
        chance is then certain, and kappa is 0/0.

    References
    ----------
    Geirhos, Meding & Wichmann (2020). NeurIPS 33. https://doi.org/10.48550/arXiv.2006.16736

    Examples
    --------
    >>> one = KappaCounts(*np.array([10, 5, 5, 8]))
    >>> float(kappa(one).round(6))
    0.6
    """
    n, first, second, agreeing = (np.asarray(part, dtype=np.int64) for part in counts)
    square = n * n
    expected = first * second + (n - first) * (n - second)
    rest = square - expected
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(rest > 0, (agreeing * n - expected) / np.where(rest > 0, rest, 1), np.nan))


def pairwise_kappa(correct: ArrayLike, seen: ArrayLike) -> Array:
    """Error consistency of every pair of observers, each on the stimuli that both saw.

    Parameters
    ----------
    correct : array of bool, observers × stimuli
        Whether the observer was correct; ignored for stimuli that were not seen.
    seen : array of bool, observers × stimuli
        Whether the observer saw the stimulus.

    Returns
    -------
    array, observers × observers
        Symmetric; NaN on the diagonal and for pairs with an undefined kappa (see :func:`kappa`).

    Examples
    --------
    >>> seen = np.ones((2, 4), dtype=bool)
    >>> pairwise_kappa([[1, 1, 0, 0], [1, 0, 0, 0]], seen).round(3).tolist()
    [[nan, 0.5], [0.5, nan]]
    """
    s = np.asarray(seen, dtype=bool)
    c = np.asarray(correct, dtype=bool) & s
    if c.ndim != 2:
        raise ValueError(f"correct has the shape {c.shape}; it must be observers × stimuli")
    s_, c_ = s.astype(np.float64), c.astype(np.float64)  # counts are exact in float64, and products are fast
    n, right, both = s_ @ s_.T, c_ @ s_.T, c_ @ c_.T
    parts = (n, right, right.T, n - right - right.T + 2 * both)
    result = kappa(KappaCounts(*(np.rint(part).astype(np.int64) for part in parts)))
    np.fill_diagonal(result, np.nan)
    return result
