"""Partial least squares regression (PLS2), in a dual form (stimuli) and a primal form (features)."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, as_array_like, check_inputs, chunks, column_means, require_finite
from brainscore_core.numerics._pls_components import FORMED, Components, dot, extract
from brainscore_core.numerics._processors import (
    WorkerThreads,
    import_torch,
    on_device,
    resolve_device,
    to_numpy,
    worker_threads,
)
from brainscore_core.numerics.linear_regression import (
    LinearFit,
    LinearRegression,
    Scores,
    SplitFit,
    Splits,
    left_out_of_scores,
)
from brainscore_core.numerics.stimulus_products import FLAT, fast_gram, gram_on, moments, scaled_features

_KEPT = 0.1
"""Held-out rows are subtracted from the whole if at least this fraction of the sums of squares remains."""

_EPS = np.finfo(np.float64).eps

_LEAST_IN_FLOAT32 = 0.1
"""Smallest variance of features along a component, relative to the mean over stimuli of what is computed in float32.

For components with less variance, rounding in float32 may change predictions by more than 1e-5 of their deviation.
"""


class Stimuli(NamedTuple):
    """All stimuli, represented by their products with each other."""

    K: Any  # n × n: products of all stimuli, centred
    norm: Any  # Frobenius norm of K
    Y: Any  # n × q: responses, centred
    KY: Any  # n × q: their product, if the products of responses through the features are stored
    rounded: float  # mean diagonal of the part of K that was computed in float32


class DualForm:
    """Training sets represented by the products of stimuli, so that images are scores of all stimuli.

    `weights` (s × n) say how often each training set contains each stimulus; ``y_mean`` (s × q) is the mean response of
    each training set. `xp` is ``numpy`` or ``torch``.
    """

    shrunk = 0.0  # K itself is not more precise
    twice = True

    def __init__(self, xp: Any, stimuli: Stimuli, weights: Array) -> None:
        K, norm, Y, self._KY, rounded = stimuli
        self.least = _LEAST_IN_FLOAT32 * rounded
        self.xp, self.shared, self._Y, self._counts = xp, K, Y, weights
        self._W = as_array_like(weights, Y, xp)
        self._n = self._W.sum(1)[:, None]
        self.y_mean = self._W @ Y / self._n
        # products of the training sets' sums with each stimulus
        self._KW = self._W @ K
        squares = self._W @ K.diagonal(), self._W @ (Y * Y).sum(1)
        x_size = squares[0] - dot(self._W, self._KW) / self._n[:, 0]
        y_size = squares[1] - self._n[:, 0] * dot(self.y_mean, self.y_mean)
        self._may_subtract = (x_size >= _KEPT * K.trace()) & (y_size >= _KEPT * (Y * Y).sum())
        self._rounding = float(self._n.max()) * _EPS
        smallest = self._rounding * xp.where(x_size < norm, x_size, norm) * y_size
        varies = (x_size > self._rounding * squares[0]) & (y_size > self._rounding * squares[1])
        self.smallest = xp.where(varies, smallest, np.inf)
        self.shape = len(weights), *Y.shape

    def forward(self, R: Any, removed: Any) -> Any:
        return self._W * (R @ self._Y.T - dot(R, self.y_mean)[:, None] - removed)

    def backward(self, E: Any) -> Any:
        return E @ self._Y

    def image(self, V: Any, product: Any) -> Any:
        product -= dot(self._W, product)[:, None] / self._n
        return product

    def covector(self, V: Any, image: Any) -> Any:
        return self._W * image

    def second(self, E: Any, image: Any, product: Any) -> Any:
        return self._W * self.image(E, product)

    def through(self, V: Any) -> Any:
        return self._W * self.image(V, V @ self.shared)

    def covariance(self, V: Any, image: Any) -> Any:
        return dot(V, image)

    def vanishes(self, size: Any, V: Any, before: Any) -> Any:
        return size <= self._rounding**2 * before

    def products(self, images: Any, loadings: Any) -> Any:
        xp, K, Y, KY = self.xp, self.shared, self._Y, self._KY
        whole = Y.T @ KY
        whole = (whole + whole.T) / 2
        result = []
        for s, counts in enumerate(self._counts):
            mean = self.y_mean[s]
            if counts.max() > 1 or not bool(self._may_subtract[s]):
                weighted_Y = self._W[s][:, None] * (Y - mean)
                M = weighted_Y.T @ (K @ weighted_Y)
                result.append((M + M.T) / 2)
                continue
            # Y of the training set is Y less that of the other rows, and its mean
            left_out = np.flatnonzero(counts == 0)
            left_out_Y = Y[left_out]
            through = left_out_Y.T @ (KY[left_out] - K[np.ix_(left_out, left_out)] @ left_out_Y / 2)
            sums = self._KW[s] * self._W[s]
            through += mean[:, None] * (sums @ Y - sums.sum() / 2 * mean)
            result.append(whole - through - through.T)
        return xp.stack(result)


class PrimalForm:
    """Training sets represented by the products of features, so that images are loadings of features.

    Features X (n × p) are centred by `x_mean` and divided by `x_scale`; responses Y (n × q) are centred; C and B are
    XᵀX and XᵀY of all stimuli. `weights` (s × n) say how often each training set contains each stimulus. The attributes
    ``x_mean`` and ``y_mean`` are those of each training set, relative to those of all stimuli. `xp` is ``numpy`` or
    ``torch``.
    """

    shrunk = 1e-2
    least = 0.0
    twice = False

    def __init__(
        self, xp: Any, X: NDArray, x_mean: Array, x_scale: float, Y: Array, C: Any, B: Any, weights: Array
    ) -> None:
        self.xp, self.shared = xp, C
        self._device = None if xp is np else C.device
        self._data = X, x_mean, x_scale, Y, B
        n = weights.sum(axis=1)
        self.y_mean = weights @ Y / n[:, None]
        y_squares = (Y * Y).sum(axis=1)
        y_sums = weights @ y_squares
        y_sizes = y_sums - n * dot(self.y_mean, self.y_mean)
        enough = y_sizes >= _KEPT * y_squares.sum()
        sets = [self._set(counts, subtract=bool(is_kept)) for counts, is_kept in zip(weights, enough, strict=True)]
        self._removed = [moments[0] for moments in sets]
        self._own = [moments[1] for moments in sets]
        self.x_mean = to_numpy(xp.stack([moments[3] for moments in sets])) / n[:, None]
        x_sums = np.array([moments[4] for moments in sets])
        x_sizes = x_sums - n * dot(self.x_mean, self.x_mean)
        cross_products = [
            moments[2] - moments[3][:, None] * on_device(mean, self._device)
            for moments, mean in zip(sets, self.y_mean, strict=True)
        ]
        self._B = xp.stack(cross_products)
        self._shift = as_array_like(self.x_mean, C, xp)
        self._n = as_array_like(n, C, xp)[:, None]
        self._x_size = as_array_like(x_sizes, C, xp)
        self._rounding = len(C) * _EPS
        self._rotation = None
        if self._B.shape[2] > len(C):
            self._rotation, R = xp.linalg.qr(self._B.mT)
            self._B = R.mT
        varies = (x_sizes > n * _EPS * x_sums) & (y_sizes > n * _EPS * y_sums)
        self.smallest = as_array_like(np.where(varies, self._rounding**2 * x_sizes * y_sizes, np.inf), C, xp)
        self.shape = self._B.shape

    def _set(self, counts: Array, *, subtract: bool) -> tuple[Any, Any, Any, Any, float]:
        """Rows to subtract from C, or the set's own C; its B and sums; its sum of squares. None is centred."""
        X, mean, scale, Y, B = self._data
        whole, p = float(self.shared.trace()), len(self.shared)
        left_out = np.flatnonzero(counts == 0)
        if subtract and counts.max() <= 1 and 2 * len(left_out) < len(X):
            if 2 * len(left_out) < p:
                block = scaled_features(X, left_out, mean, scale, self._device)
                cross, total, square = (
                    block.T @ on_device(Y[left_out], self._device),
                    block.sum(0),
                    float(block.ravel() @ block.ravel()),
                )
                removed, own_C = block, None
            else:
                missing, cross, total = moments(X, Y, left_out, mean=mean, scale=scale, device=self._device)
                removed, own_C, square = None, self.shared - missing, float(missing.trace())
            if whole - square >= _KEPT * whole:
                return removed, own_C, B - cross, -total, whole - square
        rows = np.repeat(np.arange(len(X)), counts.astype(int))
        own_C, cross, total = moments(X, Y, rows, mean=mean, scale=scale, device=self._device)
        return None, own_C, cross, total, float(own_C.trace())

    def restored(self, loadings: Any) -> Any:
        """Loadings of all responses, from compressed ones."""
        return loadings if self._rotation is None else loadings @ self._rotation.mT

    def forward(self, R: Any, removed: Any) -> Any:
        return (self._B @ R[..., None])[..., 0] - removed

    def backward(self, E: Any) -> Any:
        return (E[:, None] @ self._B)[:, 0]

    def image(self, V: Any, product: Any) -> Any:
        image = product
        for s, (block, own_C) in enumerate(zip(self._removed, self._own, strict=True)):
            if own_C is None:
                image[s] -= (block @ V[s]) @ block
            else:
                image[s] = own_C @ V[s]
        image -= (self._n[:, 0] * dot(self._shift, V))[:, None] * self._shift
        return image

    def covector(self, V: Any, image: Any) -> Any:
        return V

    def second(self, E: Any, image: Any, product: Any) -> Any:
        return image

    def through(self, V: Any) -> Any:
        return V

    def covariance(self, V: Any, image: Any) -> Any:
        return dot(V, V)

    def vanishes(self, size: Any, V: Any, before: Any) -> Any:
        return size <= self._rounding * self._x_size * dot(V, V)

    def products(self, images: Any, loadings: Any) -> Any:
        B = self._B - images.mT @ loadings if images.shape[1] else self._B
        return B.mT @ B


_GROUP_BYTES = 2**27
"""Memory in bytes of the training sets that are processed together."""

_FEW_STIMULI = 400
"""Number of stimuli below which Python takes most of the time, so that several threads wait for each other."""


@dataclass(frozen=True)
class PLS(LinearRegression):
    """Partial least squares: each component is the direction of largest covariance between features and responses.

    Parameters
    ----------
    n_components : int
        Number of components; features and responses are centred, but not scaled.
    device : str or torch.device, optional
        None: NumPy; ``'cpu'``, ``'cuda'``, …: PyTorch; ``'auto'``: a CUDA device if available, otherwise NumPy. Results
        agree to rounding.

    Notes
    -----
    Components are those to which NIPALS (``sklearn.cross_decomposition.PLSRegression(scale=False)``) converges. Each is
    computed to rounding, whereas power iterations with the default tolerance stop early. With more features than
    stimuli, only the stimuli × stimuli Gram matrix is used [1]_, otherwise XᵀX and XᵀY [2]_; predictions therefore do
    not depend on a rotation of the features. Splits share these products and are computed together. X may be a memory
    map; it is read in chunks.

    Large float32 features (stimuli² × features of 2·10⁹ or more) are multiplied in float32 on a CPU. If a component has
    too little variance for that, they are multiplied once more, in float64. Predictions differ from those in float64 by
    at most about 10⁻⁵ of their standard deviation.

    If features (or responses) have fewer independent directions than the requested components, the fit stops after the
    last direction, with a warning (``LinearFit.n_components`` is the number of components): further components would be
    rounding noise, and predictions from them arbitrary.

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
            raise ValueError(f"n_components is {self.n_components}; it must be a positive integer")

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p).

        Raises
        ------
        ValueError
            If there are fewer stimuli or features than components, or X or Y contain NaN or infinity, or differ in
            length.
        UserError
            If the device or PyTorch is not available.
        """
        X, Y = check_inputs(X, Y)
        n, p = X.shape
        self.check(n, p)
        rows = np.arange(n)
        problem = _Dual(X, Y, self.device) if p > n else _Primal(X, Y, self.device)
        ((weights, count),) = problem.weights([rows], self.n_components)
        self._warn(count)
        return LinearFit(column_means(X), Y.mean(axis=0), weights, X if p > n else None, count)

    def cross_fit(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[SplitFit]:
        """Predictions as in :meth:`cross_predict`, each with the effects of the training rows on them.

        The directions of the components are kept where a training row is left out.
        """
        X, Y = check_inputs(X, Y)
        n, p = X.shape
        for train, _ in splits:
            self.check(len(train), p)
        fewest = min((len(train) for train, _ in splits), default=n)
        if fewest < p <= n / 2:  # the products of all stimuli would be larger
            for train, test in splits:
                yield SplitFit(self.fit(X[train], Y[train]).predict(X[test]))
            return
        problem = _Dual(X, Y, self.device) if fewest < p else _Primal(X, Y, self.device)
        counts = []
        for (train, test), (predicted, count, scores) in zip(
            splits, problem.predictions(splits, self.n_components), strict=True
        ):
            counts.append(count)
            yield SplitFit(predicted, left_out=partial(left_out_of_scores, scores, Y, train, test))
        self._warn(min(counts, default=self.n_components))

    def check(self, n: int, p: int) -> None:
        """Raise an error for fewer training stimuli or features than components."""
        limit = min(n, p)
        if self.n_components > limit:
            raise ValueError(
                f"PLS with {self.n_components} components requires at least as many stimuli and features; there are "
                f"{n} stimuli and {p} features, so use at most {limit} components"
            )

    def _warn(self, count: int) -> None:
        if count < self.n_components:
            warnings.warn(
                f"PLS stopped after {count} of {self.n_components} components: the remainder of the features or the "
                "responses is rounding noise (features are linearly dependent or have very different sizes)",
                stacklevel=3,
            )


class _Dual:
    """All stimuli, represented by their products with each other."""

    def __init__(self, X: NDArray, Y: Array, device: Any) -> None:
        torch_device = resolve_device(device)
        self._xp = np if torch_device is None else import_torch()
        K, rounded = fast_gram(X, device=torch_device)
        self._X = X
        self._offset, self._y_scale, centred = _centred(Y)
        Y = as_array_like(centred, K, self._xp)
        self._rotation = None
        if Y.shape[1] > len(X):  # as many columns as rows contain the same information
            self._rotation, R = self._xp.linalg.qr(Y.T)
            Y = R.T
        self._use(K, Y, rounded)

    def _use(self, K: Any, Y: Any, rounded: float) -> None:
        n = len(K)
        # products of up to four inputs do not overflow or underflow, whatever their units
        self._x_scale = float(K.trace()) / n or 1.0
        with _threads(self._xp, n) as threads:
            squares = threads.run([partial(_divide, K[rows], self._x_scale, self._xp) for rows in threads.parts(n)])
            KY = None
            if Y.shape[1] <= FORMED:
                KY = self._xp.concatenate(
                    threads.run([partial(self._xp.matmul, K[rows], Y) for rows in threads.parts(n)])
                )
        self._stimuli = Stimuli(K, sum(squares) ** 0.5, Y, KY, rounded / self._x_scale)

    def weights(self, trains: list[NDArray[np.intp]], n_components: int) -> Iterator[tuple[Array, int]]:
        """Weights (n × q) of the stimuli of each training set, and their number of components."""
        for components, loadings, _, s in self._extracted(trains, n_components, directions=True):
            weights = to_numpy(components.directions[s].T @ loadings) * (self._y_scale / self._x_scale)
            yield weights, int(components.counts[s])

    def predictions(self, splits: Splits, n_components: int) -> Iterator[tuple[Array, int, Scores]]:
        """Predictions of each split's test rows, their number of components, and the scores of all rows."""
        tests = iter([test for _, test in splits])
        trains = [train for train, _ in splits]
        for components, loadings, y_mean, s in self._extracted(trains, n_components, directions=False):
            predicted = to_numpy(components.images[s][:, next(tests)].T @ loadings + y_mean)
            yield (
                predicted * self._y_scale + self._offset,
                int(components.counts[s]),
                partial(_rows_of, components.images[s]),
            )

    def _extracted(
        self, trains: list[NDArray[np.intp]], n_components: int, *, directions: bool
    ) -> Iterator[tuple[Components, Any, Any, int]]:
        n, q = self._stimuli.Y.shape
        size = n * (n_components * (1 + directions) + 8) + 3 * min(q, FORMED) ** 2
        make = partial(DualForm, self._xp, self._stimuli)
        rotation = self._rotation
        done = 0
        for form, components in _extracted(make, self._xp, trains, n, size, n_components, directions=directions):
            if not components.precise:
                self._use(gram_on(self._X), self._stimuli.Y, 0.0)
                yield from self._extracted(trains[done:], n_components, directions=directions)
                return
            for s in range(form.shape[0]):
                loadings, y_mean = components.loadings[s], form.y_mean[s]
                if rotation is not None:
                    loadings, y_mean = loadings @ rotation.T, y_mean @ rotation.T
                yield components, loadings, y_mean, s
                done += 1


class _Primal:
    """All stimuli, represented by the products of their features with each other and with the responses."""

    def __init__(self, X: NDArray, Y: Array, device: Any) -> None:
        torch_device = resolve_device(device)
        self._xp = np if torch_device is None else import_torch()
        self._X, self._x_mean = X, column_means(X)
        self._offset, self._y_scale, self._Y = _centred(Y)
        C, B, _ = moments(X, self._Y, mean=self._x_mean, device=torch_device)
        trace = float(C.trace())
        if not np.isfinite(trace):
            require_finite(C, X)
        self._data = X, self._x_mean
        self._x_scale = (trace / len(X)) ** 0.5
        if trace <= FLAT**2 * len(X) * float(self._x_mean @ self._x_mean):
            self._data, self._x_scale = (np.broadcast_to(0.0, X.shape), 0 * self._x_mean), 1.0
            C, B = 0 * C, 0 * B
        C /= self._x_scale
        C /= self._x_scale
        self._C, self._B = C, B / self._x_scale

    def weights(self, trains: list[NDArray[np.intp]], n_components: int) -> Iterator[tuple[Array, int]]:
        """Weights (p × q) of the features for each training set, and their number of components."""
        for weights, count, *_ in self._fitted(trains, n_components):
            yield weights, count

    def predictions(self, splits: Splits, n_components: int) -> Iterator[tuple[Array, int, Scores]]:
        """Predictions of each split's test rows, their number of components, and the scores of all rows."""
        tests = iter([test for _, test in splits])
        for weights, count, x_mean, y_mean, directions in self._fitted([train for train, _ in splits], n_components):
            centred = scaled_features(self._X, next(tests), x_mean, 1.0, None)
            predicted = require_finite(centred @ weights + y_mean, centred)
            yield predicted, count, partial(self._scores, directions)

    def _scores(self, directions: Any) -> Array:
        weights = to_numpy(directions).T / self._x_scale
        scores = np.empty((len(self._X), weights.shape[1]))
        for rows in chunks(*self._X.shape):
            scores[rows] = self._X[rows] @ weights
        return scores

    def _fitted(
        self, trains: list[NDArray[np.intp]], n_components: int
    ) -> Iterator[tuple[Array, int, Array, Array, Any]]:
        p, q = self._B.shape
        held = max((len(self._X) - len(train) for train in trains), default=0)
        width = held if 2 * held < p else p

        size = p * (2 * n_components + 8 + q + width) + 3 * min(q, FORMED) ** 2
        make = partial(PrimalForm, self._xp, *self._data, self._x_scale, self._Y, self._C, self._B)
        for form, components in _extracted(make, self._xp, trains, len(self._X), size, n_components):
            loadings = form.restored(components.loadings)
            for s in range(form.shape[0]):
                fitted = to_numpy(components.directions[s].T @ loadings[s]) * (self._y_scale / self._x_scale)
                x_mean = self._x_mean + form.x_mean[s] * self._x_scale
                y_mean = self._offset + form.y_mean[s] * self._y_scale
                yield fitted, int(components.counts[s]), x_mean, y_mean, components.directions[s]


def _rows_of(images: Any) -> Array:
    return np.asarray(to_numpy(images).T)


def _centred(Y: Array) -> tuple[Array, float, Array]:
    """Mean and size of the responses, and the responses minus the mean and divided by the size."""
    mean = Y.mean(axis=0)
    centred = Y - mean
    size = float(np.linalg.norm(centred))
    if size <= FLAT * float(np.linalg.norm(mean)) * len(Y) ** 0.5:
        return mean, 0.0, 0 * centred
    centred /= size
    return mean, size, centred


def _divide(K: Any, scale: float, xp: Any) -> Any:
    """Divide in place, and return the sum of squares."""
    K /= scale
    return xp.linalg.norm(K) ** 2


def _threads(xp: Any, n: int) -> AbstractContextManager[WorkerThreads]:
    return worker_threads(n * n if xp is np and n >= _FEW_STIMULI else 0)


AnyForm = TypeVar("AnyForm", DualForm, PrimalForm)


def _extracted(
    make: Callable[[Array], AnyForm],
    xp: Any,
    trains: list[NDArray[np.intp]],
    n: int,
    numbers: int,
    n_components: int,
    *,
    directions: bool = True,
) -> Iterator[tuple[AnyForm, Components]]:
    """Forms of some training sets each, and their components.

    `make` returns the form of training sets, given how often each of them contains each stimulus (sets × n). As many
    sets are processed together as fit into the working memory, if `numbers` is the size of one, a form for each thread.
    """
    step = max(1, _GROUP_BYTES // (8 * numbers))
    for start in range(0, len(trains), step):
        group = trains[start : start + step]
        weights = np.stack([np.bincount(train, minlength=n) for train in group]).astype(np.float64)
        with _threads(xp, n) as threads:
            forms = threads.run([partial(make, weights[sets]) for sets in threads.parts(len(group))])
            components = extract(forms, n_components, threads, directions=directions)
        yield from zip(forms, components, strict=True)
