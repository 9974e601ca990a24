"""Training sets as partial least squares needs them: by the products of stimuli, or of features."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics._arrays import Array, chunks
from brainscore_core.numerics._dominant import like
from brainscore_core.numerics._pls import dot
from brainscore_core.numerics._torch import to_device, to_numpy

if TYPE_CHECKING:
    import torch

__all__ = ["DualForm", "PrimalForm", "moments_on"]

_KEPT = 0.1
"""What is left out is subtracted from the whole if at least this share of the sums of squares remains."""

_EPS = np.finfo(np.float64).eps


class DualForm:
    """Training sets by the products of stimuli, so that images are scores of all stimuli.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``torch``.
    K : array or tensor, n × n
        Products of all stimuli, centred.
    Y : array or tensor, n × q
        Responses, centred.
    weights : array, s × n
        How often each training set holds each stimulus.

    Attributes
    ----------
    y_mean : array or tensor, s × q
        Mean response of each training set.
    """

    shrunk = 0.0  # K itself has no more digits

    def __init__(self, xp: Any, K: Any, Y: Any, weights: Array) -> None:
        self.xp, self._K, self._Y, self._counts = xp, K, Y, weights
        self._W = like(weights, Y, xp)
        self._n = self._W.sum(1)[:, None]
        self.y_mean = self._W @ Y / self._n
        self._KW = self._W @ K  # products of the training sets' sums with each stimulus
        squares = self._W @ K.diagonal(), self._W @ (Y * Y).sum(1)
        x_size = squares[0] - dot(self._W, self._KW) / self._n[:, 0]
        y_size = squares[1] - self._n[:, 0] * dot(self.y_mean, self.y_mean)
        self._may_subtract = (x_size >= _KEPT * K.trace()) & (y_size >= _KEPT * (Y * Y).sum())
        self._rounding = float(self._n.max()) * _EPS
        norm = xp.linalg.norm(K)
        smallest = self._rounding * xp.where(x_size < norm, x_size, norm) * y_size
        varies = (x_size > self._rounding * squares[0]) & (y_size > self._rounding * squares[1])
        self.smallest = xp.where(varies, smallest, np.inf)
        self.shape = len(weights), *Y.shape

    def forward(self, R: Any, removed: Any) -> Any:
        return self._W * (R @ self._Y.T - dot(R, self.y_mean)[:, None] - removed)

    def backward(self, E: Any) -> Any:
        return E @ self._Y

    def image(self, V: Any) -> Any:
        scores = V @ self._K
        scores -= dot(self._W, scores)[:, None] / self._n
        return scores

    def covector(self, V: Any, image: Any) -> Any:
        return self._W * image

    def second(self, E: Any, image: Any) -> Any:
        return self._W * self.image(E)

    def through(self, V: Any) -> Any:
        return self._W * self.image(V)

    def covariance(self, V: Any, image: Any) -> Any:
        return dot(V, image)

    def vanishes(self, size: Any, V: Any, before: Any) -> Any:
        return size <= self._rounding**2 * before

    def products(self, images: Any, loadings: Any) -> Any:
        xp, K, Y = self.xp, self._K, self._Y
        KY = K @ Y
        result = []
        for s, counts in enumerate(self._counts):
            own = self._W[s][:, None] * (Y - self.y_mean[s])
            rest = np.flatnonzero(counts == 0)
            if counts.max() > 1 or not bool(self._may_subtract[s]):
                image = K @ own
            else:
                image = KY - K[rest].T @ Y[rest] - self._KW[s][:, None] * self.y_mean[s]
            M = own.T @ image
            result.append((M + M.T) / 2)
        return xp.stack(result)


class PrimalForm:
    """Training sets by the products of features, so that images are loadings of features.

    Parameters
    ----------
    xp : module
        ``numpy`` or ``torch``.
    X : array, n × p
    x_mean, x_scale : array (p) and float
        Features are centred by the one and divided by the other.
    Y : array, n × q
        Responses, centred.
    C, B : array or tensor, p × p and p × q
        XᵀX and XᵀY of all stimuli.
    weights : array, s × n
        How often each training set holds each stimulus.

    Attributes
    ----------
    x_mean, y_mean : array, s × p and s × q
        Mean features and responses of each training set, where those of all stimuli are 0.
    """

    shrunk = 1e-2

    def __init__(
        self, xp: Any, X: NDArray, x_mean: Array, x_scale: float, Y: Array, C: Any, B: Any, weights: Array
    ) -> None:
        self.xp, self._C = xp, C
        self._device = None if xp is np else C.device
        self._data = X, x_mean, x_scale, Y, B
        n = weights.sum(axis=1)
        self.y_mean = weights @ Y / n[:, None]
        y_squares = (Y * Y).sum(axis=1)
        y_sums = weights @ y_squares
        y_sizes = y_sums - n * dot(self.y_mean, self.y_mean)
        enough = y_sizes >= _KEPT * y_squares.sum()
        sets = [self._set(counts, subtract=bool(kept)) for counts, kept in zip(weights, enough, strict=True)]
        self._removed = [found[0] for found in sets]
        self._own = [found[1] for found in sets]
        totals = xp.stack([found[3] for found in sets])
        self.x_mean = to_numpy(totals) / n[:, None]
        x_sums = np.array([found[4] for found in sets])
        x_sizes = x_sums - n * dot(self.x_mean, self.x_mean)
        parts = [
            found[2] - found[3][:, None] * _on(mean, self._device)
            for found, mean in zip(sets, self.y_mean, strict=True)
        ]
        self._B = xp.stack(parts)
        self._shift = like(self.x_mean, C, xp)
        self._n = like(n, C, xp)[:, None]
        self._x_size = like(x_sizes, C, xp)
        self._rounding = len(C) * _EPS
        self._rotation = None
        if self._B.shape[2] > len(C):
            self._rotation, R = xp.linalg.qr(self._B.mT)
            self._B = R.mT
        varies = (x_sizes > n * _EPS * x_sums) & (y_sizes > n * _EPS * y_sums)
        self.smallest = like(np.where(varies, self._rounding**2 * x_sizes * y_sizes, np.inf), C, xp)
        self.shape = self._B.shape

    def _set(self, counts: Array, *, subtract: bool) -> tuple[Any, Any, Any, Any, float]:
        """Rows to subtract from C, or the set's own C; its B and sums; its sum of squares. None of them centred."""
        X, mean, scale, Y, B = self._data
        whole, p = float(self._C.trace()), len(self._C)
        rest = np.flatnonzero(counts == 0)
        if subtract and counts.max() <= 1 and 2 * len(rest) < len(X):
            if 2 * len(rest) < p:
                block = _features(X, rest, mean, scale, self._device)
                cross, total, square = block.T @ _on(Y[rest], self._device), block.sum(0), float((block * block).sum())
                removed, own = block, None
            else:
                missing, cross, total = moments_on(X, Y, rest, mean, scale, self._device)
                removed, own, square = None, self._C - missing, float(missing.trace())
            if whole - square >= _KEPT * whole:
                return removed, own, B - cross, -total, whole - square
        rows = np.repeat(np.arange(len(X)), counts.astype(int))
        own, cross, total = moments_on(X, Y, rows, mean, scale, self._device)
        return None, own, cross, total, float(own.trace())

    def restored(self, loadings: Any) -> Any:
        """Loadings of all responses, where they were compressed."""
        return loadings if self._rotation is None else loadings @ self._rotation.mT

    def forward(self, R: Any, removed: Any) -> Any:
        return (self._B @ R[..., None])[..., 0] - removed

    def backward(self, E: Any) -> Any:
        return (E[:, None] @ self._B)[:, 0]

    def image(self, V: Any) -> Any:
        image = V @ self._C
        for s, (block, own) in enumerate(zip(self._removed, self._own, strict=True)):
            if own is None:
                image[s] -= (block @ V[s]) @ block
            else:
                image[s] = own @ V[s]
        image -= (self._n[:, 0] * dot(self._shift, V))[:, None] * self._shift
        return image

    def covector(self, V: Any, image: Any) -> Any:
        return V

    def second(self, E: Any, image: Any) -> Any:
        return image

    def through(self, V: Any) -> Any:
        return V

    def covariance(self, V: Any, image: Any) -> Any:
        return dot(V, V)

    def vanishes(self, size: Any, V: Any, before: Any) -> Any:
        return size <= self._rounding * self._x_size * dot(V, V)

    def products(self, images: Any, loadings: Any) -> Any:
        B = self._B - images.mT @ loadings
        return B.mT @ B


@np.errstate(invalid="ignore", over="ignore")  # the caller looks at the result
def moments_on(
    X: NDArray, Y: Array, rows: NDArray[np.intp] | slice, mean: Array, scale: float, device: "torch.device | None"
) -> tuple[Any, Any, Any]:
    """XᵀX, XᵀY and the column sums of rows of X, less `mean` and divided by `scale`, over chunks in float64."""
    Y, p = Y[rows], X.shape[1]
    chosen = np.arange(len(X))[rows]
    C, B, total = (_on(np.zeros(shape), device) for shape in ((p, p), (p, Y.shape[1]), p))
    for part in chunks(len(Y), p):
        block = _features(X, part if isinstance(rows, slice) else chosen[part], mean, scale, device)
        C += block.T @ block
        B += block.T @ _on(Y[part], device)
        total += block.sum(0)
    return C, B, total


def _features(
    X: NDArray, rows: NDArray[np.intp] | slice, mean: Array, scale: float, device: "torch.device | None"
) -> Any:
    block = np.subtract(X[rows], mean, dtype=np.float64)
    block /= scale
    return _on(block, device)


def _on(values: Array, device: "torch.device | None") -> Any:
    return values if device is None else to_device(values, device)
