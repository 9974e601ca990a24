"""Products of all pairs of stimuli, accumulated in place over chunks of features."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from brainscore_core.numerics import _arrays
from brainscore_core.numerics._arrays import Array
from brainscore_core.numerics._torch import chunk_columns, to_device, to_numpy

if TYPE_CHECKING:
    import torch

__all__ = ["FLAT", "centred_gram", "gram_on", "row_gram"]

FLAT = 1e-13
"""Values that differ by less than this share of their size are taken to be equal."""


def centred_gram(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> Array:
    """(X − column means)(X − column means)ᵀ; all 0 where no column varies by more than rounding.

    Parameters
    ----------
    X : array, n × p
        May be a memory map: it is read once, a chunk of columns at a time, and each chunk converted to float64.
    name : str
        Name in messages.
    device : torch.device, optional
        Where to compute.

    Raises
    ------
    ValueError
        If values are not finite.
    """
    return to_numpy(gram_on(X, name, device=device))


@np.errstate(invalid="ignore", over="ignore")  # what is not finite is said below
def gram_on(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> Any:
    """As :func:`centred_gram`, left where it was computed: an array, or a tensor on `device`."""
    squared_mean = 0.0

    def centre(block: Any, _: slice) -> None:
        nonlocal squared_mean
        mean = block.mean(0)
        squared_mean += float(mean @ mean)
        block -= mean

    K = _products(X, centre) if device is None else _products_on(X, centre, device)
    trace = float(K.trace())
    if not np.isfinite(float(K.sum())):
        rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
        where = f"in row {rows[0]}" if len(rows) else "after squaring: its values are too large"
        raise ValueError(f"{name} is not finite {where}; features need to be finite")
    if trace <= FLAT**2 * len(X) * squared_mean:
        K[:] = 0.0
    return K


@np.errstate(invalid="ignore", over="ignore")  # NaN is passed on
def row_gram(X: NDArray, *, centre: bool, device: "torch.device | None" = None) -> Array:
    """X Xᵀ, each row's mean subtracted where `centre` says so."""
    mean: Any = X.mean(axis=1, dtype=np.float64, keepdims=True) if centre else None
    if centre and device is not None:
        mean = to_device(mean, device)

    def subtract(block: Any, _: slice) -> None:
        if mean is not None:
            block -= mean

    return _products(X, subtract) if device is None else to_numpy(_products_on(X, subtract, device))


Prepare = Callable[[Any, slice], None]
"""Changes a chunk of columns in place."""


def _products(X: NDArray, prepare: Prepare) -> Array:
    n, p = X.shape
    total = np.zeros((n, n), order="F")
    for columns in _columns(n, p):
        block = X[:, columns].astype(np.float64)
        prepare(block, columns)
        total = dsyrk(1.0, block.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    for start in range(0, n, 256):  # the upper triangle, in blocks that fit the processor's cache
        stop = min(start + 256, n)
        corner = total[start:stop, start:stop]
        corner += np.tril(corner, -1).T
        total[start:stop, stop:] = total[stop:, start:stop].T
    return np.asarray(total.T)  # the same matrix, with contiguous rows


def _products_on(X: NDArray, prepare: Prepare, device: "torch.device") -> "torch.Tensor":
    n, p = X.shape
    total = to_device(np.zeros((n, n)), device)
    for columns in chunk_columns(n, p, device):
        block = to_device(X[:, columns], device)
        prepare(block, columns)
        total.addmm_(block, block.T)
    return total


def _columns(n: int, p: int) -> Iterator[slice]:
    """A quarter of the working memory at a time: wider blocks are not faster."""
    step = max(1, _arrays.CHUNK_BYTES // (32 * max(1, n)))
    return (slice(start, min(start + step, p)) for start in range(0, p, step))
