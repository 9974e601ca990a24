"""Ridge regression that chooses its penalty by leaving out one stimulus at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from brainscore_core.numerics._arrays import Array, chunks, column_means
from brainscore_core.numerics._gram import centred_gram
from brainscore_core.numerics._linear import LinearFit, centred_blocks, centred_features, inputs

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
    """Ridge regression with a free intercept and the penalty whose leave-one-out error is the smallest.

    Parameters
    ----------
    alphas : sequence of float
        Penalties to choose from; the first of equally good ones is taken.
    alpha_per_target : bool
        Whether each response has its own penalty. Otherwise one is chosen by the mean squared error of all responses.

    Notes
    -----
    Leave-one-out errors follow from the residuals and the diagonal of the hat matrix [1]_, for all penalties from one
    eigendecomposition: of XᵀX where there are fewer features than stimuli, of XXᵀ otherwise. Equal to
    ``sklearn.linear_model.RidgeCV``. Shrinkage factors of many penalties are nearly dependent on each other, so that
    about thirty products serve a hundred penalties, to rounding.

    References
    ----------
    .. [1] Golub, Heath & Wahba (1979). Technometrics 21, 215–223. https://doi.org/10.1080/00401706.1979.10489751

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 20))
    >>> RidgeCV(alphas=[0.1, 10.0, 1e6]).fit(X, X[:, :3] + rng.standard_normal((50, 3))).alpha
    10.0
    """

    alphas: Sequence[float]
    alpha_per_target: bool = False

    def __post_init__(self) -> None:
        values = np.asarray(self.alphas, dtype=np.float64)
        if values.ndim != 1 or not values.size:
            raise ValueError(f"alphas is {self.alphas!r}; a list of at least one penalty is needed")
        wrong = values[~(np.isfinite(values) & (values > 0))]
        if wrong.size:
            raise ValueError(f"alphas holds {float(wrong[0])}; positive numbers are needed")

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p); ``alpha`` of the result is the chosen penalty.

        Raises
        ------
        ValueError
            If X or Y hold NaN or infinity, or differ in length, or there are fewer than two stimuli.
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
        K = centred_gram(X) if p >= n else None
        for train, test in splits:
            if K is None:
                fit, alpha = self._fit(X[train], Y[train])
                yield Chosen(fit.predict(X[test]), alpha)
                continue
            inner, outer = centred_blocks(K, train, test)
            y_mean = Y[train].mean(axis=0)
            weights, alpha = self._dual(inner, Y[train] - y_mean)
            yield Chosen(outer @ weights + y_mean, alpha)

    def check(self, n: int, p: int) -> None:
        """Refuse fewer than two training stimuli, or no features."""
        if n < 2 or p < 1:
            raise ValueError(f"leaving one stimulus out needs at least two, and one feature; these are {n} and {p}")

    def _fit(self, X: NDArray, Y: Array) -> tuple[LinearFit, float | Array]:
        self.check(*X.shape)
        x_mean, y_mean = column_means(X), Y.mean(axis=0)
        if X.shape[1] >= len(X):
            weights, alpha = self._dual(centred_gram(X), Y - y_mean)
            return LinearFit(x_mean, y_mean, weights, X, alpha=alpha), alpha
        centred = centred_features(X, mean=x_mean)
        weights, alpha = self._primal(centred, Y - y_mean)
        return LinearFit(x_mean, y_mean, weights, alpha=alpha), alpha

    def _primal(self, X: Array, Y: Array) -> tuple[Array, float | Array]:
        n = len(X)
        values, vectors = eigh(X.T @ X, check_finite=False)
        values = np.maximum(values, 0.0)
        alphas = np.asarray(self.alphas, dtype=np.float64)
        basis, Q = X @ vectors, vectors.T @ (X.T @ Y)
        shift = np.sqrt(values + alphas.min())  # keeps the shrinkage factors within (0, 1]
        shrinkage = shift[:, None] ** 2 / (values[:, None] + alphas)
        errors = _leave_one_out(basis / shift, Q / shift[:, None], shrinkage, Y, 1 - 1 / n, self.alpha_per_target)
        return self._chosen(vectors, values, Q, errors)

    def _dual(self, K: Array, Y: Array) -> tuple[Array, float | Array]:
        n = len(K)
        # the constant is an eigenvector of eigenvalue 0; moved to the top it is told apart from other null ones
        size = 2 * float(np.linalg.norm(K)) or 1.0
        values, vectors = eigh(K + size / n, check_finite=False)
        values, vectors = np.maximum(values[:-1], 0.0), vectors[:, :-1]
        alphas = np.asarray(self.alphas, dtype=np.float64)
        Q = vectors.T @ Y
        shrinkage = (values.min(initial=np.inf) + alphas) / (values[:, None] + alphas)
        errors = _leave_one_out(vectors, Q, shrinkage, None, 0.0, self.alpha_per_target)
        return self._chosen(vectors, values, Q, errors)

    def _chosen(self, vectors: Array, values: Array, Q: Array, errors: Array) -> tuple[Array, float | Array]:
        best = np.asarray(self.alphas, dtype=np.float64)[errors.argmin(axis=0)]
        weights = vectors @ (Q / (values[:, None] + best))
        return weights, best if self.alpha_per_target else float(best)


def _leave_one_out(
    basis: Array, Q: Array, shrinkage: Array, Y: Array | None, diagonal: float, per_target: bool
) -> Array:
    """Mean squared leave-one-out error of each penalty (× response where `per_target`).

    The error is (Y − basis · shrinkage · Q) / (diagonal − basis² · shrinkage), of which numerator and denominator may
    be scaled alike; without Y both have no first term.
    """
    n, q, n_alphas = len(basis), Q.shape[1], shrinkage.shape[1]
    factors, mixing = _compressed(shrinkage)
    remaining = (diagonal - basis**2 @ shrinkage).T[:, :, None]
    errors = np.empty((n_alphas, q))
    for columns in chunks(q, n * (n_alphas + 2 * len(mixing))):
        parts = np.stack([basis @ (factor[:, None] * Q[:, columns]) for factor in factors.T])
        fitted = np.tensordot(mixing, parts, axes=(0, 0))
        if Y is not None:
            fitted -= Y[:, columns]
        fitted /= remaining
        errors[:, columns] = np.einsum("aij,aij->aj", fitted, fitted) / n
    return errors if per_target else np.asarray(errors.mean(axis=1))


def _compressed(shrinkage: Array) -> tuple[Array, Array]:
    """Few factors, and how each penalty's factors are mixed of them; exact to rounding."""
    n_alphas = shrinkage.shape[1]
    left, singular, right = np.linalg.svd(shrinkage, full_matrices=False)
    rank = int((singular > np.finfo(np.float64).eps * singular[0]).sum())
    if rank >= n_alphas:
        return shrinkage, np.eye(n_alphas)
    return left[:, :rank] * singular[:rank], right[:rank]
