"""Ridge regression that chooses its penalty by leaving out one stimulus at a time, or folds of them."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array, column_means
from brainscore_core.numerics._dominant import like
from brainscore_core.numerics._gram import gram_on
from brainscore_core.numerics._linear import LinearFit, centred_blocks, centred_features, inputs
from brainscore_core.numerics._ridge_folds import Folds, check_folds, eigh, errors_dual, errors_primal, folds_of, proper
from brainscore_core.numerics._torch import chunk_columns, import_torch, resolve, to_device, to_numpy

__all__ = ["Chosen", "RidgeCV"]


class Chosen(NamedTuple):
    """Predictions and the penalty behind them.

    Attributes
    ----------
    predicted : array, n_test × q
        Predictions of the test rows.
    alpha : float or array of float
        Penalty that was chosen; one a response where each has its own.
    """

    predicted: Array
    alpha: float | Array


@dataclass(frozen=True)
class RidgeCV:
    """Ridge regression with a free intercept and the penalty whose error on held-out stimuli is the smallest.

    Parameters
    ----------
    alphas : sequence of float
        Penalties to choose from; the first of equally good ones is taken.
    alpha_per_target : bool
        Whether each response has its own penalty. Otherwise one is chosen by the mean squared error of all responses.
    cv : int, splitter or sequence of (array, array), optional
        How errors are found. None: one stimulus is left out at a time. A number: so many folds of consecutive stimuli.
        An object with scikit-learn's ``split(X)``, for shuffled folds. Or pairs of rows to train on and rows to test
        on, counted within the stimuli of a fit. The error is the squared error averaged over the test stimuli of a
        fold, then over folds.
    device : str or torch.device, optional
        None computes with NumPy; ``'cpu'``, ``'cuda'``, … with PyTorch; ``'auto'`` on a CUDA device where there is one
        and with NumPy otherwise. Values agree to rounding.

    Notes
    -----
    Leave-one-out errors follow from the residuals and the diagonal of the hat matrix [1]_, for all penalties from one
    eigendecomposition: of XᵀX where there are fewer features than stimuli, of XXᵀ otherwise. Equal to
    ``sklearn.linear_model.RidgeCV``. Shrinkage factors of many penalties are nearly dependent on each other, so that
    about thirty products serve a hundred penalties, to rounding.

    With folds features and responses are centred by the means of each training set, and the chosen penalty is fitted to
    all. The choice is that of ``himalaya.kernel_ridge.KernelRidgeCV(fit_intercept=True)`` [2]_ in float64, which among
    penalties whose errors differ by less than about 10⁻⁹ prefers the larger ones. Where the test stimuli are all that
    is not trained on, their residuals follow from the eigendecomposition of all: they are the solution of the block
    of (XXᵀ + alpha · I)⁻¹ that belongs to them, and of the same rows of its product with the responses.

    References
    ----------
    .. [1] Golub, Heath & Wahba (1979). Technometrics 21, 215–223. https://doi.org/10.1080/00401706.1979.10489751
    .. [2] Dupré la Tour et al. (2022). NeuroImage 264, 119728. https://doi.org/10.1016/j.neuroimage.2022.119728

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 20))
    >>> RidgeCV(alphas=[0.1, 10.0, 1e6]).fit(X, X[:, :3] + rng.standard_normal((50, 3))).alpha
    10.0
    >>> RidgeCV(alphas=[0.1, 10.0, 1e6], cv=5).fit(X, X[:, :3] + rng.standard_normal((50, 3))).alpha
    10.0
    """

    alphas: Sequence[float]
    alpha_per_target: bool = False
    _: KW_ONLY
    cv: Any = None
    device: Any = None

    def __post_init__(self) -> None:
        values = np.asarray(self.alphas, dtype=np.float64)
        if values.ndim != 1 or not values.size:
            raise ValueError(f"alphas is {self.alphas!r}; a list of at least one penalty is needed")
        wrong = values[~(np.isfinite(values) & (values > 0))]
        if wrong.size:
            raise ValueError(f"alphas holds {float(wrong[0])}; positive numbers are needed")
        check_folds(self.cv)

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p); ``alpha`` of the result is the chosen penalty.

        Raises
        ------
        ValueError
            If X or Y hold NaN or infinity, or differ in length, there are fewer than two stimuli or fewer than folds,
            or rows of `cv` are not among the stimuli.
        UserError
            If the device, or PyTorch, is not there.
        """
        return self._fit(*inputs(X, Y))[0]

    def cross_predict(
        self, X: ArrayLike, Y: ArrayLike, splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        return (chosen.predicted for chosen in self.cross_choose(X, Y, splits))

    def cross_choose(
        self, X: ArrayLike, Y: ArrayLike, splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> Iterator[Chosen]:
        """Predictions as :meth:`cross_predict` makes them, each with the penalty that its training rows chose."""
        X, Y = inputs(X, Y)
        n, p = X.shape
        for train, _ in splits:
            self.check(len(train), p)
        device = resolve(self.device)
        K = gram_on(X, device=device) if p >= n else None
        responses = Y if device is None or K is None else to_device(Y, device)
        for train, test in splits:
            if K is None:
                fit, alpha = self._fit(X[train], Y[train])
                yield Chosen(fit.predict(X[test]), alpha)
                continue
            inner, outer = centred_blocks(K, train, test)
            y_mean = responses[train].mean(0)
            weights, alpha = self._dual(inner, responses[train] - y_mean, self._folds(len(train)))
            yield Chosen(to_numpy(outer @ weights + y_mean), alpha)

    def check(self, n: int, p: int) -> None:
        """Refuse fewer than two training stimuli, fewer than folds, or no features."""
        if n < 2 or p < 1:
            raise ValueError(
                f"choosing a penalty on held-out stimuli needs at least two, and one feature; these are {n} and {p}"
            )
        if isinstance(self.cv, int | np.integer) and n < self.cv:
            raise ValueError(f"{self.cv} folds need at least as many stimuli; these are {n}")

    def _folds(self, n: int) -> Folds | None:
        return None if self.cv is None else folds_of(self.cv, n)

    def _fit(self, X: NDArray, Y: Array) -> tuple[LinearFit, float | Array]:
        n, p = X.shape
        self.check(n, p)
        device, folds = resolve(self.device), self._folds(n)
        x_mean, y_mean = column_means(X), Y.mean(axis=0)
        responses = Y - y_mean if device is None else to_device(Y - y_mean, device)
        if p >= (n if folds is None else min(len(train) for train, _ in folds)):
            weights, alpha = self._dual(gram_on(X, device=device), responses, folds)
            return LinearFit(x_mean, y_mean, to_numpy(weights), X, alpha=alpha), alpha
        centred = centred_features(X, mean=x_mean)
        features = centred if device is None else to_device(centred, device)
        weights, alpha = self._primal(features, responses, folds)
        return LinearFit(x_mean, y_mean, to_numpy(weights), alpha=alpha), alpha

    def _primal(self, X: Any, Y: Any, folds: Folds | None) -> tuple[Any, float | Array]:
        n, xp, alphas = len(X), _module(X), np.asarray(self.alphas, dtype=np.float64)
        values, vectors = eigh(X.T @ X, xp)
        Q = vectors.T @ (X.T @ Y)
        if folds is None:
            shift = (values + alphas.min()) ** 0.5  # keeps the shrinkage factors within (0, 1]
            shrinkage = to_numpy(shift)[:, None] ** 2 / (to_numpy(values)[:, None] + alphas)
            errors = _leave_one_out(X @ vectors / shift, Q / shift[:, None], shrinkage, Y, 1 - 1 / n, xp)
        else:
            errors = errors_primal(X, Y, folds, alphas, xp)
        return self._chosen(vectors, values, Q, errors, xp)

    def _dual(self, K: Any, Y: Any, folds: Folds | None) -> tuple[Any, float | Array]:
        n, xp, alphas = len(K), _module(K), np.asarray(self.alphas, dtype=np.float64)
        # the constant is an eigenvector of eigenvalue 0; moved to the top it is told apart from other null ones
        size = 2 * float(xp.linalg.norm(K)) or 1.0
        values, vectors = eigh(K + size / n, xp)
        values, vectors = values[:-1], vectors[:, :-1]
        Q = vectors.T @ Y
        if folds is None:
            shrinkage = (float(values.min()) + alphas) / (to_numpy(values)[:, None] + alphas)
            errors = _leave_one_out(vectors, Q, shrinkage, None, 0.0, xp)
        else:
            errors = errors_dual(K, Y, (values, vectors), folds, alphas, xp)
        # a fit is the same without directions in which no stimulus differs
        return self._chosen(vectors, values, xp.where(proper(values, n)[:, None], Q, 0.0), errors, xp)

    def _chosen(self, vectors: Any, values: Any, Q: Any, errors: Array, xp: Any) -> tuple[Any, float | Array]:
        errors = errors if self.alpha_per_target else errors.mean(axis=1, keepdims=True)
        best = np.asarray(self.alphas, dtype=np.float64)[errors.argmin(axis=0)]
        weights = vectors @ (Q / (values[:, None] + like(best, values, xp)))
        return weights, best if self.alpha_per_target else float(best[0])


def _module(x: Any) -> Any:
    return np if isinstance(x, np.ndarray) else import_torch()


def _leave_one_out(basis: Any, Q: Any, shrinkage: Array, Y: Any, diagonal: float, xp: Any) -> Array:
    """Mean squared leave-one-out error of each penalty × response.

    The error is (Y − basis · shrinkage · Q) / (diagonal − basis² · shrinkage), of which numerator and denominator may
    be scaled alike; without Y both have no first term.
    """
    n, q, n_alphas = len(basis), Q.shape[1], shrinkage.shape[1]
    factors, mixing = (like(part, basis, xp) for part in _compressed(shrinkage))
    remaining = (diagonal - basis**2 @ like(shrinkage, basis, xp)).T[:, :, None]
    errors = np.empty((n_alphas, q))
    for columns in chunk_columns(n * (n_alphas + 2 * len(mixing)), q, None if xp is np else basis.device):
        parts = xp.stack([basis @ (factor[:, None] * Q[:, columns]) for factor in factors.T])
        fitted = (mixing.T @ parts.reshape(len(mixing), -1)).reshape(n_alphas, n, -1)
        if Y is not None:
            fitted -= Y[:, columns]
        fitted /= remaining
        errors[:, columns] = to_numpy(xp.einsum("aij,aij->aj", fitted, fitted)) / n
    return errors


def _compressed(shrinkage: Array) -> tuple[Array, Array]:
    """Few factors, and how each penalty's factors are mixed of them; exact to rounding."""
    n_alphas = shrinkage.shape[1]
    left, singular, right = np.linalg.svd(shrinkage, full_matrices=False)
    rank = int((singular > np.finfo(np.float64).eps * singular[0]).sum())
    if rank >= n_alphas:
        return shrinkage, np.eye(n_alphas)
    return left[:, :rank] * singular[:rank], right[:rank]
