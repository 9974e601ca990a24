"""Ridge regression in PyTorch: one factorisation a split, which devices do fast, of products computed once for all."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics._arrays import Array, column_means
from brainscore_core.numerics._gram import gram_on
from brainscore_core.numerics._linear import LinearFit, finite, left_out
from brainscore_core.numerics._pls_forms import moments_on
from brainscore_core.numerics._torch import import_torch, to_device, to_numpy

if TYPE_CHECKING:
    import torch

__all__ = ["cross_predict_on", "fit_on"]

Rows = NDArray[np.intp]


def fit_on(X: NDArray, Y: Array, alpha: float, device: "torch.device") -> LinearFit:
    """Fit responses Y (n × q) from features X (n × p), in the dual form where p > n."""
    x_mean, y_mean = column_means(X), Y.mean(axis=0)
    if X.shape[1] > len(X):
        weights = _solve(gram_on(X, device=device), to_device(Y - y_mean, device), alpha)
        return LinearFit(x_mean, y_mean, to_numpy(weights), X)
    C, B, _ = _moments(X, Y - y_mean, slice(None), x_mean, device)
    return LinearFit(x_mean, y_mean, to_numpy(_solve(C, B, alpha)))


def cross_predict_on(
    X: NDArray, Y: Array, splits: Sequence[tuple[Rows, Rows]], alpha: float, device: "torch.device"
) -> Iterator[Array]:
    """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
    n, p = X.shape
    if p > n:
        K, responses = gram_on(X, device=device), to_device(Y, device)
        for train, test in splits:
            yield to_numpy(_predict_dual(K, responses, train, test, alpha))
        return
    x_mean = column_means(X)
    whole = _moments(X, Y, slice(None), x_mean, device)
    for train, test in splits:
        if len(train) < p:  # moments of more features than stimuli keep too few digits
            yield fit_on(X[train], Y[train], alpha, device).predict(X[test])
            continue
        y_mean = Y[train].mean(axis=0)
        rest = left_out(train, n)
        if rest is None:
            C, B, total = _moments(X, Y, train, x_mean, device)
        else:
            C, B, total = (a - b for a, b in zip(whole, _moments(X, Y, rest, x_mean, device), strict=True))
        shift = total / len(train)
        C -= len(train) * shift[:, None] * shift
        B -= total[:, None] * to_device(y_mean, device)
        features = to_device(np.subtract(X[test], x_mean, dtype=np.float64), device) - shift
        yield to_numpy(features @ _solve(C, B, alpha)) + y_mean


def _predict_dual(K: Any, Y: Any, train: Rows, test: Rows, alpha: float) -> Any:
    torch = import_torch()
    fitted, tested = (torch.as_tensor(np.asarray(rows), device=K.device) for rows in (train, test))
    inner, outer = K[fitted][:, fitted], K[tested][:, fitted]
    means = inner.mean(0)
    outer = outer - outer.mean(1, keepdim=True) - (means - means.mean())
    inner = inner - means - (means - means.mean())[:, None]
    y_mean = Y[fitted].mean(0)
    return outer @ _solve(inner, Y[fitted] - y_mean, alpha) + y_mean


def _moments(X: NDArray, Y: Array, rows: Rows | slice, mean: Array, device: "torch.device") -> tuple[Any, Any, Any]:
    C, B, total = moments_on(X, Y, rows, mean, 1.0, device)
    if not bool(C.isfinite().all()):
        finite(to_numpy(C), X)
    return C, B, total


def _solve(A: Any, B: Any, alpha: float) -> Any:
    """Solve (A + alpha · I) W = B for positive semidefinite A."""
    torch = import_torch()
    shifted = A.clone()
    shifted.diagonal().add_(alpha)
    factor, info = torch.linalg.cholesky_ex(shifted)
    if int(info) == 0:
        return torch.cholesky_solve(B, factor)
    values, vectors = torch.linalg.eigh(A)  # rounding made an eigenvalue more negative than alpha is positive
    return vectors @ ((vectors.T @ B) / (values.clamp_min(0.0) + alpha)[:, None])
