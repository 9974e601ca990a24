"""Products of features (XXᵀ), centred, in chunks of features, and features that have the same products."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dger, dsymv, dsyr, dsyr2, dsyrk, get_blas_funcs
from scipy.linalg.lapack import dpstrf, dtpttr

from brainscore_core.numerics import _matrices
from brainscore_core.numerics._matrices import Array, as_matrix, chunk_columns, chunks, column_means, not_finite
from brainscore_core.numerics._processors import (
    SHORT_PRODUCT,
    in_blocks,
    on_device,
    one_thread,
    to_device,
    to_numpy,
    worker_threads,
)

if TYPE_CHECKING:
    import torch


def gram(X: NDArray, Z: NDArray, *, mean: Array) -> Array:
    """(X − mean)(Z − mean)ᵀ, accumulated in float64 over chunks of columns."""
    result = np.zeros((len(X), len(Z)))
    for columns in chunks(X.shape[1], max(len(X), len(Z))):
        first, second = (np.subtract(side[:, columns], mean[columns], dtype=np.float64) for side in (X, Z))
        result += first @ second.T
    return result


FLAT = 1e-13
"""Relative tolerance: values that differ by less than this fraction of their magnitude count as equal."""


def centred_gram(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> Array:
    """(X − column means)(X − column means)ᵀ in float64; all 0 if no column varies by more than rounding errors.

    For methods that subtract nearly equal products or divide by small eigenvalues; others use :func:`fast_gram`.
    """
    return to_numpy(gram_on(X, name, device=device))


@np.errstate(invalid="ignore", over="ignore")  # values that are not finite are reported below
def gram_on(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> Any:
    """Compute :func:`centred_gram`, and leave the result on the device: an array, or a tensor on `device`."""
    squared_mean: Any = 0.0

    def centre(block: Any, _: slice) -> None:
        nonlocal squared_mean
        mean = block.mean(0)
        squared_mean = squared_mean + mean @ mean  # not yet a number: a GPU would have to be waited for
        block -= mean

    K: Any = _row_products(X, centre) if device is None else _row_products_on(X, centre, device)
    trace = float(K.trace())
    if not np.isfinite(trace):  # no product is larger than the square of the longer row
        raise not_finite(X, name)
    if trace <= FLAT**2 * len(X) * float(squared_mean):
        K[:] = 0.0
    return K


def fast_gram(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> tuple[Any, float]:
    """Compute :func:`gram_on`, for large float32 features on the CPU mostly in float32.

    Products then differ from those in float64 by about 3e-7, and at most some 1e-6, of the mean diagonal of that part.
    """
    products = products_in_float32(X) if device is None and pays_in_float32(X) else None
    if products is not None:
        return products.centred, products.rounded
    return gram_on(X, name, device=device), 0.0


class _Products(NamedTuple):
    """Products of all stimuli, from which those with any mean subtracted follow."""

    centred: Array  # n × n: products after subtraction of each column's mean
    shift: Array  # (n,): the products without subtraction are ``centred + shift + shift[:, None]``
    row_mean: Array  # (n,)
    rounded: float  # mean diagonal of the products that were computed in float32


_WORTH_FLOAT32 = 2 * 10**9
"""Multiplications of all stimuli and features from which products in float32 take less time."""

_FLOAT32_COLUMNS = 2048
"""About how many columns' products are summed in float32 before they are added to the others in float64."""

_FLOAT64_COLUMNS = 512
"""Columns that are multiplied at once in float64, of those that float32 does not represent well enough."""

_LEAST_PANEL_ROWS, _MOST_PANEL_ROWS = 128, 2560
"""Range of the number of rows whose products with all later ones a thread computes at once in float32."""

_ROWS_OF_MEANS = 64
"""Rows from which means are computed that are subtracted before products in float32."""

_DOMINATES = 16
"""How many times the mean variance of the other columns a column may have to be multiplied in float32."""

_MOST_IN_FLOAT64 = 1 / 4
"""Part of a block of columns above which it is multiplied in float64 as a whole."""

_LEAST_SQUARE, _LARGEST_SUM = 1e-25, 1e37
"""Range in which squares of float32 values neither overflow nor underflow: their mean and their sum."""


def pays_in_float32(X: NDArray) -> bool:
    """Whether products of these features are large enough to be faster in float32."""
    n, p = X.shape
    return X.dtype == np.float32 and n * n * p >= _WORTH_FLOAT32


@np.errstate(invalid="ignore", over="ignore")  # blocks that are too large are multiplied in float64
def products_in_float32(X: NDArray) -> _Products | None:
    """Products of all stimuli of float32 features, most of them in float32; None if not finite.

    Each column is centred before; blocks of columns are summed in float64. Columns that dominate a block would drown
    the others in their rounding errors and are multiplied in float64, as are blocks of values too large or too small
    for float32. All else is computed in float64.
    """
    n, p = X.shape
    step = max(1, min(-(-p // max(1, round(p / _FLOAT32_COLUMNS))), _matrices.CHUNK_BYTES // (4 * n)))
    total, sums = np.zeros((n, n), order="F"), np.zeros((2, n))
    buffer = np.empty((n + 2) * step, np.float32)
    squared_mean, rounded = 0.0, 0.0
    with worker_threads(n * p) as threads:
        height = _MOST_PANEL_ROWS
        if threads.count > 1:  # several for each thread; the first are the largest
            height = min(max(n // (4 * threads.count), _LEAST_PANEL_ROWS), height)
        panels = [slice(*pair) for pair in pairwise([*range(0, n, height), n + 2])]

        def add(block: NDArray[np.floating]) -> None:
            threads.run([partial(_add_products, block, rows, total, sums, threads.count) for rows in panels])

        for start in range(0, p, step):
            columns = X[:, start : start + step]
            # means of some rows are near enough: the difference from a float32 value is exact but for its own rounding,
            # and the mean that remains is subtracted from the products
            mean = columns[:: -(-n // _ROWS_OF_MEANS)].mean(axis=0, dtype=np.float64).astype(np.float32)
            block = buffer[: (n + 2) * len(mean)].reshape(n + 2, -1)
            block[n:] = np.stack([mean, np.ones_like(mean)])  # products with these are sums of the rows
            subtractions = [partial(_subtract, columns[rows], mean, block[rows]) for rows in threads.parts(n)]
            precise, size = _columns_in_float64(sum(threads.run(subtractions)), n)
            sums[1] += mean.sum(dtype=np.float64)
            squared_mean += float(np.square(mean, dtype=np.float64).sum())
            for first in range(0, len(precise), _FLOAT64_COLUMNS):
                some = precise[first : first + _FLOAT64_COLUMNS]
                chosen = block[:, some].astype(np.float64)
                np.subtract(columns[:, some], mean[some], out=chosen[:n], dtype=np.float64)
                add(chosen)
            block[:, precise] = 0
            if len(precise) < len(mean):
                add(block)
                rounded += size
        mean = dsymv(1 / n, total, np.ones(n), lower=1)
        mean -= mean.mean() / 2
        K = mirrored(dsyr2(-1.0, mean, np.ones(n), lower=1, a=total, overwrite_a=1))
    shift = mean + sums[0] + squared_mean / 2
    trace = float(K.trace())
    if not (np.isfinite(trace) and np.isfinite(shift).all()):
        return None
    if trace <= FLAT**2 * n * squared_mean:
        K[:] = 0.0
    return _Products(K, shift, sums[1] / p, rounded / n)


@np.errstate(invalid="ignore", over="ignore")
def _subtract(columns: NDArray, mean: NDArray[np.float32], block: NDArray[np.float32]) -> Array:
    """Fill a block with columns minus their means, and return the sums of squares."""
    squares = np.zeros(len(mean))
    for start in range(0, len(columns), 64):  # rows that fit into the cache
        rows = block[start : start + 64]
        rows[:] = columns[start : start + 64]
        rows -= mean
        squares += np.einsum("ij,ij->j", rows, rows)
    return squares


@np.errstate(invalid="ignore", over="ignore")
def _add_products(block: NDArray[np.floating], rows: slice, total: Array, sums: Array, threads: int) -> None:
    """Add products of some rows of a block with themselves and all later ones; those with the last two are sums."""
    chosen, later = block[rows], block[rows.stop :]
    if threads > 1:  # functions of SciPy wait for each other
        products = chosen @ chosen.T
    else:
        products = get_blas_funcs("syrk", (block,))(1.0, chosen.T, trans=1, lower=1)
    square = total[rows, rows]
    size = len(square)
    for first in range(0, size, 128):
        square[first:, first : first + 128] += products[first:size, first : min(first + 128, size)]
    if len(later):
        products = (chosen @ later.T).T
        total[rows.stop :, rows] += products[:-2]
    sums[:, rows] += products[-2:, :size]


def _columns_in_float64(squares: Array, n: int) -> tuple[NDArray[np.intp], float]:
    """Columns of a block of n rows to be multiplied in float64, and the sum of squares of the others."""
    in_float32 = np.ones(len(squares), dtype=bool)
    while True:
        # at most 1 of 16 values exceeds 16 times their mean
        dominating = in_float32 & (squares > _DOMINATES * squares[in_float32].mean())
        if not dominating.any():
            break
        in_float32 &= ~dominating
    size = float(squares[in_float32].sum())
    few = in_float32.sum() >= (1 - _MOST_IN_FLOAT64) * len(squares)
    if few and _LEAST_SQUARE * n * in_float32.sum() <= size <= _LARGEST_SUM:
        return np.flatnonzero(~in_float32), size
    return np.arange(len(squares)), 0.0


@np.errstate(invalid="ignore", over="ignore")  # NaN in X gives NaN in the result
def row_gram(X: NDArray, *, centred: bool = False, device: "torch.device | None" = None) -> tuple[Array, Array | None]:
    """X Xᵀ, and None; or the products after subtraction of each row's mean, and these means.

    Products below the diagonal may be missing. For large float32 features on the CPU mostly in float32 (see
    :func:`fast_gram`).
    """
    products = products_in_float32(X) if device is None and pays_in_float32(X) else None
    if products is not None:
        mean = products.row_mean if centred else None
        result = _recentred(products, X.shape[1], mean)
        if result is not None:
            return result, mean
    mean = X.mean(axis=1, dtype=np.float64) if centred and X.shape[1] else None
    shift: Any = None if mean is None else on_device(mean[:, None], device)

    def subtract(block: Any, _: slice) -> None:
        if shift is not None:
            block -= shift

    if device is not None:
        return to_numpy(_row_products_on(X, subtract, device)), mean
    with one_thread() if len(X) ** 2 * X.shape[1] < SHORT_PRODUCT else nullcontext():
        return np.asarray(_lower_products(X, subtract).T), mean


_LOST = 64
"""Products may be this many times larger before means are subtracted than afterwards: two digits are lost.

Of products in float32, this leaves five digits for pairs of two such stimuli, and more for all others.
"""


def _recentred(products: _Products, p: int, row_mean: Array | None) -> Array | None:
    """Subtract means of rows of p values from products on and above the diagonal; None if this would lose digits."""
    K, shift = products.centred, products.shift
    removed = np.zeros(len(K)) if row_mean is None else p**0.5 * row_mean
    squares = K.diagonal()
    if not (squares + 2 * np.abs(shift) + removed**2 <= _LOST * (squares + 2 * shift - removed**2)).all():
        return None

    def change(rows: slice) -> None:
        block, columns = K[rows, rows.start :], slice(rows.start, None)
        block += shift[columns]
        block += shift[rows, None]
        if row_mean is not None:
            block -= removed[rows, None] * removed[columns]

    in_blocks(change, K.shape)
    return K


_Prepare = Callable[[Any, slice], None]
"""Function that changes a block of columns in place, given the block and the slice of columns."""


def _row_products(X: NDArray, prepare: _Prepare) -> Array:
    """Products of all pairs of rows of X, whose columns are prepared in blocks."""
    return mirrored(_lower_products(X, prepare))


def _lower_products(X: NDArray, prepare: _Prepare) -> Array:
    """As :func:`_row_products`, but only the lower triangle, in a column-major matrix."""
    n, p = X.shape
    total = np.zeros((n, n), order="F")
    for columns in _cpu_column_chunks(n, p):
        block = X[:, columns].astype(np.float64)
        prepare(block, columns)
        total = dsyrk(1.0, block.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    return total


def mirrored(total: Array) -> Array:
    """Copy the lower triangle of a column-major matrix to the upper one, in blocks that fit into the cache."""
    n, size = len(total), 128
    below = np.tri(size, k=-1, dtype=bool)
    for start in range(0, n, size):
        stop = min(start + size, n)
        block = total[start:stop, start:stop]
        np.copyto(block.T, block, where=below[: stop - start, : stop - start])
        total[start:stop, stop:] = total[stop:, start:stop].T
    return np.asarray(total.T)  # symmetric, so this is the same matrix, but with contiguous rows


def _row_products_on(X: NDArray, prepare: _Prepare, device: "torch.device") -> "torch.Tensor":
    n, p = X.shape
    total = to_device(np.zeros((n, n)), device)
    for columns in chunk_columns(n, p, device):
        block = to_device(X[:, columns], device)
        prepare(block, columns)
        total.addmm_(block, block.T)
    return total


def _cpu_column_chunks(n: int, p: int) -> Iterator[slice]:
    """Slices of the columns that need a quarter of `CHUNK_BYTES`, since wider blocks are not faster."""
    step = max(1, _matrices.CHUNK_BYTES // (32 * max(1, n)))
    return (slice(start, min(start + step, p)) for start in range(0, p, step))


@np.errstate(invalid="ignore", over="ignore")  # the caller checks the result
def moments(
    X: NDArray,
    Y: Array,
    rows: NDArray[np.intp] | slice = slice(None),
    *,
    mean: Array,
    scale: float = 1.0,
    device: "torch.device | None" = None,
) -> tuple[Any, Any, Any]:
    """ZᵀZ, ZᵀY and the column sums of Z = (X − mean) / scale for some rows, over chunks in float64."""
    Y, p = Y[rows], X.shape[1]
    row_numbers = np.arange(len(X))[rows]
    square, cross, total = (on_device(np.zeros(shape), device) for shape in ((p, p), (p, Y.shape[1]), p))
    for selected in chunks(len(Y), p):
        block = scaled_features(X, selected if isinstance(rows, slice) else row_numbers[selected], mean, scale, device)
        square += block.T @ block
        cross += block.T @ on_device(Y[selected], device)
        total += block.sum(0)
    return square, cross, total


def scaled_features(
    X: NDArray, rows: NDArray[np.intp] | slice, mean: Array, scale: float, device: "torch.device | None"
) -> Any:
    """Return (X − mean) / scale for some rows in float64, on the device."""
    block = X[rows].astype(np.float64, copy=isinstance(rows, slice))  # a second new array would take longer to allocate
    block -= mean
    block /= scale
    return on_device(block, device)


_ROUNDING = 4 * float(np.finfo(np.float64).eps)
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
        if mean_across > np.sqrt(_ROUNDING) * abs(mean_along):
            across = (self.shift[rows] - self.shift.mean() - along * mean_along) / mean_across
        rest = self.centred[np.ix_(rows, rows)].T  # symmetric: this is the layout on which LAPACK works in place
        for part in (along, across):
            rest = dsyr(-1.0, part, a=rest, overwrite_a=1)
        most = min(len(rows), max(self.features - 2, 0))
        factor, pivots = _factor(rest, _ROUNDING * len(self.centred) * float(self.centred.diagonal().max(initial=0.0)))
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
