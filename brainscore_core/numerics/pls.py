"""Partial least squares regression (PLS2)."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array, column_means
from brainscore_core.numerics._dominant import like
from brainscore_core.numerics._gram import FLAT, gram_on
from brainscore_core.numerics._linear import LinearFit, finite, inputs
from brainscore_core.numerics._pls import FORMED, Components, extract
from brainscore_core.numerics._pls_forms import DualForm, PrimalForm, moments_on
from brainscore_core.numerics._torch import import_torch, resolve, to_numpy

__all__ = ["PLS"]

_GROUP_BYTES = 2**27
"""Memory of the training sets that are advanced together."""

Splits = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class PLS:
    """Partial least squares: each component is the direction of largest covariance between features and responses.

    Parameters
    ----------
    n_components : int
        Components to use; features and responses are centred, not scaled.
    device : str or torch.device, optional
        None computes with NumPy; ``'cpu'``, ``'cuda'``, … with PyTorch; ``'auto'`` on a CUDA device where there is one
        and with NumPy otherwise. Values agree to rounding.

    Notes
    -----
    Components are those that NIPALS (``sklearn.cross_decomposition.PLSRegression(scale=False)``) converges to; each is
    found to rounding rather than by power iterations that stop early, as they do at their default tolerance. With more
    features than stimuli only the stimuli × stimuli Gram matrix enters [1]_, otherwise XᵀX and XᵀY [2]_, so predictions
    do not depend on how the features are rotated. Splits share these products and are advanced together. X may be a
    memory map; it is read in chunks.

    Where features (or responses) hold fewer independent directions than components are asked for, the fit stops at
    the last one that is there, with a warning (``LinearFit.n_components`` says how many): what would follow is
    rounding noise, and predictions made of it are arbitrary.

    References
    ----------
    .. [1] Rosipal & Trejo (2001). Journal of Machine Learning Research 2, 97–123.
       https://www.jmlr.org/papers/v2/rosipal01a.html
    .. [2] Dayal & MacGregor (1997). Journal of Chemometrics 11, 73–85.
       https://doi.org/10.1002/(SICI)1099-128X(199701)11:1<73::AID-CEM435>3.0.CO;2-#

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 200))
    >>> fit = PLS(n_components=5).fit(X, X[:, :3])
    >>> fit.predict(X).shape, fit.n_components
    ((30, 3), 5)
    """

    n_components: int = 25
    _: KW_ONLY
    device: Any = None

    def __post_init__(self) -> None:
        if self.n_components != int(self.n_components) or self.n_components < 1:
            raise ValueError(f"n_components is {self.n_components}; a positive whole number is needed")

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p).

        Raises
        ------
        ValueError
            If there are fewer stimuli or features than components, or X or Y hold NaN or infinity or differ in length.
        UserError
            If the device, or PyTorch, is not there.
        """
        X, Y = inputs(X, Y)
        n, p = X.shape
        self.check(n, p)
        rows = np.arange(n)
        problem = _Dual(X, Y, self.device) if p > n else _Primal(X, Y, self.device)
        ((weights, count),) = problem.weights([rows], self.n_components)
        self._warn(count)
        return LinearFit(column_means(X), Y.mean(axis=0), weights, X if p > n else None, count)

    def cross_predict(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        X, Y = inputs(X, Y)
        n, p = X.shape
        for train, _ in splits:
            self.check(len(train), p)
        fewest = min((len(train) for train, _ in splits), default=n)
        if fewest < p <= n / 2:  # products of all stimuli would be the larger
            for train, test in splits:
                yield self.fit(X[train], Y[train]).predict(X[test])
            return
        problem = _Dual(X, Y, self.device) if fewest < p else _Primal(X, Y, self.device)
        counts = []
        for predicted, count in problem.predictions(splits, self.n_components):
            counts.append(count)
            yield predicted
        self._warn(min(counts, default=self.n_components))

    def check(self, n: int, p: int) -> None:
        """Refuse fewer training stimuli or features than components."""
        limit = min(n, p)
        if self.n_components > limit:
            raise ValueError(
                f"PLS with {self.n_components} components needs at least as many stimuli and features; there are "
                f"{n} stimuli and {p} features, so use at most {limit} components"
            )

    def _warn(self, count: int) -> None:
        if count < self.n_components:
            warnings.warn(
                f"PLS stopped after {count} of {self.n_components} components: what is left of the features, or "
                "of the responses, is rounding noise (features that depend on each other, or of very different size)",
                stacklevel=3,
            )


class _Dual:
    """All stimuli by their products with each other."""

    def __init__(self, X: NDArray, Y: Array, device: Any) -> None:
        found = resolve(device)
        self._xp = np if found is None else import_torch()
        self._K = gram_on(X, "X", device=found)
        n = len(X)
        # products of up to four of the inputs stay representable, whatever the units
        self._x_scale = float(self._K.trace()) / n or 1.0
        self._K /= self._x_scale
        self._offset, self._y_scale, centred = _centred(Y)
        Y = like(centred, self._K, self._xp)
        self._rotation = None
        if Y.shape[1] > n:  # as many columns as rows say the same
            self._rotation, R = self._xp.linalg.qr(Y.T)
            Y = R.T
        self._Y = Y

    def weights(self, trains: list[NDArray[np.intp]], n_components: int) -> Iterator[tuple[Array, int]]:
        """Weights (n × q) of the stimuli of each training set, and how many components they have."""
        for found, loadings, _, s in self._extracted(trains, n_components):
            weights = to_numpy(found.directions[s].T @ loadings) * (self._y_scale / self._x_scale)
            yield weights, int(found.counts[s])

    def predictions(self, splits: Splits, n_components: int) -> Iterator[tuple[Array, int]]:
        """Predictions of each split's test rows, and how many components they have."""
        tests = iter([test for _, test in splits])
        for found, loadings, y_mean, s in self._extracted([train for train, _ in splits], n_components):
            predicted = to_numpy(found.images[s][:, next(tests)].T @ loadings + y_mean)
            yield predicted * self._y_scale + self._offset, int(found.counts[s])

    def _extracted(
        self, trains: list[NDArray[np.intp]], n_components: int
    ) -> Iterator[tuple[Components, Any, Any, int]]:
        n, q = self._Y.shape
        for weights in _groups(trains, n, n * (2 * n_components + 8) + 3 * min(q, FORMED) ** 2):
            form = DualForm(self._xp, self._K, self._Y, weights)
            found = extract(form, n_components)
            rotation = self._rotation
            for s in range(len(weights)):
                loadings, y_mean = found.loadings[s], form.y_mean[s]
                if rotation is not None:
                    loadings, y_mean = loadings @ rotation.T, y_mean @ rotation.T
                yield found, loadings, y_mean, s


class _Primal:
    """All stimuli by their features' products with each other and with the responses."""

    def __init__(self, X: NDArray, Y: Array, device: Any) -> None:
        found = resolve(device)
        self._xp = np if found is None else import_torch()
        self._X, self._x_mean = X, column_means(X)
        self._offset, self._y_scale, self._Y = _centred(Y)
        C, B, _ = moments_on(X, self._Y, slice(None), self._x_mean, 1.0, found)
        trace = float(C.trace())
        if not np.isfinite(trace):
            finite(C, X)
        self._data = X, self._x_mean
        self._x_scale = (trace / len(X)) ** 0.5
        if trace <= FLAT**2 * len(X) * float(self._x_mean @ self._x_mean):
            self._data, self._x_scale = (np.broadcast_to(0.0, X.shape), 0 * self._x_mean), 1.0
            C, B = 0 * C, 0 * B
        C /= self._x_scale
        C /= self._x_scale
        self._C, self._B = C, B / self._x_scale

    def weights(self, trains: list[NDArray[np.intp]], n_components: int) -> Iterator[tuple[Array, int]]:
        """Weights (p × q) of the features for each training set, and how many components they have."""
        for weights, count, _, _ in self._fitted(trains, n_components):
            yield weights, count

    def predictions(self, splits: Splits, n_components: int) -> Iterator[tuple[Array, int]]:
        """Predictions of each split's test rows, and how many components they have."""
        tests = iter([test for _, test in splits])
        for weights, count, x_mean, y_mean in self._fitted([train for train, _ in splits], n_components):
            fit = LinearFit(x_mean, y_mean, weights)
            yield fit.predict(self._X[next(tests)]), count

    def _fitted(self, trains: list[NDArray[np.intp]], n_components: int) -> Iterator[tuple[Array, int, Array, Array]]:
        p, q = self._B.shape
        held = max((len(self._X) - len(train) for train in trains), default=0)
        width = held if 2 * held < p else p
        for weights in _groups(trains, len(self._X), p * (2 * n_components + 8 + q + width) + 3 * min(q, FORMED) ** 2):
            form = PrimalForm(self._xp, *self._data, self._x_scale, self._Y, self._C, self._B, weights)
            found = extract(form, n_components)
            loadings = form.restored(found.loadings)
            for s in range(len(weights)):
                fitted = to_numpy(found.directions[s].T @ loadings[s]) * (self._y_scale / self._x_scale)
                x_mean = self._x_mean + form.x_mean[s] * self._x_scale
                y_mean = self._offset + form.y_mean[s] * self._y_scale
                yield fitted, int(found.counts[s]), x_mean, y_mean


def _centred(Y: Array) -> tuple[Array, float, Array]:
    """Mean and size of the responses, and the responses less the one and divided by the other."""
    mean = Y.mean(axis=0)
    centred = Y - mean
    size = float(np.linalg.norm(centred))
    if size <= FLAT * float(np.linalg.norm(mean)) * len(Y) ** 0.5:
        return mean, 0.0, 0 * centred
    centred /= size
    return mean, size, centred


def _groups(trains: list[NDArray[np.intp]], n: int, numbers: int) -> Iterator[Array]:
    """How often each training set of a group holds each stimulus; sets of so many numbers fit the working memory."""
    step = max(1, _GROUP_BYTES // (8 * numbers))
    for start in range(0, len(trains), step):
        yield np.stack([np.bincount(train, minlength=n) for train in trains[start : start + step]]).astype(np.float64)
