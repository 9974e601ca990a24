"""Distance between the shapes that stimuli form in two spaces."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, as_matrix, chunks, column_means, not_finite, require_same_rows
from brainscore_core.numerics.similarity import Similarity
from brainscore_core.numerics.stimulus_products import FLAT

_GROUPS = 8
"""Number of groups of stimuli, of which one or two are left out at a time."""


class Shape(NamedTuple):
    """Match between two representations after rotation, reflection and scaling.

    Attributes
    ----------
    similarity : Similarity
        Cosine of the angle.
    angle : float
        Riemannian shape distance in radians, in [0, π/2]: a metric in the mathematical sense.
    """

    similarity: Similarity
    angle: float


def shape_similarity(X: ArrayLike, Y: ArrayLike, *, order: ArrayLike | None = None) -> Shape:
    """Procrustes similarity and the shape distance of two representations.

    Both are centred and scaled to unit norm; the best rotation or reflection Q gives max tr(Xᵀ Y Q), the sum of the
    singular values of Xᵀ Y. A representation with fewer features is padded with zeros, which changes nothing.

    Parameters
    ----------
    X, Y : array, stimuli × features
        Processed in float64; wide matrices in chunks of features.
    order : array of int, stimuli
        Number of each stimulus, from 0, by which stimuli are grouped for bias and error; by default their order.
        Stimuli with the same number are left out together, and the error is that over such groups.

    Returns
    -------
    Shape
        Similarity in [0, 1]. It is biased upwards for many features and few stimuli, as a rotation is fitted. NaN with
        a reason if a representation does not vary. The bias is estimated by leaving out every eighth stimulus. The
        influence is the derivative by each stimulus's weight, enlarged to give the error of the value without its bias.

    Raises
    ------
    ValueError
        If there are fewer than 2 stimuli, or values are not finite, or lengths differ.

    Notes
    -----
    Wide representations are reduced to stimuli × stimuli by a QR decomposition of their features, not by the Gram
    matrix, which would lose half of the digits.

    As the rotation is fitted, the value also depends on pairs of stimuli, which the derivative ignores. The jackknife
    of the corrected value counts the variance of pairs twice [2]_, the derivative not at all; their mean is used.

    References
    ----------
    .. [1] Williams, Kunz, Kornblith & Linderman (2021). NeurIPS 34. https://doi.org/10.48550/arXiv.2110.14739
    .. [2] Efron & Stein (1981). Annals of Statistics 9, 586–596. https://doi.org/10.1214/aos/1176345462

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 5))
    >>> shape = shape_similarity(X, 3 * X @ np.linalg.qr(rng.standard_normal((5, 5)))[0] + 1)
    >>> round(shape.similarity.value, 6), round(shape.angle, 6)
    (1.0, 0.0)
    """
    first, second = as_matrix(X, "X"), as_matrix(Y, "Y")
    require_same_rows(first, second)
    n = len(first)
    if n < 2:
        raise ValueError(f"{n} stimulus: a shape requires at least 2")
    wide, narrow = (first, second) if first.shape[1] >= second.shape[1] else (second, first)
    names = ("first", "second") if wide is first else ("second", "first")
    A = _unit(wide, "X" if wide is first else "Y", n_others=narrow.shape[1])
    B = _unit(narrow, "Y" if wide is first else "X", n_others=wide.shape[1])
    for side, name in zip((A, B), names, strict=True):
        if not side.size > 0:
            undefined = Similarity(np.nan, np.full(n, np.nan), f"the {name} representation does not vary over stimuli")
            return Shape(undefined, np.nan)
    right = np.hstack([block for _, block in B.blocks()])
    cross = np.empty((A.matrix.shape[1], right.shape[1]))
    for columns, block in A.blocks():
        cross[columns] = block.T @ right
    U, singular, Vt = np.linalg.svd(cross, full_matrices=False)
    turned = right @ Vt.T
    scores, squares, gap = np.zeros((n, len(singular))), np.einsum("ij,ij->i", right, right), 0.0
    for columns, block in A.blocks():
        scores += block @ U[columns]
        squares += np.einsum("ij,ij->i", block, block)
        # near 0, the arc cosine would lose half of the digits; the distance of the aligned unit vectors does not
        gap += float(np.linalg.norm(block - turned @ U[columns].T) ** 2)
    aligned = np.einsum("ij,ij->i", scores, turned)
    influence = n * (aligned - singular.sum() * squares / 2)
    value, angle = min(float(singular.sum()), 1.0), 2 * np.arcsin(min(np.sqrt(gap) / 2, np.sqrt(0.5)))
    codes = np.arange(n) if order is None else np.asarray(order)
    bias, error = _bias(A, right, cross, value, codes)
    units = int(codes.max()) + 1
    first_order = float(np.bincount(codes, influence).std(ddof=1) / n * np.sqrt(units))
    if 0 < first_order < error:
        influence = influence * np.sqrt((1 + (error / first_order) ** 2) / 2)
    return Shape(Similarity(value, np.asarray(influence), bias=bias), float(angle))


def _bias(A: "_Unit", right: Array, cross: Array, value: float, order: NDArray[np.intp]) -> tuple[float, float]:
    """Bias, and the error of the value without it: jackknife of groups of stimuli, one or two of them left out."""
    groups = min(int(order.max()) + 1, _GROUPS)
    sizes = np.sort(np.bincount(order % groups))
    if groups < 3 or sizes[:-2].sum() < 2:
        return 0.0, 0.0
    values = np.full((groups, groups), np.nan)
    for first in range(groups):
        for second in range(first + 1):
            rows = np.flatnonzero((order % groups == first) | (order % groups == second))
            values[first, second] = values[second, first] = _without(A, right, cross, rows)
    if not np.isfinite(values).all():
        return 0.0, 0.0
    without_one = np.diag(values)
    bias = (groups - 1) * float(without_one.mean() - value)
    without_two = (values.sum(axis=1) - without_one) / (groups - 1)
    corrected = (groups - 1) * without_one - (groups - 2) * without_two
    return bias, float(np.sqrt((groups - 1) / groups * np.sum((corrected - corrected.mean()) ** 2)))


def _without(A: "_Unit", right: Array, cross: Array, rows: NDArray[np.intp]) -> float:
    """Similarity of the stimuli without `rows`; NaN if they do not vary."""
    remaining = np.delete(right, rows, axis=0)
    n_remaining = len(remaining)
    mean_right = remaining.mean(axis=0)
    square, length = np.zeros((right.shape[1], right.shape[1])), 0.0
    for columns, block in A.blocks():
        out = block[rows]
        mean = -out.sum(axis=0) / n_remaining  # of the remaining rows, as all rows sum to 0
        cross_of_columns = cross[columns] - out.T @ right[rows] - n_remaining * np.outer(mean, mean_right)
        square += cross_of_columns.T @ cross_of_columns
        length += float(np.sum(block**2) - np.sum(out**2) - n_remaining * (mean @ mean))
    size = float(np.linalg.norm(remaining - mean_right))
    if not (length > 0 and size > 0):
        return np.nan
    return float(np.sqrt(np.maximum(np.linalg.eigvalsh(square), 0.0)).sum() / (np.sqrt(length) * size))


class _Unit(NamedTuple):
    """A representation that is centred and scaled to unit norm when it is read."""

    matrix: NDArray
    mean: Array
    size: float

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        for columns in chunks(self.matrix.shape[1], 4 * len(self.matrix)):
            block = np.subtract(self.matrix[:, columns], self.mean[columns], dtype=np.float64)
            if self.size > 0:
                block /= self.size
            yield columns, block


def _unit(X: NDArray, name: str, *, n_others: int) -> _Unit:
    """X, rotated into as many features as stimuli if this makes the product with `n_others` features cheaper."""
    n, p = X.shape
    with np.errstate(invalid="ignore", over="ignore"):
        mean = column_means(X)
    if not np.isfinite(mean).all():
        raise not_finite(X, name)
    offset = float(np.linalg.norm(mean))
    if p > n and 2 * n_others > n:
        factor = np.empty((0, n))
        for start in range(0, p, n):  # not narrower than the factor, which is decomposed again with each block
            columns = slice(start, start + n)
            block = np.subtract(X[:, columns], mean[columns], dtype=np.float64)
            factor = np.asarray(np.linalg.qr(np.vstack([factor, block.T]), mode="r"))
        X, mean = factor.T, np.zeros(len(factor))
    side = _Unit(X, mean, 0.0)
    size = float(np.sqrt(sum(np.linalg.norm(block) ** 2 for _, block in side.blocks())))
    return side._replace(size=size if size > FLAT * np.sqrt(n) * offset else 0.0)
