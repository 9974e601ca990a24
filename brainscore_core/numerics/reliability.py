"""Reliability of repeated measurements."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import CHUNK_BYTES, Array, as_matrix
from brainscore_core.numerics.correlation import pearson

Half = NDArray[np.intp]

_FAINT = 1e-6
"""Repetitions that vary by less than this fraction of the values' size are computed separately for each half."""

_CANCELLED = 1e-4
"""The same applies to halves whose sum has less than this fraction of the largest possible variance."""


def spearman_brown(r: ArrayLike, *, factor: float = 2.0) -> Array:
    """Reliability of a measurement that is `factor` times as long as a measurement with reliability r.

    Parameters
    ----------
    r : array
        Correlations of two measurements of equal length.
    factor : float
        Ratio of the lengths.

    Returns
    -------
    array
        factor · r / (1 + (factor − 1) · r); NaN for r = −1/(factor − 1), where it diverges.

    References
    ----------
    Spearman (1910). British Journal of Psychology 3, 271–295. https://doi.org/10.1111/j.2044-8295.1910.tb00206.x

    Examples
    --------
    >>> float(spearman_brown(0.5).round(4))
    0.6667
    """
    values = np.asarray(r, dtype=np.float64)
    divisor = 1 + (factor - 1) * values
    return np.asarray(factor * values / np.where(divisor == 0, np.nan, divisor))


def split_half_reliability(
    values: ArrayLike, stimuli: ArrayLike, repetitions: ArrayLike, halves: Sequence[tuple[Half, Half]]
) -> Array:
    """Spearman–Brown corrected correlation between means over two halves of the repetitions.

    Parameters
    ----------
    values : array, presentations × neuroids
        One row per presentation. NaN counts as not measured.
    stimuli, repetitions : array of int, presentations
        Stimulus and repetition of each row, from 0. Stimuli may lack repetitions.
    halves : sequence of (array of int, array of int)
        Repetitions in the two halves, one pair per split.

    Returns
    -------
    array, splits × neuroids
        Reliability of the mean over all repetitions of both halves. Only stimuli that were measured in both halves
        count. NaN if fewer than two are left, or a half does not vary.

    Notes
    -----
    With signal variance s² over stimuli, noise variance v of a presentation and R repetitions, the correlation of the
    halves is s²/(s² + 2v/R), and the result estimates s²/(s² + v/R).

    Examples
    --------
    >>> values = np.array([[1.0], [2.0], [3.0], [1.0], [2.0], [3.0]])
    >>> stimuli, repetitions = [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1]
    >>> split_half_reliability(values, stimuli, repetitions, [(np.array([0]), np.array([1]))])
    array([[1.]])
    """
    matrix, cells, membership, n = _checked(values, stimuli, repetitions, halves)
    r = membership.shape[2]
    complete = len(matrix) == n * r and np.bincount(cells, minlength=n * r).all()
    result = np.empty((len(halves), matrix.shape[1]))
    # memory of one chunk of neuroids: sums of each stimulus × repetition, and means of both halves of each split
    width = max(1, CHUNK_BYTES // (8 * max(1, n) * (2 * len(halves) + r)))
    for start in range(0, matrix.shape[1], width):
        chunk = np.arange(start, min(start + width, matrix.shape[1]))
        if complete:
            result[:, chunk], precise = _from_products(matrix[:, chunk], cells, membership)
            chunk = chunk[~precise]
            if not len(chunk):
                continue
        first, second = _half_means(matrix[:, chunk], cells, membership, n, r)
        for split in range(len(halves)):
            result[split, chunk] = _correlate(first[split], second[split])
    return spearman_brown(result)


def half_means(
    values: ArrayLike, stimuli: ArrayLike, repetitions: ArrayLike, halves: Sequence[tuple[Half, Half]]
) -> Iterator[tuple[Array, Array]]:
    """Means over the two halves of the repetitions, split after split; arguments of :func:`split_half_reliability`.

    Stimuli × neuroids each; NaN if nothing was measured.

    Examples
    --------
    >>> halves = [(np.array([0]), np.array([1]))]
    >>> first, second = next(half_means([[1.0], [2.0], [3.0], [5.0]], [0, 1, 0, 1], [0, 0, 1, 1], halves))
    >>> first.ravel().tolist(), second.ravel().tolist()
    ([1.0, 2.0], [3.0, 5.0])
    """
    matrix, cells, membership, n = _checked(values, stimuli, repetitions, halves)
    for split in range(len(halves)):
        first, second = _half_means(matrix, cells, membership[:, [split]], n, membership.shape[2])[:, 0]
        yield first, second


def _checked(
    values: ArrayLike, stimuli: ArrayLike, repetitions: ArrayLike, halves: Sequence[tuple[Half, Half]]
) -> tuple[NDArray, NDArray[np.intp], Array, int]:
    """Values, cell (repetition × stimulus) of each presentation, halves × splits × repetitions, number of stimuli."""
    matrix = as_matrix(values, "values")
    stimulus, repetition = np.asarray(stimuli, dtype=np.intp), np.asarray(repetitions, dtype=np.intp)
    if not len(matrix) == len(stimulus) == len(repetition):
        raise ValueError(
            f"{len(matrix)} presentations but {len(stimulus)} stimuli and {len(repetition)} repetitions; "
            "each presentation must have both"
        )
    n, r = int(stimulus.max(initial=-1)) + 1, int(repetition.max(initial=-1)) + 1
    membership = np.zeros((2, len(halves), r))
    for split, pair in enumerate(halves):
        for side, labels in enumerate(pair):
            membership[side, split, labels] = 1.0
    return matrix, repetition * n + stimulus, membership, n


def _from_products(values: NDArray, cells: NDArray[np.intp], membership: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Correlations of the halves (splits × neuroids) if every stimulus has every repetition.

    Covariances of halves are sums of the repetitions' covariances, which are computed once for all splits.
    """
    flat = np.empty((values.shape[1], len(cells)))
    flat[:, cells] = values.T
    size = np.maximum(flat.max(axis=1), -flat.min(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        flat /= size[:, None]  # prevents overflow and underflow of squares
        cube = flat.reshape(len(flat), membership.shape[2], -1)
        cube -= cube.mean(axis=2, keepdims=True)
        products = cube @ cube.transpose(0, 2, 1)
        spread = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
        first, second = membership
        covariance, *variances = (
            np.einsum("qsr,sr->sq", first_members @ products, second_members)
            for first_members, second_members in ((first, second), (first, first), (second, second))
        )
        precise = spread.min(axis=1) > _FAINT * np.sqrt(cube.shape[2])
        for side, variance in zip(membership, variances, strict=True):
            precise &= (variance > _CANCELLED * (side @ spread.T) ** 2).all(axis=0)
        return np.clip(covariance / np.sqrt(variances[0] * variances[1]), -1.0, 1.0), precise


def _half_means(values: NDArray, cells: NDArray[np.intp], membership: Array, n: int, r: int) -> Array:
    """Means over the repetitions in each half: 2 × splits × stimuli × neuroids; NaN if none was measured."""
    width = values.shape[1]
    measured = ~np.isnan(values)
    if measured.all():
        sums = _cell_sums(values, cells, r * n).reshape(r, -1)
        counts = np.bincount(cells, minlength=r * n).reshape(r, n).astype(np.float64)
        totals = (membership.reshape(-1, r) @ counts).reshape(*membership.shape[:2], n, 1)
    else:
        sums = _cell_sums(np.where(measured, values, 0.0), cells, r * n).reshape(r, -1)
        counts = _cell_sums(measured, cells, r * n).reshape(r, -1)
        totals = (membership.reshape(-1, r) @ counts).reshape(*membership.shape[:2], n, width)
    half_sums = (membership.reshape(-1, r) @ sums).reshape(*membership.shape[:2], n, width)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals > 0, half_sums / totals, np.nan)


def _cell_sums(values: NDArray, cells: NDArray[np.intp], n_cells: int) -> Array:
    result = np.zeros((n_cells, values.shape[1]))
    if len(np.unique(cells)) == len(cells):
        result[cells] = values
    else:
        np.add.at(result, cells, values)
    return result


def _correlate(first: Array, second: Array) -> Array:
    """Columnwise correlation over the rows that are present in both."""
    both = ~(np.isnan(first) | np.isnan(second))
    whole = np.asarray(both.all(axis=1))
    if np.array_equal(both, np.broadcast_to(whole[:, None], both.shape)):
        return pearson(first[whole], second[whole])
    return np.array([float(pearson(first[rows, i], second[rows, i])) for i, rows in enumerate(both.T)])
