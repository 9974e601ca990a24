"""Each response is predicted by the one feature that correlates with it best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array, as_matrix, chunks, same_rows
from brainscore_core.numerics.correlation import cross_pearson

__all__ = ["OneToOne", "OneToOneFit"]


@dataclass(frozen=True)
class OneToOneFit:
    """Which feature stands for each response.

    Attributes
    ----------
    features : array of int, responses
        Column of the feature; −1 where no correlation is defined.
    n_features : int
        Features that there were.
    """

    features: NDArray[np.intp]
    n_features: int

    def predict(self, X: ArrayLike) -> Array:
        """Values of the chosen features (n × q), in the features' units; NaN for a response without one.

        Raises
        ------
        ValueError
            If the number of features is not the one of the fit.
        """
        X = as_matrix(X, "X")
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, but the map was fitted on {self.n_features}")
        predicted = X[:, self.features].astype(np.float64)
        predicted[:, self.features < 0] = np.nan
        return predicted


@dataclass(frozen=True)
class OneToOne:
    """For each response the feature with the largest signed Pearson correlation; the first of equal ones.

    Notes
    -----
    Features without a defined correlation, because they are constant, are left aside. A response that is constant, or
    for which no feature is left, is predicted as NaN. Correlations are taken in chunks of features; working memory
    does not grow with their number.

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
            If X or Y hold NaN or infinity, or differ in length.
        """
        X, Y = as_matrix(X, "X"), as_matrix(Y, "Y").astype(np.float64)
        same_rows(X, Y)
        if not np.isfinite(Y).all():
            raise ValueError("Y is not finite; leave out the responses or stimuli that were not measured")
        best, features = np.full(Y.shape[1], -np.inf), np.full(Y.shape[1], -1, dtype=np.intp)
        for columns in chunks(X.shape[1], 2 * len(X) + Y.shape[1]):
            block = X[:, columns]
            if not np.isfinite(block).all():
                raise ValueError("X is not finite; features need to be finite")
            r = np.nan_to_num(cross_pearson(block, Y), nan=-np.inf)
            here = r.argmax(axis=0)
            found = r[here, np.arange(Y.shape[1])]
            better = found > best
            best[better], features[better] = found[better], here[better] + columns.start
        return OneToOneFit(features, X.shape[1])

    def cross_predict(
        self, X: ArrayLike, Y: ArrayLike, splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        X, Y = as_matrix(X, "X"), as_matrix(Y, "Y")
        for train, test in splits:
            yield self.fit(X[train], Y[train]).predict(X[test])

    def check(self, n: int, p: int) -> None:
        """Refuse fewer than two training stimuli, which have no correlation, or no features."""
        if n < 2 or p < 1:
            raise ValueError(f"a correlation needs at least two stimuli and one feature; these are {n} and {p}")
