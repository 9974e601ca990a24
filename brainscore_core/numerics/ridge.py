"""Ridge regression."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from brainscore_core.numerics import _linear
from brainscore_core.numerics._arrays import Array, column_means
from brainscore_core.numerics._gram import centred_gram
from brainscore_core.numerics._held_out import DualHeldOut, PrimalHeldOut
from brainscore_core.numerics._linear import LinearFit, Weights
from brainscore_core.numerics._ridge_torch import cross_predict_on, fit_on
from brainscore_core.numerics._torch import resolve

__all__ = ["Ridge"]


_WORTH_INVERTING = 3
"""From this many splits on one inverse of the whole system costs less than a factorisation for each."""


@dataclass(frozen=True)
class Ridge:
    """Least squares with an L2 penalty on the weights and a free intercept.

    Parameters
    ----------
    alpha : float
        Penalty, in the units of a feature's sum of squares; the same for all responses.
    device : str or torch.device, optional
        None computes with NumPy; ``'cpu'``, ``'cuda'``, … with PyTorch; ``'auto'`` on a CUDA device where there is one
        and with NumPy otherwise. Values agree to rounding.

    Notes
    -----
    With more features than stimuli the dual form is solved from the stimuli × stimuli Gram matrix, which is
    accumulated in float64 over chunks of features. Several splits share one factorisation: predictions for the
    stimuli that are left out follow from the fit to all. Equal to ``sklearn.linear_model.Ridge`` [1]_.

    References
    ----------
    .. [1] Hoerl & Kennard (1970). Technometrics 12, 55–67. https://doi.org/10.1080/00401706.1970.10488634

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> Ridge(alpha=2.0).fit(X, Y).predict([[1.0], [3.0]]).round(3).tolist()
    [[3.0], [5.0]]
    """

    alpha: float = 1.0
    _: KW_ONLY
    device: Any = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.alpha) and self.alpha > 0):
            raise ValueError(f"alpha is {self.alpha}; a positive number is needed")

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p).

        Raises
        ------
        ValueError
            If X or Y hold NaN or infinity, or differ in length.
        UserError
            If the device, or PyTorch, is not there.
        """
        device = resolve(self.device)
        if device is None:
            return _linear.fit(X, Y, self)
        X, Y = _linear.inputs(X, Y)
        self.check(*X.shape)
        return fit_on(X, Y, self.alpha, device)

    def cross_predict(
        self, X: ArrayLike, Y: ArrayLike, splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        X, Y = _linear.inputs(X, Y)
        n, p = X.shape
        for train, _ in splits:
            self.check(len(train), p)
        device = resolve(self.device)
        if device is not None:
            yield from cross_predict_on(X, Y, splits, self.alpha, device)
            return
        held_out: DualHeldOut | PrimalHeldOut | None = None
        if p > n:
            K = centred_gram(X)
            if len(splits) >= _WORTH_INVERTING:
                held_out = DualHeldOut(K, Y, self.alpha)
        else:
            x_mean = column_means(X)
            whole = _linear.whole_moments(X, Y, mean=x_mean)
            held_out = PrimalHeldOut(X, Y, x_mean, *whole, self.alpha)
        for train, test in splits:
            rows = _linear.left_out(train, n)
            if held_out is not None and held_out.precise and rows is not None and np.isin(test, rows).all():
                predicted = held_out.predict(rows)
                if predicted is not None:
                    yield predicted[np.searchsorted(rows, test)]
                    continue
            if p > n:
                yield _linear.predict_dual(K, Y, train, test, self)
            else:
                yield _linear.predict_primal(X, Y, x_mean, whole, train, test, self)

    def check(self, n: int, p: int) -> None:
        """Refuse training sets without stimuli or features."""
        if n < 1 or p < 1:
            raise ValueError(f"ridge needs at least one stimulus and one feature; these are {n} and {p}")

    def primal(self, C: Array, B: Array, y_size: float) -> Weights:
        """Weights from C = XᵀX and B = XᵀY."""
        return Weights(_solve(C, B, self.alpha))

    def dual(self, K: Array, Y: Array) -> Weights:
        """Weights from K = XXᵀ and Y."""
        return Weights(_solve(K, Y, self.alpha))


def _solve(A: Array, B: Array, alpha: float) -> Array:
    """Solve (A + alpha · I) W = B for positive semidefinite A."""
    shifted = A.copy(order="F")
    shifted.flat[:: len(A) + 1] += alpha
    try:
        factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, B, check_finite=False))
    except LinAlgError:  # rounding made an eigenvalue more negative than alpha is positive
        values, vectors = eigh(A, check_finite=False)
        return np.asarray(vectors @ ((vectors.T @ B) / (np.maximum(values, 0.0) + alpha)[:, None]))
