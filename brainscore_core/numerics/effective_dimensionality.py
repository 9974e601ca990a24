"""Effective number of dimensions of a representation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from brainscore_core.numerics._matrices import Array, as_matrix, chunk_columns, chunk_rows, column_means
from brainscore_core.numerics._products import FLAT, centred_gram, moments


class Dimensionality(NamedTuple):
    """Effective dimensionality of a representation.

    Attributes
    ----------
    value : float
        NaN if undefined.
    log_influence : array, stimuli
        Derivative of its logarithm by each stimulus's weight, times the number of stimuli.
    reason : str or None
        Why the value is NaN.
    log_bias : float
        Bias of the logarithm due to the finite number of stimuli, estimated by the jackknife.
    """

    value: float
    log_influence: Array
    reason: str | None = None
    log_bias: float = 0.0


def participation_ratio(X: ArrayLike) -> Dimensionality:
    """Participation ratio (Σλ)² / Σλ² of the covariance's eigenvalues λ.

    It is d if d directions have equal variance and the others none, and 1 if only one direction varies.

    Parameters
    ----------
    X : array, stimuli × features
        The smaller of the features × features and the stimuli × stimuli matrix is computed, in float64 and in chunks;
        eigenvalues are not computed.

    Returns
    -------
    Dimensionality
        Between 1 and min(stimuli − 1, features). It is biased downwards unless there are many more stimuli than
        dimensions. NaN with a reason if nothing varies.

    Raises
    ------
    ValueError
        If there are fewer than 2 stimuli, or values are not finite.

    References
    ----------
    Gao et al. (2017). bioRxiv 214262. https://doi.org/10.1101/214262

    Examples
    --------
    >>> X = np.vstack([np.eye(3), -np.eye(3)])
    >>> round(participation_ratio(X).value, 6)
    3.0
    """
    matrix = as_matrix(X, "X")
    n, p = matrix.shape
    if n < 2:
        raise ValueError(f"{n} stimulus: dimensionality requires at least 2")
    if p < n:
        squared_lengths, along, square = _from_features(matrix)
    else:
        K = centred_gram(matrix, "X")
        squared_lengths = np.diag(K).copy()
        along = np.einsum("ij,ij->i", K, K) / n
        square = float(along.sum()) / n
    mean = float(squared_lengths.mean())
    if not mean > 0 or not square > 0:
        return Dimensionality(np.nan, np.full(n, np.nan), "does not vary over stimuli")
    influence = 2 * (squared_lengths - mean) / mean - 2 * (along - square) / square
    value = mean**2 / square
    # without stimulus i, the sum of outer products x xᵀ lacks n / (n − 1) times its own
    factor = n / (n - 1)
    length = n * mean - factor * squared_lengths
    squares = n**2 * square - 2 * factor * n * along + factor**2 * squared_lengths**2
    if not ((length > FLAT * n * mean).all() and (squares > FLAT * n**2 * square).all()):
        return Dimensionality(value, np.asarray(influence))
    bias = (n - 1) * float(np.mean(np.log(length**2 / squares)) - np.log(value))
    return Dimensionality(value, np.asarray(influence), log_bias=bias)


def effective_dimensionality(X: ArrayLike) -> float:
    """Value of :func:`participation_ratio` alone, in half the time for features in single precision.

    Parameters
    ----------
    X : array, stimuli × features
        Products of features in single precision are computed in single precision, after the mean of each feature is
        subtracted; the result differs by less than 1e-4 of its value.

    Returns
    -------
    float
        NaN if nothing varies.

    Raises
    ------
    ValueError
        If there are fewer than 2 stimuli, or values are not finite.

    Examples
    --------
    >>> round(effective_dimensionality(np.vstack([np.eye(3), -np.eye(3)])), 6)
    3.0
    """
    matrix = as_matrix(X, "X")
    n, p = matrix.shape
    if n < 2 or matrix.dtype != np.float32:
        return participation_ratio(matrix).value
    mean = column_means(matrix)
    centre = mean.astype(np.float32)
    products = np.zeros((min(n, p), min(n, p)), dtype=np.float32)
    with np.errstate(invalid="ignore", over="ignore"):  # computed in double precision below
        if p < n:
            for rows in chunk_rows(n, p):
                block = np.subtract(matrix[rows], centre, dtype=np.float32)
                products += block.T @ block
        else:
            for columns in chunk_columns(n, p):
                block = np.subtract(matrix[:, columns], centre[columns], dtype=np.float32)
                products += block @ block.T
        trace = float(np.trace(products, dtype=np.float64))
        square = float(np.einsum("i,i->", products.ravel(), products.ravel(), dtype=np.float64))
    if not (max(1e-8 * n * float(mean @ mean), 1e-15) < trace < 1e15):
        return participation_ratio(matrix).value
    return trace**2 / square


def _from_features(X: np.ndarray) -> tuple[Array, Array, float]:
    """Squared length of each stimulus, variance along it, and the sum of squares of the covariance."""
    n = len(X)
    mean = column_means(X)
    C = moments(X, np.zeros((n, 0)), mean=mean)[0] / n
    if not np.isfinite(C).all():
        row = np.flatnonzero(~np.isfinite(X).all(axis=1))
        raise ValueError(f"X is not finite{f' in row {row[0]}' if len(row) else ''}; features must be finite")
    centred = np.subtract(X, mean, dtype=np.float64)
    squared_lengths = np.einsum("ij,ij->i", centred, centred)
    if float(squared_lengths.sum()) <= FLAT**2 * n * float(mean @ mean):
        squared_lengths[:] = 0.0
    return squared_lengths, np.einsum("ij,ij->i", centred @ C, centred), float(np.einsum("ij,ij->", C, C))
