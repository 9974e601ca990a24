"""Checks and chunked products that the other modules share."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["CHUNK_BYTES", "Array", "as_matrix", "chunks", "column_means", "gram", "moments", "same_rows"]

Array = NDArray[np.float64]

CHUNK_BYTES = 2**26
"""Working memory of one chunk in bytes; a product's memory is its result plus a few of these."""


def as_matrix(values: ArrayLike, name: str) -> NDArray:
    """`values` as a real matrix in its own precision, without a copy where it is one already."""
    array = np.asarray(values)
    if array.ndim != 2:
        raise ValueError(f"{name} has the shape {array.shape}; a matrix is needed")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} holds values of type {array.dtype}; real numbers are needed")
    if array.dtype == np.float16 or array.dtype.kind in "iub":
        array = array.astype(np.float64)
    return array


def same_rows(X: NDArray, Y: NDArray, *, names: tuple[str, str] = ("X", "Y")) -> None:
    """Refuse matrices of different length."""
    if len(X) != len(Y):
        raise ValueError(f"{names[0]} has {len(X)} rows but {names[1]} has {len(Y)}; both need the same stimuli")


def chunks(length: int, other: int) -> Iterator[slice]:
    """Slices of `length` such that a chunk × `other` block in float64 stays below `CHUNK_BYTES`."""
    step = max(1, CHUNK_BYTES // (8 * max(1, other)))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def column_means(X: NDArray) -> Array:
    """Mean of each column, accumulated in float64."""
    return np.asarray(X.mean(axis=0, dtype=np.float64))


@np.errstate(invalid="ignore", over="ignore")  # callers check the result and name the row
def gram(X: NDArray, Z: NDArray | None = None, *, mean: Array) -> Array:
    """(X − mean)(Z − mean)ᵀ, accumulated in float64 over chunks of columns; Z is X where it is None."""
    other = X if Z is None else Z
    result = np.zeros((len(X), len(other)))
    for columns in chunks(X.shape[1], max(len(X), len(other))):
        left = np.subtract(X[:, columns], mean[columns], dtype=np.float64)
        right = left if Z is None else np.subtract(Z[:, columns], mean[columns], dtype=np.float64)
        result += left @ right.T
    return result


@np.errstate(invalid="ignore", over="ignore")  # callers check the result and name the row
def moments(X: NDArray, Y: NDArray, *, mean: Array) -> tuple[Array, Array, Array]:
    """(X − mean)ᵀ(X − mean), (X − mean)ᵀY and the column sums of X − mean, over chunks of rows in float64."""
    p, q = X.shape[1], Y.shape[1]
    square, cross, total = np.zeros((p, p)), np.zeros((p, q)), np.zeros(p)
    for rows in chunks(len(X), p):
        block = np.subtract(X[rows], mean, dtype=np.float64)
        square += block.T @ block
        cross += block.T @ Y[rows]
        total += block.sum(axis=0)
    return square, cross, total
