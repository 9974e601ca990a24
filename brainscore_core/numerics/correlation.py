"""Correlations of corresponding columns."""

import numpy as np
from numpy.typing import ArrayLike

from brainscore_core.numerics._arrays import Array
from brainscore_core.numerics._ranks import mean_ranks

__all__ = ["cross_pearson", "pearson", "spearman", "standardised"]

_ROUNDING = 1e-13
"""A spread below this share of the values' size is rounding, not variation."""


def pearson(X: ArrayLike, Y: ArrayLike, *, axis: int = 0) -> Array:
    """Pearson correlation of each column of X with the same column of Y.

    Parameters
    ----------
    X, Y : array of the same shape
        For example stimuli × neuroids.
    axis : int
        Axis of the observations.

    Returns
    -------
    array
        The shape of X without `axis`, in [−1, 1]. NaN where a column is constant (up to rounding) in X or Y, holds a
        NaN, or has fewer than two observations: a correlation is undefined there.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> pearson([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]], [[2.0, 1.0], [4.0, 2.0], [6.0, 3.0]])
    array([ 1., nan])
    """
    x, y = _pair(X, Y, axis=axis)
    if len(x) < 2:
        return np.full(x.shape[1:], np.nan)
    x, y = standardised(x), standardised(y)
    return np.asarray(np.clip(np.einsum("i...,i...->...", x, y), -1.0, 1.0))


def cross_pearson(X: ArrayLike, Y: ArrayLike) -> Array:
    """Pearson correlation of each column of X with each column of Y, in one product.

    Parameters
    ----------
    X, Y : array, n × p and n × q
        With corresponding rows.

    Returns
    -------
    array, p × q
        In [−1, 1]; NaN as in :func:`pearson`.

    Raises
    ------
    ValueError
        If the two are no matrices of the same length.

    Examples
    --------
    >>> cross_pearson([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]], [[0.0], [1.0], [2.0]]).round(6).tolist()
    [[1.0], [-1.0]]
    """
    x, y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise ValueError(f"X has the shape {x.shape} and Y has {y.shape}; two matrices of the same length are needed")
    if len(x) < 2:
        return np.full((x.shape[1], y.shape[1]), np.nan)
    return np.asarray(np.clip(standardised(x).T @ standardised(y), -1.0, 1.0))


def spearman(X: ArrayLike, Y: ArrayLike, *, axis: int = 0) -> Array:
    """Spearman rank correlation of each column of X with the same column of Y; ties share their mean rank.

    Parameters
    ----------
    X, Y : array of the same shape
        For example stimuli × neuroids.
    axis : int
        Axis of the observations.

    Returns
    -------
    array
        The shape of X without `axis`, in [−1, 1]; NaN as in :func:`pearson`.

    Examples
    --------
    >>> float(spearman([1.0, 2.0, 3.0], [1.0, 10.0, 100.0]))
    1.0
    """
    x, y = _pair(X, Y, axis=axis)
    return pearson(mean_ranks(x), mean_ranks(y))


def _pair(X: ArrayLike, Y: ArrayLike, *, axis: int) -> tuple[Array, Array]:
    x, y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"X has the shape {x.shape} but Y has {y.shape}; corresponding columns are correlated")
    if x.ndim == 0:
        raise ValueError("X and Y are single numbers; a correlation needs observations")
    return np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)


def standardised(x: Array) -> Array:
    """Columns of mean 0 and length 1; NaN where there is no variation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.asarray(np.maximum(x.max(axis=0), -x.min(axis=0)))
        result = np.asarray(x / np.where(size > 0, size, 1.0))  # keeps squares representable
        result -= result.mean(axis=0)
        length = np.sqrt(np.einsum("i...,i...->...", result, result))
        constant = ~(length > _ROUNDING * np.sqrt(len(x)))
        result /= np.where(constant, np.nan, length)
        return result
