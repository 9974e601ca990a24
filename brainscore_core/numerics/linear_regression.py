"""Linear maps from features to responses, and ordinary least squares.

Maps are fitted from second moments, in their primal or dual form.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack, lstsq, qr, solve_triangular
from scipy.sparse import csr_array

from brainscore_core.numerics._matrices import (
    Array,
    above_rounding,
    as_matrix,
    check_inputs,
    chunks,
    column_means,
    eigh,
    product,
    require_finite,
)
from brainscore_core.numerics._processors import SHORT_PRODUCT, one_thread
from brainscore_core.numerics.stimulus_products import centred_gram, gram

Scores = Callable[[], Array]

Splits = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
"""Training and test rows of each split."""


@dataclass(frozen=True)
class LinearFit:
    """A fitted linear map.

    Attributes
    ----------
    n_components : int or None
        Number of components, for methods that have components.
    alpha : float or array of float, or None
        Chosen penalty (one per response if each has its own), for methods that choose one.
    """

    x_mean: Array
    y_mean: Array
    weights: Array
    features: NDArray | None = None
    n_components: int | None = None
    alpha: float | Array | None = None

    def coefficients(self) -> Array:
        """Weights of centred features (p × q), also of a map that is stored by its training features."""
        if self.features is None:
            return self.weights
        result = np.empty((self.features.shape[1], self.weights.shape[1]))
        for columns in chunks(len(result), len(self.features)):
            centred = np.subtract(self.features[:, columns], self.x_mean[columns], dtype=np.float64)
            result[columns] = centred.T @ self.weights
        return result

    def predict(self, X: ArrayLike) -> Array:
        """Predict the responses (n × q) to features (n × p).

        Raises
        ------
        ValueError
            If the number of features differs from that of the fit.
        """
        X = as_matrix(X, "X")
        if X.shape[1] != len(self.x_mean):
            raise ValueError(f"X has {X.shape[1]} features, but the map was fitted on {len(self.x_mean)}")
        if self.features is not None:
            return require_finite(gram(X, self.features, mean=self.x_mean) @ self.weights + self.y_mean, X)
        result = np.empty((len(X), len(self.y_mean)))
        for rows in chunks(len(X), X.shape[1]):
            result[rows] = np.subtract(X[rows], self.x_mean, dtype=np.float64) @ self.weights
        return require_finite(result + self.y_mean, X)


class TrainingEffects(NamedTuple):
    """Effects of groups of training rows on Σ slopes · predictions.

    Attributes
    ----------
    values : array, groups × q
        Through each response, on all test rows.
    pairs : array, 2 × test rows × groups
        On each test row, through either half of the responses.
    """

    values: Array
    pairs: Array


@dataclass
class LeftOut:
    """Effects of a split's training rows on the predictions of its test rows, for fits linear in the responses."""

    hat: Array  # n_test × n_train: the hat matrix; its mean if responses have penalties of their own
    residuals: Callable[[NDArray[np.intp]], Array]  # residuals (n_train × q), scaled by groups: scaled_residuals

    def hat_transposed(self, slopes: Array) -> Array:
        """Product of the transposed hat matrix with `slopes` (n_test × q)."""
        return product(self.hat.T, slopes)

    def through(self, slopes: Array, residuals: Array, tested: NDArray[np.intp], trained: NDArray[np.intp]) -> Array:
        """Σ slopes · hat · residuals (q,) of some test and some training rows."""
        effects = product(self.hat[np.ix_(tested, trained)], residuals[trained])
        return np.asarray(np.einsum("tj,tj->j", slopes[tested], effects))


def training_effects(
    left_out: Callable[[], LeftOut],
    slopes: Array,
    *,
    trained: NDArray[np.intp],
    tested: NDArray[np.intp],
    halves: Sequence[NDArray[np.intp]],
) -> TrainingEffects:
    """Effects of each group of training rows on Σ slopes · predictions of the test rows of other groups.

    `slopes`: the sum of each column is 0, but for rounding. `trained`, `tested`: group of each row; those of the
    training rows are numbered from 0 on. `halves`: columns of either half of the responses.

    Notes
    -----
    Without a group, predictions decrease by hat[test, group] · r, with r the group's residuals of a fit without it.
    Sums of the squares of these decreases overestimate the variance if a fit follows its training rows closely;
    with residuals that are scaled to their expected size instead, the estimate is unbiased for independent noise of
    equal size [1]_.

    References
    ----------
    .. [1] Bell & McCaffrey (2002). Survey Methodology 28, 169–181.
    """
    slopes = slopes - slopes.mean(axis=0)  # rounding would count where predictions are nearly constant
    with one_thread() if slopes.size * len(trained) < SHORT_PRODUCT else nullcontext():
        fit = left_out()
        residuals = fit.residuals(trained)
        values = sums_of_groups(fit.hat_transposed(slopes) * residuals, trained)
        on_mean = fit.hat_transposed(np.full((len(slopes), 1), 1 / len(slopes)))
        on_mean = sums_of_groups(on_mean * residuals, trained)
        hat = fit.hat - fit.hat.mean(axis=0)
        for group in np.intersect1d(trained, tested):
            rows, own = np.flatnonzero(tested == group), np.flatnonzero(trained == group)
            # less what shifts all predictions, on which no correlation depends
            values[group] -= fit.through(slopes, residuals, rows, own) - slopes[rows].sum(axis=0) * on_mean[group]
            hat[np.ix_(rows, own)] = 0.0
        pairs = []
        for half in halves:
            of_rows = product(slopes[:, half], residuals[:, half].T)
            of_rows *= hat
            pairs.append(of_rows @ _members(trained))
        return TrainingEffects(values, np.stack(pairs))


class SplitFit(NamedTuple):
    """Out-of-fold predictions of one split.

    Attributes
    ----------
    predicted : array, n_test × q
        Predictions of the test rows.
    alpha : float or array of float, or None
        Chosen penalty (one per response if each has its own), for methods that choose one.
    left_out : callable or None
        Returns the effects of the training rows on the predictions, if the method computes them.
    """

    predicted: Array
    alpha: float | Array | None = None
    left_out: Callable[[], LeftOut] | None = None


class LinearRegression(ABC):
    """Regression whose fits are linear in the responses."""

    from_products: ClassVar[bool] = True  # of stimuli: fits do not change if features are rotated

    @abstractmethod
    def cross_fit(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[SplitFit]:
        """Predictions as in :meth:`cross_predict`, each with the effects of the training rows on them."""

    def cross_predict(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        return (fit.predicted for fit in self.cross_fit(X, Y, splits))


def sums_of_groups(values: Array, groups: NDArray[np.intp]) -> Array:
    """Sums of the rows of each group, numbered from 0 on: groups × columns."""
    if groups.max(initial=-1) + 1 == len(groups):  # each row is a group of its own
        return values[np.argsort(groups)]
    return np.asarray(_members(groups).T @ values)


def _members(groups: NDArray[np.intp]) -> csr_array:
    """1 where a row belongs to a group: rows × groups."""
    return csr_array((np.ones(len(groups)), groups, np.arange(len(groups) + 1)))


def scaled_residuals(
    responses: Array, diagonal: Array, block: Callable[[NDArray[np.intp]], Array], groups: NDArray[np.intp]
) -> Array:
    """Residuals of training rows, scaled so that their expected size is that of the noise.

    `responses`: M Y, with M the inverse of the regularised kernel on the space orthogonal to the constant. `diagonal`:
    diagonal of M². `block`: ``block(rows)``: the entries of M² of these rows and columns. `groups`: group of each row,
    numbered from 0 on. Returns (M²)_gg^−½ (M Y)_g for each group g.
    """
    result = responses / np.sqrt(diagonal)[:, None]
    if groups.max(initial=-1) + 1 == len(groups):  # each row is a group of its own
        return result
    order = np.argsort(groups, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        if len(rows) == 1:
            continue
        values, vectors, _ = lapack.dsyevd(block(rows))
        kept = values > 1e-12 * values[-1]
        inner = product(vectors[:, kept] / np.sqrt(values[kept]), vectors[:, kept].T)
        result[rows] = product(inner, responses[rows])
    return result


def centred_features(X: NDArray, *, mean: Array) -> Array:
    """X − mean in float64; raises an error if X is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        return require_finite(np.subtract(X, mean, dtype=np.float64), X)


def centred_blocks(K: Array, train: NDArray[np.intp], test: NDArray[np.intp]) -> tuple[Array, Array]:
    """Products of training with training rows and of test with training rows, centred on the training rows.

    `K`: (X − m)(X − m)ᵀ for any m. `train`, `test`: row numbers.
    """
    inner, outer = K[np.ix_(train, train)], K[np.ix_(test, train)]
    means = inner.mean(axis=0)
    outer -= outer.mean(axis=1, keepdims=True)
    outer -= means - means.mean()
    inner -= means
    inner -= (means - means.mean())[:, None]
    return inner, outer


def left_out_rows(train: NDArray[np.intp], n: int) -> NDArray[np.intp] | None:
    """Rows that are not used for training; None if they are the majority, or if training rows are repeated."""
    rest = np.setdiff1d(np.arange(n), train)
    return rest if len(rest) < len(train) == n - len(rest) else None


def left_out_of_scores(scores: Scores, Y: Array, train: NDArray[np.intp], test: NDArray[np.intp]) -> LeftOut:
    """Effects of training rows through the loadings of the responses, with the directions of the components kept.

    `scores` returns those of all rows, n × components; but for their mean, those of the training rows are orthonormal.
    """
    all_scores, n = scores(), len(train)
    trained = all_scores[train] - all_scores[train].mean(axis=0)
    tested = all_scores[test] - all_scores[train].mean(axis=0)
    responses = Y[train] - Y[train].mean(axis=0)
    responses -= product(trained, product(trained.T, responses))
    # the matrix of residuals is a projection, and thus its own square
    diagonal = np.maximum(1 - 1 / n - np.einsum("ij,ij->i", trained, trained), _LEAST_OWN)

    def block(rows: NDArray[np.intp]) -> Array:
        return np.asarray(np.eye(len(rows)) - 1 / n - product(trained[rows], trained[rows].T))

    return LeftOut(product(tested, trained.T) + 1 / n, partial(scaled_residuals, responses, diagonal, block))


def left_out_of_split(
    K: Array, Y: Array, train: NDArray[np.intp], test: NDArray[np.intp], invert: Callable[[Array], Array]
) -> LeftOut:
    """Effects of training rows on fits from the products K (n × n) of all stimuli.

    `invert`: inverse, but for the constant, of the centred products of the training rows, which it may overwrite; it
    contains the penalty.
    """
    inner, outer = centred_blocks(K, train, test)
    inverse = invert(inner)
    residuals = partial(
        scaled_residuals,
        product(inverse, Y[train]),
        np.einsum("ij,ij->i", inverse, inverse),
        lambda rows: product(inverse[rows], inverse[rows].T),
    )
    return LeftOut(outer @ inverse + 1 / len(inverse), residuals)


_LEAST_OWN = 1e-9
"""Least share of a training row that its components leave over, so that rounding is not divided by 0."""

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LeastSquares(LinearRegression):
    """Least squares with a free intercept; if there are several solutions, the one with the smallest weights.

    Notes
    -----
    Equal to ``sklearn.linear_model.LinearRegression``. Directions in which the features vary by less than rounding are
    ignored. With at most as many features as stimuli, the features themselves are factorised (QR), so their range is
    not squared. With more features than stimuli, the responses to the training stimuli are reproduced exactly, from
    the stimuli × stimuli Gram matrix; directions more than about 10⁶ times weaker than the strongest one are then
    ignored.

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
            If X or Y contain NaN or infinity, or differ in length.
        """
        X, Y = check_inputs(X, Y)
        self.check(*X.shape)
        x_mean, y_mean = column_means(X), Y.mean(axis=0)
        if X.shape[1] > len(X):
            return LinearFit(x_mean, y_mean, _of_gram(centred_gram(X), Y - y_mean), X)
        return LinearFit(x_mean, y_mean, _of_features(centred_features(X, mean=x_mean), Y - y_mean))

    def cross_fit(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[SplitFit]:
        """Predictions as in :meth:`cross_predict`, each with the effects of the training rows on them.

        With as many features as a split trains on, or more, but fewer than stimuli, the split has none.
        """
        X, Y = check_inputs(X, Y)
        n, p = X.shape
        for train, _ in splits:
            self.check(len(train), p)
        K = centred_gram(X) if p > n else None
        for train, test in splits:
            if K is None:
                left_out = partial(left_out_of_scores, partial(_scores, X, train), Y, train, test)
                predicted = self.fit(X[train], Y[train]).predict(X[test])
                yield SplitFit(predicted, left_out=left_out if len(train) > p + 1 else None)
                continue
            inner, outer = centred_blocks(K, train, test)
            y_mean = Y[train].mean(axis=0)
            predicted = outer @ _of_gram(inner, Y[train] - y_mean) + y_mean
            yield SplitFit(predicted, left_out=partial(left_out_of_split, K, Y, train, test, _pseudo_inverse))

    def check(self, n: int, p: int) -> None:
        """Raise an error for training sets without stimuli or features."""
        if n < 1 or p < 1:
            raise ValueError(f"least squares require at least one stimulus and one feature, not {n} and {p}")


def _scores(X: NDArray, train: NDArray[np.intp]) -> Array:
    """Coordinates of all rows in which the centred training rows are orthonormal."""
    centred = centred_features(X, mean=column_means(X[train]))
    R = qr(centred[train], mode="r", check_finite=False)[0][: X.shape[1]]
    reciprocal, info = lapack.dtrcon(R)
    if info == 0 and reciprocal > max(centred.shape) * _EPS:
        return np.asarray(solve_triangular(R, centred.T, trans="T", check_finite=False).T)
    _, sizes, directions = np.linalg.svd(centred[train], full_matrices=False)
    kept = sizes > max(centred.shape) * _EPS * sizes[0]
    return product(centred, directions[kept].T / sizes[kept])


def _pseudo_inverse(inner: Array) -> Array:
    return _of_gram(inner, np.eye(len(inner)) - 1 / len(inner))


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
    # centring leaves one null direction, the constant; with it filled in, the matrix is invertible for the same Y
    filled = K + float(np.trace(K)) / n**2
    try:
        factor = cho_factor(filled, lower=True, check_finite=False)
        reciprocal, info = lapack.dpocon(factor[0], float(np.abs(filled).sum(axis=0).max()), uplo="L")
        if info == 0 and reciprocal > 100 * cutoff:
            return np.asarray(cho_solve(factor, Y, check_finite=False))
    except LinAlgError:
        pass  # stimuli are linearly dependent
    values, vectors = eigh(K.copy(), np)
    kept = above_rounding(values, n)
    basis = vectors[:, kept]
    return np.asarray(basis @ ((basis.T @ Y) / values[kept][:, None]))
