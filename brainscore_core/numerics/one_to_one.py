"""Prediction of each response by the single feature that correlates best with it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, as_matrix, check_inputs, chunks
from brainscore_core.numerics.correlation import cross_pearson, standardised
from brainscore_core.numerics.linear_regression import Splits, left_out_rows

_FAINT = 1e-6
"""Features that keep less than this fraction of their size or variance are computed separately in each split."""


@dataclass(frozen=True)
class OneToOneFit:
    """The feature that predicts each response.

    `features`: column of the feature; −1 if no correlation is defined. `n_features`: number of all features.
    """

    features: NDArray[np.intp]
    n_features: int

    def predict(self, X: ArrayLike) -> Array:
        """Values of the chosen features (n × q), in the features' units; NaN for a response without one.

        A ValueError if the number of features differs from that of the fit.
        """
        X = as_matrix(X, "X")
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, but the map was fitted on {self.n_features}")
        predicted = X[:, self.features].astype(np.float64)
        predicted[:, self.features < 0] = np.nan
        return predicted


@dataclass(frozen=True)
class OneToOne:
    """Predicts each response by the feature with the largest signed Pearson correlation, the first of equal ones.

    Notes
    -----
    Constant features, which have no correlation, are ignored. A response that is constant, or for which no feature is
    left, is predicted as NaN. Correlations are computed in chunks of features; working memory does not grow with their
    number.

    References
    ----------
    Arend et al. (2018). Single units in a deep neural network functionally correspond with neurons in the brain:
    preliminary results. CBMM Memo 93.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 9.0], [2.0, 5.0], [3.0, 1.0]])
    >>> OneToOne().fit(X, [[0.1], [0.2], [0.4]]).predict(X).ravel().tolist()
    [1.0, 2.0, 3.0]
    """

    def fit(self, X: ArrayLike, Y: ArrayLike) -> OneToOneFit:
        """Choose a feature of X (n × p) for each response of Y (n × q).

        Raises
        ------
        ValueError
            If X or Y contain NaN or infinity, or differ in length.
        """
        X, Y = check_inputs(X, Y)
        best = _Best(Y.shape[1])
        for columns, block in _varying(X, Y.shape[1]):
            best.update(np.nan_to_num(cross_pearson(block, Y), nan=-np.inf), columns)
        return OneToOneFit(best.features, X.shape[1])

    def cross_predict(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        X, Y = check_inputs(X, Y)
        parts_of_splits = [
            _Part(Y, train, left_out) for train, _ in splits if (left_out := left_out_rows(train, len(X))) is not None
        ]  # fmt: skip
        if len(parts_of_splits) < len(splits):
            for train, test in splits:
                yield self.fit(X[train], Y[train]).predict(X[test])
            return
        best = [_Best(Y.shape[1]) for _ in splits]
        for columns, block in _varying(X, Y.shape[1]):
            whole = _Whole(block, Y)
            for training, best_of_split in zip(parts_of_splits, best, strict=True):
                best_of_split.update(whole.scores(training), columns)
        for (_, test), training, best_of_split in zip(splits, parts_of_splits, best, strict=True):
            best_of_split.features[~training.varies] = -1
            yield OneToOneFit(best_of_split.features, X.shape[1]).predict(X[test])

    def check(self, n: int, p: int) -> None:
        """Raise an error for fewer than two training stimuli, which have no correlation, or no features."""
        if n < 2 or p < 1:
            raise ValueError(f"a correlation requires at least two stimuli and one feature, not {n} and {p}")


class _Best:
    """The feature with the largest score for each response."""

    def __init__(self, n_responses: int) -> None:
        self._scores = np.full(n_responses, -np.inf)
        self.features = np.full(n_responses, -1, dtype=np.intp)

    def update(self, scores: Array, columns: NDArray[np.intp]) -> None:
        """Include the scores (features × responses; −inf if undefined) of the features in `columns`."""
        here = scores.argmax(axis=0)
        best = scores[here, np.arange(scores.shape[1])]
        better = best > self._scores
        self._scores[better], self.features[better] = best[better], columns[here[better]]


class _Part:
    """The training responses of one split: all rows except `rest`."""

    def __init__(self, Y: Array, train: NDArray[np.intp], rest: NDArray[np.intp]) -> None:
        self.train, self.rest = train, rest
        self.responses = standardised(Y[train])
        self.varies = ~np.isnan(self.responses).any(axis=0)
        self.lengths = np.einsum("ij,ij->j", Y[train], self.responses)


class _Whole:
    """Second moments of features and responses over all stimuli, from which those of each split are derived."""

    def __init__(self, block: Array, Y: Array) -> None:
        self._block, self._X, self._Y = block, block - block.mean(axis=0), Y - Y.mean(axis=0)
        size = np.abs(self._X).max(axis=0)
        self._X /= size  # prevents overflow and underflow of squares
        self._squares = np.einsum("ij,ij->j", self._X, self._X)
        self._products = self._X.T @ self._Y
        self._faint = size < _FAINT * np.abs(block).max(axis=0)

    def scores(self, part: _Part) -> Array:
        """Correlation of each feature with each response, times the response's length; −inf if undefined."""
        n = len(part.train)
        X, Y = self._X[part.rest], self._Y[part.rest]
        # subtract the sums over the rest; one more row subtracts the square of the mean of the training rows
        X, Y = (np.vstack([rows, rows.sum(axis=0) / np.sqrt(n)]) for rows in (X, Y))
        squares = self._squares - np.einsum("ij,ij->j", X, X)
        faint = np.flatnonzero(self._faint | (squares < _FAINT * self._squares))
        squares[faint] = np.nan
        scores = self._products - X.T @ Y
        scores /= np.sqrt(squares)[:, None]
        if len(faint):  # their small remaining variance is not precise
            scores[faint] = standardised(self._block[np.ix_(part.train, faint)]).T @ part.responses * part.lengths
            scores[faint] = np.nan_to_num(scores[faint], nan=-np.inf)
        return scores


def _varying(X: NDArray, n_responses: int) -> Iterator[tuple[NDArray[np.intp], Array]]:
    """Indices and values of the features that are not constant, in chunks."""
    for columns in chunks(X.shape[1], 4 * len(X) + 2 * n_responses):
        block = X[:, columns].astype(np.float64)
        low, high = block.min(axis=0), block.max(axis=0)
        if not np.isfinite(high - low).all():
            raise ValueError("X is not finite; features must be finite")
        varying = np.flatnonzero(high > low)
        if len(varying):
            yield varying + columns.start, block if len(varying) == len(high) else block[:, varying]
