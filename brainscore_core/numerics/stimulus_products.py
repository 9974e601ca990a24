"""Products of a model's features for all pairs of stimuli, and features that have the same products."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dger, dsyr
from scipy.linalg.lapack import dpstrf, dtpttr

from brainscore_core.numerics._matrices import Array, as_matrix, chunks, column_means
from brainscore_core.numerics._products import centred_gram, mirrored, pays_in_float32, products_in_float32

_LOST = 4 * float(np.finfo(np.float64).eps)
"""Share of the largest product, times the number of stimuli, below which directions are rounding errors."""


class StimulusProducts(NamedTuple):
    """Products of the features of n stimuli with each other.

    All that a metric computes follows from them if it does not change when features are rotated: distances, angles and
    correlations of stimuli, linear maps with a penalty on their length, partial least squares.

    - `centred` (n × n): products after subtraction of each feature's mean over the stimuli. They are kept, rather than
      products of the features, since a mean that is large beside the differences of stimuli would take their digits.
    - `shift`: products without subtraction are ``centred + shift + shift[:, None]``.
    - `row_mean`: mean of each stimulus over its features.
    - `features`: number of features.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((5, 40)) + 3
    >>> products = StimulusProducts.of(X)
    >>> rotated = products.equivalent_features(np.array([0, 2, 3]))
    >>> rotated.shape, np.allclose(rotated @ rotated.T, (X @ X.T)[np.ix_([0, 2, 3], [0, 2, 3])])
    ((3, 5), True)
    >>> np.allclose(np.corrcoef(rotated), np.corrcoef(X[[0, 2, 3]]))
    True
    """

    centred: Array
    shift: Array
    row_mean: Array
    features: int

    @classmethod
    def of(cls, X: ArrayLike) -> Self:
        """Multiply features, stimuli × features; large ones as the metrics do, mostly in single precision.

        Raises ValueError if they are not finite.
        """
        matrix = as_matrix(X, "X")
        row_mean = matrix.mean(axis=1, dtype=np.float64)
        products = products_in_float32(matrix) if pays_in_float32(matrix) else None
        if products is not None:
            return cls(products.centred, products.shift, row_mean, matrix.shape[1])
        mean = column_means(matrix)
        shift = np.full(len(matrix), float(mean @ mean) / 2)
        for columns in chunks(matrix.shape[1], len(matrix)):
            shift += np.subtract(matrix[:, columns], mean[columns], dtype=np.float64) @ mean[columns]
        return cls(centred_gram(matrix), shift, row_mean, matrix.shape[1])

    def equivalent_features(self, rows: NDArray[np.intp] | None = None) -> Array:
        """Features of some stimuli, by default all, that have the same products and the same correlations.

        They are the original ones, rotated such that the direction of equal features, from which correlations of
        stimuli are measured, stays the direction of equal features. There are at most as many as stimuli, plus two.

        `rows`: the stimuli, in the requested order. Returns array, stimuli × features.
        """
        rows = np.arange(len(self.centred)) if rows is None else rows
        length = np.sqrt(self.features)
        # each stimulus is mean + difference; in coordinates: the direction u of equal features, the mean without its
        # part along u, and the rest
        mean_along = length * float(self.row_mean.mean())
        mean_across = np.sqrt(max(2 * float(self.shift.mean()) - mean_along**2, 0.0))
        along = length * (self.row_mean[rows] - self.row_mean.mean())
        across = np.zeros(len(rows))
        if mean_across > np.sqrt(_LOST) * abs(mean_along):
            across = (self.shift[rows] - self.shift.mean() - along * mean_along) / mean_across
        rest = self.centred[np.ix_(rows, rows)].T  # symmetric: this is the layout on which LAPACK works in place
        for part in (along, across):
            rest = dsyr(-1.0, part, a=rest, overwrite_a=1)
        most = min(len(rows), max(self.features - 2, 0))
        factor, pivots = _factor(rest, _LOST * len(self.centred) * float(self.centred.diagonal().max(initial=0.0)))
        coordinates = np.empty((len(rows), 2 + min(factor.shape[1], most)))
        coordinates[:, 0], coordinates[:, 1] = mean_along + along, mean_across + across
        coordinates[pivots, 2:] = factor[:, :most]
        # a reflection that takes the first coordinate to the direction of equal features
        normal = np.full(coordinates.shape[1], -(coordinates.shape[1] ** -0.5))
        normal[0] += 1
        squared = float(normal @ normal)
        if squared > 0:
            coordinates = dger(-2 / squared, normal, coordinates @ normal, a=coordinates.T, overwrite_a=1).T
        return np.asarray(coordinates)


def symmetric(triangle: Array, n: int) -> Array:
    """Symmetric n × n matrix from its lower triangle, row by row.

    Examples
    --------
    >>> symmetric(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    return mirrored(dtpttr(n, triangle, uplo="U")[0].T)


def _factor(products: Array, tolerance: float) -> tuple[Array, NDArray[np.intp]]:
    """A matrix whose products are given, which are overwritten, and its rows' numbers.

    A Cholesky factorization that leaves out directions below a tolerance. Only the upper triangle is read.
    """
    n = len(products)
    if n == 0 or not tolerance > 0:
        return np.zeros((n, 0)), np.arange(n)
    transposed, pivots, rank, _ = dpstrf(products, tol=tolerance, overwrite_a=1)
    factor = transposed.T[:, :rank]
    for row in range(rank):
        factor[row, row + 1 :] = 0.0
    return factor, pivots - 1
