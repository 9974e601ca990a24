"""Correct p-values of many tests."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Correction", "corrected"]

Correction = Literal["holm", "benjamini-hochberg", "none"]


def corrected(p_values: ArrayLike, method: Correction = "holm") -> NDArray[np.float64]:
    """Correct p-values of a family of tests.

    Parameters
    ----------
    p_values : array
        In [0, 1], any shape; NaN is no test: it stays NaN and does not count.
    method : ``'holm'``, ``'benjamini-hochberg'`` or ``'none'``
        Holm [1]_: below α with a probability of at most α if any difference is none, whatever the dependence.
        Benjamini & Hochberg [2]_: of the differences found, a share of α is expected to be none, for independent or
        positively dependent tests.

    Returns
    -------
    array
        Of the same shape.

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
        raise ValueError(f"unknown correction {method!r}; known: {', '.join(map(repr, get_args(Correction)))}")
    values = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(values)
    p = values[known]
    if ((p < 0) | (p > 1)).any():
        raise ValueError("a p-value is not in [0, 1]")
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
    result[known] = adjusted
    return result
