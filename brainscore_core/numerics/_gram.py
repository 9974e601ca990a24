"""Products of all pairs of stimuli, accumulated in place."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics import _arrays
from brainscore_core.numerics._arrays import Array, column_means

__all__ = ["FLAT", "centred_gram", "row_gram"]

FLAT = 1e-13
"""Values that differ by less than this share of their size are taken to be equal."""


@np.errstate(invalid="ignore", over="ignore")  # the callers say what is not finite
def centred_gram(X: NDArray, name: str) -> Array:
    """(X − column means)(X − column means)ᵀ; all 0 where no column varies by more than rounding.

    Raises
    ------
    ValueError
        If values are not finite.
    """
    mean = column_means(X)
    K = _products(X, lambda columns: mean[columns])
    if not np.isfinite(K).all():
        rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
        raise ValueError(f"{name} is not finite{f' in row {rows[0]}' if len(rows) else ''}; features need to be finite")
    if float(np.trace(K)) <= FLAT**2 * len(X) * float(mean @ mean):
        K[:] = 0.0
    return K


@np.errstate(invalid="ignore", over="ignore")  # NaN is passed on
def row_gram(X: NDArray, *, centre: bool) -> Array:
    """X Xᵀ, each row's mean subtracted where `centre` says so."""
    if not centre:
        return _products(X, lambda _: None)
    mean = X.mean(axis=1, dtype=np.float64, keepdims=True)
    return _products(X, lambda _: mean)


def _products(X: NDArray, offset: Callable[[slice], Array | None]) -> Array:
    from scipy.linalg.blas import dsyrk

    n, p = X.shape
    total = np.zeros((n, n), order="F")
    for columns in _columns(n, p):
        block = X[:, columns]
        subtracted = offset(columns)
        block = block.astype(np.float64) if subtracted is None else np.subtract(block, subtracted, dtype=np.float64)
        total = dsyrk(1.0, block.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    for start in range(0, n, 256):  # the upper triangle, in blocks that fit the processor's cache
        stop = min(start + 256, n)
        corner = total[start:stop, start:stop]
        corner += np.tril(corner, -1).T
        total[start:stop, stop:] = total[stop:, start:stop].T
    return np.asarray(total.T)  # the same matrix, with contiguous rows


def _columns(n: int, p: int) -> Iterator[slice]:
    """A quarter of the working memory at a time: wider blocks are not faster."""
    step = max(1, _arrays.CHUNK_BYTES // (32 * n))
    return (slice(start, min(start + step, p)) for start in range(0, p, step))
