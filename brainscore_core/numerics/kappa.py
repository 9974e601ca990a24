"""Agreement beyond what accuracy alone brings about (Cohen's kappa of being right)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array

__all__ = ["KappaCounts", "kappa", "pairwise_kappa"]


class KappaCounts(NamedTuple):
    """What kappa is made of; arrays of one shape.

    Attributes
    ----------
    n : array of int
        Decisions that both made.
    first, second : array of int
        Right decisions of either among these.
    agreeing : array of int
        Decisions on which both were right or both were wrong.
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
        Of integers.

    Returns
    -------
    array
        In [−1, 1]; NaN without common decisions, and where both are always right or both always wrong: agreement by
        chance is then certain, and kappa 0/0.

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
        Whether the observer was right; ignored where not seen.
    seen : array of bool, observers × stimuli
        Whether the observer saw the stimulus.

    Returns
    -------
    array, observers × observers
        Symmetric; the diagonal is NaN, and so are pairs where kappa is undefined (see :func:`kappa`).

    Examples
    --------
    >>> seen = np.ones((2, 4), dtype=bool)
    >>> pairwise_kappa([[1, 1, 0, 0], [1, 0, 0, 0]], seen).round(3).tolist()
    [[nan, 0.5], [0.5, nan]]
    """
    s = np.asarray(seen, dtype=bool)
    c = np.asarray(correct, dtype=bool) & s
    if c.ndim != 2:
        raise ValueError(f"correct has the shape {c.shape}; observers × stimuli are needed")
    s_, c_ = s.astype(np.float64), c.astype(np.float64)  # counts are exact in float64, and its product is fast
    n, right, both = s_ @ s_.T, c_ @ s_.T, c_ @ c_.T
    parts = (n, right, right.T, n - right - right.T + 2 * both)
    result = kappa(KappaCounts(*(np.rint(part).astype(np.int64) for part in parts)))
    np.fill_diagonal(result, np.nan)
    return result
