"""Number of dimensions of a representation that encode factors of the stimuli."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, as_matrix, chunks


class FactorDimensions(NamedTuple):
    """Softmax dimensions of factors.

    Attributes
    ----------
    factors : array
        Distinct factors, sorted.
    scores : array, factors
        Covariance of pairs that share a factor, relative to the total variance; at most about 1.
    shares : array, factors + 1
        Softmax over the scores and that of the residual, which is 1; the residual is last.
    dimensions : array of int, factors + 1
        Dimensions of each factor, rounded down; the residual has the rest.
    left_out : array, pairs × factors
        Shares of the factors when one pair is left out.
    """

    factors: NDArray[Any]
    scores: Array
    shares: Array
    dimensions: NDArray[np.int64]
    left_out: Array


def factor_dimensions(first: ArrayLike, second: ArrayLike, factors: ArrayLike) -> FactorDimensions:
    """Estimate the number of dimensions that encode each factor, from pairs of stimuli that share it [1]_ [2]_.

    Parameters
    ----------
    first, second : array, pairs × neuroids
        Responses to the first and the second stimulus of each pair.
    factors : array, pairs
        The factor that a pair has in common.

    Returns
    -------
    FactorDimensions
        Shares are NaN and dimensions 0 if nothing varies.

    Notes
    -----
    With m the mean of a factor's responses (both sides), its score is the mean over its pairs of (a − m)·(b − m),
    divided by the total variance around the mean of all responses, (|a|² + |b|²)/2.

    References
    ----------
    .. [1] Esser, Rombach & Ommer (2020). CVPR, 9223–9232. https://doi.org/10.1109/CVPR42600.2020.00924
    .. [2] Islam et al. (2021). ICLR. https://openreview.net/forum?id=NcFEZOi-rLa

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, noise = rng.standard_normal((2, 400, 50))
    >>> result = factor_dimensions(a, np.where(np.arange(400)[:, None] < 200, a, noise), ["shape"] * 200 + ["x"] * 200)
    >>> result.factors.tolist(), result.dimensions.tolist()
    (['shape', 'x'], [21, 7, 22])
    """
    a, b = as_matrix(first, "first"), as_matrix(second, "second")
    names, codes = np.unique(np.asarray(factors), return_inverse=True)
    if a.shape != b.shape or len(a) != len(codes):
        raise ValueError(
            f"first is {a.shape}, second {b.shape}, with {len(codes)} factors; all must have one row per pair"
        )
    n, k = len(a), len(names)
    member = (codes == np.arange(k)[:, None]).astype(np.float64)
    size = member.sum(axis=1)
    dot, square, length, along, within = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(k)
    for columns in chunks(a.shape[1], n):
        x, y = a[:, columns].astype(np.float64), b[:, columns].astype(np.float64)
        center = (x.mean(axis=0) + y.mean(axis=0)) / 2
        x, y = x - center, y - center
        middle = (x + y) / 2
        means = member @ middle / size[:, None]
        dot += np.einsum("ij,ij->i", x, y)
        square += (np.einsum("ij,ij->i", x, x) + np.einsum("ij,ij->i", y, y)) / 2
        length += np.einsum("ij,ij->i", middle, middle)
        along += np.einsum("ij,ij->i", middle, means[codes])
        within += np.einsum("ij,ij->i", means, means)
    covariance = member @ dot / size - within
    variance = square.mean()
    nothing = not variance > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = covariance / variance if not nothing else np.full(k, np.nan)
        shares = _softmax(scores[None])[0]
        group_sizes = size[codes]
        covariance_left = (group_sizes * (member @ dot / size)[codes] - dot) / (group_sizes - 1)
        moved = (group_sizes**2 * within[codes] - 2 * group_sizes * along + length) / (group_sizes - 1) ** 2
        left_covariance = np.tile(covariance, (n, 1))
        left_covariance[np.arange(n), codes] = covariance_left - moved
        left_variance = (n * variance - square) / (n - 1) - length / (n - 1) ** 2
        left_out = _softmax(left_covariance / left_variance[:, None])[:, :-1]
    counts = np.zeros(k + 1, dtype=np.int64)
    if not nothing:
        counts[:-1] = np.floor(shares[:-1] * a.shape[1])
        counts[-1] = a.shape[1] - counts.sum()
    return FactorDimensions(names, scores, shares, counts, left_out)


def _softmax(scores: Array) -> Array:
    """Softmax over each row and a residual of 1."""
    with_residual = np.hstack([scores, np.ones((len(scores), 1))])
    weights = np.exp(with_residual - with_residual.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
