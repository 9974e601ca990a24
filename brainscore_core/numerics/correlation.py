"""Pearson and Spearman correlations: of columns, and of benchmarks over models."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, as_matrix

Ties = tuple[NDArray[np.intp], NDArray[np.intp]] | None
"""Start and end of each distinct value in an order; None if all values are distinct."""

BLOCK = 2**14
"""Number of observations that are processed together, so that they stay in the cache."""


@dataclass(frozen=True)
class Ranks:
    """Observations in order.

    Attributes
    ----------
    order : array of int
        Positions of the observations, from the least to the largest.
    places : array of int
        Place of each observation in the order.
    ties : tuple of array of int, or None
    """

    order: NDArray[np.intp]
    places: NDArray[np.integer]
    ties: Ties

    @property
    def doubled(self) -> NDArray[np.integer]:
        """For each observation, twice the number of observations below it, plus that of its ties (including itself)."""
        return self._doubled(self.places.copy())

    def in_order_of(self, other: "Ranks") -> NDArray[np.integer]:
        """Return `doubled`, for the observations in another order."""
        positions = np.empty_like(self.places)
        return self._doubled(np.take(self.places, other.order, out=positions, mode="clip"))  # other modes make a copy

    def _doubled(self, positions: NDArray[np.integer]) -> NDArray[np.integer]:
        if self.ties is None:
            positions *= 2
            positions += 1
            return positions
        return around_ties(np.arange(len(positions) + 1, dtype=positions.dtype), self.ties)[positions]

    def blocks(self) -> Iterator[tuple[slice, Ties, Array]]:
        """Places in the order, some at a time, which do not divide ties; the ties; and what `in_order_of` returns."""
        n = len(self.order)
        distinct = n if self.ties is None else len(self.ties[0])
        for first in range(0, distinct, BLOCK):
            positions, ties = slice(first, min(first + BLOCK, n)), None
            if self.ties is not None:
                starts, ends = (bounds[first : first + BLOCK] for bounds in self.ties)
                positions = slice(int(starts[0]), int(ends[-1]))
                ties = starts - starts[0], ends - starts[0]
            yield positions, ties, around_ties(np.arange(positions.start, positions.stop + 1.0), ties)


def around_ties(totals: NDArray, ties: Ties) -> NDArray:
    """For each place in an order, the running total before it and its ties, plus the one after them."""
    if ties is None:
        return np.asarray(totals[:-1] + totals[1:])
    starts, ends = ties
    return np.repeat(totals[starts] + totals[ends], ends - starts)


def rank_observations(values: Array) -> Ranks:
    """Order `values`, which must not contain NaN."""
    n = len(values)
    order, equal = _sorted(values)
    ties = None
    if len(equal):
        starts = np.delete(np.arange(n), equal + 1)
        ties = starts, np.append(starts[1:], n)
    positions: NDArray[np.integer] = np.empty(n, dtype=np.int32 if n < 2**30 else np.int64)
    positions[order] = np.arange(n, dtype=positions.dtype)
    return Ranks(order, positions, ties)


def mean_ranks(values: NDArray) -> Array:
    """Ranks along the first axis, from 1; ties share their mean rank, and a NaN makes the whole column NaN."""
    columns = np.asarray(values, dtype=np.float64).reshape(len(values), int(np.prod(np.shape(values)[1:])))
    result = np.full(columns.shape, np.nan)
    for number in np.flatnonzero(~np.isnan(columns).any(axis=0)):
        result[:, number] = (rank_observations(np.ascontiguousarray(columns[:, number])).doubled + 1) / 2
    return result.reshape(np.shape(values))


_MANY = 20_000
"""Number of values from which keys with their numbers are sorted."""

_SWAPS = 8


def _sorted(values: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Order of values, ties in any order; and the places in it whose value equals the next one.

    NumPy sorts integers several times faster than it finds the order of numbers. The first bits of an integer are those
    of a value, the others its number; values that agree in these bits are compared and swapped afterwards.
    """
    n = len(values)
    low, high = (values.min(), values.max()) if n else (0.0, 0.0)
    if n >= _MANY and low < high < np.inf:
        bits = (n - 1).bit_length()
        scale, keys = 2.0 ** (62 - bits) / (high - low), np.empty(n, dtype=np.int64)
        for start in range(0, n, BLOCK):
            scaled = values[start : start + BLOCK] - low
            scaled *= scale
            block = keys[start : start + BLOCK]
            block[:] = scaled
            block <<= bits
            block += np.arange(start, start + len(block))
        keys.sort()
        equal_positions = []
        for start in range(0, n, BLOCK):
            block, after = keys[start : start + BLOCK], keys[start + 1 : start + BLOCK + 1]
            equal_positions.append(start + np.flatnonzero((block[: len(after)] ^ after) < 1 << bits))
            block &= (1 << bits) - 1
        near = np.concatenate(equal_positions)
        for _ in range(_SWAPS):
            here, following = values[keys[near]], values[keys[near + 1]]
            wrong = near[following < here]
            if not len(wrong):
                return keys, near[following == here]
            if len(wrong) > n // 100:  # most values are close to each other, compared with the largest
                break
            first = wrong[np.diff(wrong, prepend=-2) > 1]
            keys[first], keys[first + 1] = keys[first + 1], keys[first]
        del keys
    order = np.argsort(values)
    ordered = values[order]
    return order, np.flatnonzero(ordered[1:] == ordered[:-1])


_ROUNDING = 1e-13
"""A spread below this fraction of the values' size counts as rounding, not as variation."""


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
        The shape of X without `axis`, in [−1, 1]. NaN if a column of X or Y is constant (up to rounding), contains NaN,
        or has fewer than two observations: the correlation is then undefined.

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
        Matrices with corresponding rows.

    Returns
    -------
    array, p × q
        In [−1, 1]; NaN as in :func:`pearson`.

    Raises
    ------
    ValueError
        If X and Y are not matrices with the same number of rows.

    Examples
    --------
    >>> cross_pearson([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]], [[0.0], [1.0], [2.0]]).round(6).tolist()
    [[1.0], [-1.0]]
    """
    x, y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise ValueError(f"X has the shape {x.shape} and Y has {y.shape}; they must be matrices of the same length")
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
        raise ValueError(f"X has the shape {x.shape} but Y has {y.shape}; they must be equal")
    if x.ndim == 0:
        raise ValueError("X and Y are single numbers; a correlation requires several observations")
    return np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)


def standardised(x: Array) -> Array:
    """Columns with mean 0 and length 1; NaN for columns without variation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.asarray(np.maximum(x.max(axis=0), -x.min(axis=0)))
        result = np.asarray(x / np.where(size > 0, size, 1.0))  # keeps squares representable
        result -= result.mean(axis=0)
        length = np.sqrt(np.einsum("i...,i...->...", result, result))
        constant = ~(length > _ROUNDING * np.sqrt(len(x)))
        result /= np.where(constant, np.nan, length)
        return result


_Z = 1.959963984540054  # for 95 %
_FEWEST = 3  # models; with fewer, a correlation is meaningless
_BLOCK = 64  # columns
_CANCELLED = 1e-6  # variance as a fraction of the sum of squares below which sums of products are too inexact


class Association(NamedTuple):
    """Correlations and their 95 % intervals; None if they are not defined.

    Attributes
    ----------
    n : int
        Number of models.
    pearson, spearman : float or None
        Coefficients; None below three models, or if scores are constant.
    pearson_ci, spearman_ci : (float, float) or None
        Fisher's intervals; Spearman's with the variance of Bonett and Wright (2000, doi:10.1007/BF02294183). None below
        four models.
    """

    n: int
    pearson: float | None
    pearson_ci: tuple[float, float] | None
    spearman: float | None
    spearman_ci: tuple[float, float] | None


def association(x: Sequence[float] | Array, y: Sequence[float] | Array) -> Association:
    """Correlate scores of the same models on two benchmarks.

    The intervals assume that models are drawn independently, which does not hold for models of one architecture.

    Parameters
    ----------
    x, y : sequence of float
        One score per model, without NaN.

    Raises
    ------
    ValueError
        If lengths differ, or a score is not finite.

    Examples
    --------
    >>> found = association([0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.1, 0.4, 0.3, 0.5])
    >>> found.n, round(found.pearson, 3), round(found.spearman, 3)
    (5, 0.8, 0.8)
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"x has the shape {first.shape}, y {second.shape}; both must have one score per model")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a score is not finite; omit that model")
    n = len(first)
    if n < _FEWEST:
        return Association(n, None, None, None, None)
    pearson = _correlation(first, second)
    spearman = _correlation(mean_ranks(first), mean_ranks(second))
    return Association(n, pearson, _interval(pearson, n, 1.0), spearman, _interval(spearman, n, None))


def correlation_matrix(values: ArrayLike, *, method: Literal["pearson", "spearman"]) -> tuple[Array, NDArray[np.int64]]:
    """Correlate each pair of benchmarks over the models that have both scores.

    Parameters
    ----------
    values : array (models, benchmarks)
        Scores; values that are not finite count as missing.
    method : {'pearson', 'spearman'}
        Coefficient; ranks are computed among the models with both scores.

    Returns
    -------
    tuple of array
        Coefficients, NaN below three models with both scores or if the scores on one benchmark are constant; and the
        number of models with both scores. The coefficients of different pairs may refer to different models, so the
        matrix need not be positive semidefinite.

    Raises
    ------
    ValueError
        If `values` is not a matrix of real numbers.

    Examples
    --------
    >>> matrix, n = correlation_matrix([[0.1, 0.2], [0.2, 0.1], [0.3, 0.4], [0.4, 0.3], [0.5, 0.5]], method="spearman")
    >>> matrix.round(3).tolist()
    [[1.0, 0.8], [0.8, 1.0]]
    """
    if method not in ("pearson", "spearman"):
        raise ValueError(f"method is {method!r}; use 'pearson' or 'spearman'")
    scores = np.array(as_matrix(values, "values"), dtype=np.float64)
    measured = np.isfinite(scores)
    scores[~measured] = np.nan
    n = (measured.T.astype(np.float64) @ measured.astype(np.float64)).astype(np.int64)
    matrix = (_pearson_matrix if method == "pearson" else _spearman_matrix)(scores, measured, n)
    np.clip(matrix, -1.0, 1.0, out=matrix)
    matrix[n < _FEWEST] = np.nan
    return matrix, n


def _pearson_matrix(scores: Array, measured: NDArray[np.bool_], n: NDArray[np.int64]) -> Array:
    """Correlations from sums of products, or from the scores where the sums lose too many digits."""
    count = np.maximum(measured.sum(axis=0), 1)
    centred = np.where(measured, scores, 0.0)
    centred = np.where(measured, scores - centred.sum(axis=0) / count, 0.0)
    scale = np.abs(centred).max(axis=0, initial=0.0)
    centred /= np.where(scale > 0, scale, 1.0)  # prevents overflow and underflow of squares
    present = measured.astype(np.float64)
    sums, squares = (
        centred.T @ present,
        (centred**2).T @ present,
    )  # of the row's scores, over models that have the column's score
    pairs = np.maximum(n, 1)
    variation = squares - sums**2 / pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        result = (centred.T @ centred - sums * sums.T / pairs) / np.sqrt(variation * variation.T)
    inexact = variation <= _CANCELLED * squares
    for i, j in np.argwhere(np.triu((inexact | inexact.T) & (n >= _FEWEST))):
        both = measured[:, i] & measured[:, j]
        exact = _correlation(scores[both, i], scores[both, j])
        result[i, j] = result[j, i] = math.nan if exact is None else exact
    return np.asarray(result)


def _spearman_matrix(scores: Array, measured: NDArray[np.bool_], n: NDArray[np.int64]) -> Array:
    """Correlations from twice the centred ranks, which are integers, so that all sums are exact."""
    k = scores.shape[1]
    products, squares = np.zeros((k, k)), np.zeros((k, k))
    ordered = [_Ordered(scores[:, column], measured[:, column]) for column in range(k)]
    blocks = [np.arange(start, min(start + _BLOCK, k)) for start in range(0, k, _BLOCK)]
    for number, rows in enumerate(blocks):
        for columns in blocks[number:]:
            upper, lower = (
                _ranks_among(ordered, rows, measured[:, columns]),
                _ranks_among(ordered, columns, measured[:, rows]),
            )
            here, there = np.ix_(rows, columns), np.ix_(columns, rows)
            products[here] = np.einsum("ijm,jim->ij", upper, lower)
            products[there] = products[here].T
            squares[here] = np.einsum("ijm,ijm->ij", upper, upper)
            squares[there] = np.einsum("ijm,ijm->ij", lower, lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(products / np.sqrt(squares * squares.T))


def _ranks_among(ordered: Sequence["_Ordered"], columns: NDArray[np.intp], measured: NDArray[np.bool_]) -> Array:
    """Ranks of each column among the models of each column of `measured`: columns × columns of `measured` × models."""
    patterns, which = np.unique(measured.T, axis=0, return_inverse=True)
    result = np.empty((len(columns), len(which), len(measured)))
    for row, column in zip(result, columns, strict=True):
        if len(patterns) == len(which):  # each occurs once
            row[:] = ordered[column].ranks(measured.T)
        else:
            np.take(ordered[column].ranks(patterns), which.ravel(), axis=0, out=row)
    return result


class _Ordered:
    """A sorted column, to rank any subset of its models."""

    def __init__(self, scores: Array, known: NDArray[np.bool_]) -> None:
        self.size = len(scores)
        here = np.flatnonzero(known)
        self.order = here[np.argsort(scores[here], kind="stable")]
        values = scores[self.order]
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])) if len(values) else here
        lengths = np.diff(np.append(starts, len(values)))
        self.ends = np.repeat(starts + lengths, lengths)  # end of each value's ties
        self.starts = np.repeat(starts, lengths)
        self.has_ties = len(starts) < len(values)

    def ranks(self, present: NDArray[np.bool_]) -> Array:
        """2 · rank − n − 1 of each model among those present, one row for each set of models; 0 for other models."""
        there = present[:, self.order]
        below = np.zeros((len(present), len(self.order) + 1), dtype=np.int32)
        np.cumsum(there, axis=1, out=below[:, 1:])
        if self.has_ties:
            ranks = below[:, self.starts] + below[:, self.ends] - below[:, -1:]
        else:
            ranks = below[:, :-1] + below[:, 1:] - below[:, -1:]
        result = np.zeros((len(present), self.size))
        result[:, self.order] = ranks * there
        return result


def _correlation(x: Array, y: Array) -> float | None:
    if np.ptp(x) == 0 or np.ptp(y) == 0:  # after subtraction of a rounded mean, a constant could seem to vary
        return None
    x, y = x - x.mean(), y - y.mean()
    x, y = x / np.abs(x).max(), y / np.abs(y).max()  # prevents overflow and underflow of squares
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip(x @ y / norm, -1, 1)) if norm > 0 else None


def _interval(r: float | None, n: int, variance: float | None) -> tuple[float, float] | None:
    if r is None or n < 4 or abs(r) >= 1:
        return None
    half = _Z * np.sqrt((1 + r * r / 2 if variance is None else variance) / (n - 3))
    return float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))
