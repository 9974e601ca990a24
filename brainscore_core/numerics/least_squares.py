"""Ordinary least squares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, lapack, lstsq, qr, solve_triangular

from brainscore_core.numerics._arrays import Array, column_means
from brainscore_core.numerics._gram import centred_gram
from brainscore_core.numerics._linear import LinearFit, centred_blocks, centred_features, inputs

__all__ = ["LeastSquares"]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LeastSquares:
    """Least squares with a free intercept; of several solutions the one with the smallest weights.

    Notes
    -----
    Equal to ``sklearn.linear_model.LinearRegression``. Directions in which the features vary by less than rounding do
    not enter. With at most as many features as stimuli the features themselves are factorised (QR), so their range is
    not squared. With more features than stimuli the responses to the training stimuli are reproduced exactly, from
    the stimuli × stimuli Gram matrix: directions more than about 10⁶ times weaker than the strongest one are then left
    out.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> LeastSquares().fit(X, Y).predict([[3.0]]).round(6).tolist()
    [[7.0]]
    """

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p).

        Raises
        ------
        ValueError
            If X or Y hold NaN or infinity, or differ in length.
        """
        X, Y = inputs(X, Y)
        self.check(*X.shape)
        x_mean, y_mean = column_means(X), Y.mean(axis=0)
        if X.shape[1] > len(X):
            weights = _of_gram(centred_gram(X), Y - y_mean)
            return LinearFit(x_mean, y_mean, weights, X)
        centred = centred_features(X, mean=x_mean)
        return LinearFit(x_mean, y_mean, _of_features(centred, Y - y_mean))

    def cross_predict(
        self, X: ArrayLike, Y: ArrayLike, splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        X, Y = inputs(X, Y)
        for train, _ in splits:
            self.check(len(train), X.shape[1])
        K = centred_gram(X) if X.shape[1] > len(X) else None
        for train, test in splits:
            if K is None:
                yield self.fit(X[train], Y[train]).predict(X[test])
                continue
            inner, outer = centred_blocks(K, train, test)
            y_mean = Y[train].mean(axis=0)
            yield outer @ _of_gram(inner, Y[train] - y_mean) + y_mean

    def check(self, n: int, p: int) -> None:
        """Refuse training sets without stimuli or features."""
        if n < 1 or p < 1:
            raise ValueError(f"least squares need at least one stimulus and one feature; these are {n} and {p}")


def _of_features(X: Array, Y: Array) -> Array:
    """Weights p × q for centred features."""
    n, p = X.shape
    cutoff = max(n, p) * _EPS
    if n > p:
        Q, R = qr(X, mode="economic", check_finite=False)
        reciprocal, info = lapack.dtrcon(R)
        if info == 0 and reciprocal > cutoff:
            return np.asarray(solve_triangular(R, Q.T @ Y, check_finite=False))
    return np.asarray(lstsq(X, Y, cond=cutoff, check_finite=False)[0])


def _of_gram(K: Array, Y: Array) -> Array:
    """Weights n × q for the centred Gram matrix: its pseudo-inverse times Y."""
    n = len(K)
    cutoff = n * _EPS
    # centring leaves one null direction, the constant; filled in, the matrix is invertible and Y does not notice
    filled = K + float(np.trace(K)) / n**2
    try:
        factor = cho_factor(filled, lower=True, check_finite=False)
        reciprocal, info = lapack.dpocon(factor[0], float(np.abs(filled).sum(axis=0).max()), uplo="L")
        if info == 0 and reciprocal > 100 * cutoff:
            return np.asarray(cho_solve(factor, Y, check_finite=False))
    except LinAlgError:
        pass  # stimuli depend on each other
    values, vectors = eigh(K, check_finite=False)
    kept = values > cutoff * values[-1]
    basis = vectors[:, kept]
    return np.asarray(basis @ ((basis.T @ Y) / values[kept][:, None]))
