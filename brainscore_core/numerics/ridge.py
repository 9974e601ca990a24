"""Ridge regression: fits, and predictions of held-out stimuli from one fit to all stimuli."""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, lapack
from scipy.linalg.blas import dgemm, dsyrk, dtrsm

from brainscore_core.numerics import _matrices
from brainscore_core.numerics._matrices import Array, check_inputs, chunks, column_means, product, require_finite
from brainscore_core.numerics._processors import resolve_device, to_numpy
from brainscore_core.numerics.linear_regression import (
    LeftOut,
    LinearFit,
    LinearRegression,
    SplitFit,
    Splits,
    centred_blocks,
    left_out_of_split,
    left_out_rows,
    scaled_residuals,
)
from brainscore_core.numerics.stimulus_products import centred_gram, moments

if TYPE_CHECKING:
    import torch

_CONDITION_LIMIT = 1e-10
"""Reciprocal condition number below which the system of all stimuli loses too many digits."""

_WEAKEST = 1e-6
"""Size of the features relative to alpha below which predictions barely vary, so that differences lose precision."""

_LEVERAGE_LIMIT = 1e-5
"""Value of 1 − leverage below which stimuli determine their own prediction, so that subtraction loses digits."""


Rows = NDArray[np.intp]


class DualHeldOut:
    """Predictions of held-out rows from the centred Gram matrix K of all stimuli.

    With M = (K + alpha · I)⁻¹ on the space orthogonal to the constant, held-out rows R are predicted as
    Y_R − M_RR⁻¹ (M Y)_R.

    - `K` (n × n): not changed.
    - `precise`: whether the system is conditioned well enough.
    - `responses` (n × q): M Y.
    """

    def __init__(self, K: Array, Y: Array, alpha: float) -> None:
        n = len(K)
        # the constant's eigenvalue 0 is replaced by a typical one, so that subtracting its part loses no digits
        constant = float(np.trace(K)) / n
        system = (K + constant / n).T  # the memory layout on which LAPACK works in place
        system.flat[:: n + 1] += alpha
        self._constant = 1 / (n * (constant + alpha))
        self._Y = Y
        norm = lapack.dlange("1", system)
        factor, info = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
        self.precise = (
            info == 0 and constant > _WEAKEST * alpha and lapack.dpocon(factor, norm, uplo="L")[0] > _CONDITION_LIMIT
        )
        if self.precise:
            self.responses = lapack.dpotrs(factor, Y - Y.mean(axis=0), lower=1)[0]
            self._inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]

    def predict(self, rows: NDArray[np.intp]) -> Array | None:
        """Predictions of `rows` (sorted) by a fit to all other rows; None if they are not precise."""
        inner = self._inverse[np.maximum.outer(rows, rows), np.minimum.outer(rows, rows)] - self._constant
        solved = _solve_or_none(inner, self.responses[rows])
        return None if solved is None else self._Y[rows] - solved

    def rows(self, rows: Rows) -> Array:
        """Rows of M."""
        return np.asarray(self._whole[rows])

    @cached_property
    def square_diagonal(self) -> Array:
        """Diagonal of M²."""
        return np.einsum("ij,ij->i", self._whole, self._whole)

    def square(self, rows: Rows) -> Array:
        """Entries of M² of these rows and columns."""
        part = self._whole[rows]
        return product(part, part.T)

    @cached_property
    def _whole(self) -> Array:
        whole = self._inverse.T  # the upper triangle, in rows
        for start in range(0, len(whole), 256):  # blocks that fit into the processor's cache
            stop = start + 256
            corner = np.triu(whole[start:stop, start:stop])
            whole[start:stop, start:stop] = corner + np.triu(corner, 1).T
            whole[stop:, start:stop] = whole[start:stop, stop:].T
        return np.asarray(whole - self._constant)


class PrimalHeldOut:
    """Predictions of held-out rows from the second moments of all stimuli.

    With leverages H and residuals E of a fit to all stimuli, held-out rows R are predicted as Y_R − (I − H_RR)⁻¹ E_R.

    - `x_mean`: mean of each feature.
    - `C`, `B`: (X − x_mean)ᵀ(X − x_mean) and (X − x_mean)ᵀY.
    - `precise`: whether the system is conditioned well enough.
    """

    # here, M is I − H without the constant: alpha times that of the dual form

    def __init__(self, X: NDArray, Y: Array, x_mean: Array, C: Array, B: Array, alpha: float) -> None:
        self._X, self._Y, self._x_mean, self._alpha = X, Y, x_mean, alpha
        system = C.copy().T
        system.flat[:: len(C) + 1] += alpha
        norm = lapack.dlange("1", system)
        self._factor, info = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
        self.precise = (
            info == 0
            and float(np.trace(C)) / len(C) > _WEAKEST * alpha
            and lapack.dpocon(self._factor, norm, uplo="L")[0] > _CONDITION_LIMIT
        )
        if self.precise:
            self._weights = lapack.dpotrs(self._factor, B, lower=1)[0]
            self._y_mean = Y.mean(axis=0)
            # all rows at once if they fit into memory: a few wide products are faster than many narrow ones
            self._parts = self._of(slice(None)) if X.size * 8 <= 4 * _matrices.CHUNK_BYTES else None

    def predict(self, rows: NDArray[np.intp]) -> Array | None:
        """Predictions of `rows` by a fit to all other rows; None if they are not precise."""
        half, residuals = self._of(rows) if self._parts is None else (part[rows] for part in self._parts)
        system = dsyrk(-1.0, half.T, trans=1, lower=1)
        system -= 1 / len(self._X)
        system.T.flat[:: len(rows) + 1] += 1
        solved = _solve_precisely(system, residuals)
        return None if solved is None else self._Y[rows] - solved

    @cached_property
    def responses(self) -> Array:
        """M Y: residuals of a fit to all stimuli."""
        return (self._of(slice(None)) if self._parts is None else self._parts)[1]

    # with leverages H and the system A, H − H² = alpha · X A⁻² Xᵀ, so that no product of the vectors is needed

    @cached_property
    def square_diagonal(self) -> Array:
        """Diagonal of M²."""
        n = len(self._X)
        parts = (
            sum(np.einsum("ij,ij->i", vectors, vectors) for vectors in self._square_halves(rows))
            for rows in ([slice(None)] if self._parts is not None else chunks(n, self._X.shape[1]))
        )
        return np.asarray(1 - 1 / n - np.concatenate(list(parts)))

    def square(self, rows: Rows) -> Array:
        """Entries of M² of these rows and columns."""
        products = sum(product(vectors, vectors.T) for vectors in self._square_halves(rows))
        return np.asarray(np.eye(len(rows)) - 1 / len(self._X) - products)

    def _square_halves(self, rows: Rows | slice) -> tuple[Array, Array]:
        """Two sets of vectors; the sums of their inner products are H + H − H², with H without the constant."""
        if self._parts is not None:
            return self._parts[0][rows], self._solved_twice[rows]
        half = self._of(rows)[0]
        return half, self._solve_again(half)

    @cached_property
    def _solved_twice(self) -> Array:
        return self._solve_again(self._parts[0]) if self._parts is not None else np.empty(0)

    def _solve_again(self, half: Array) -> Array:
        return np.asarray(dtrsm(math.sqrt(self._alpha), self._factor, half.T, lower=1, trans_a=1).T)

    def rows(self, rows: Rows) -> Array:
        """Rows of M."""
        n = len(self._X)
        if self._parts is not None:
            result = product(self._parts[0][rows], self._parts[0].T)
        else:
            some, blocks = self._of(rows)[0], chunks(n, self._X.shape[1])
            result = np.concatenate([product(some, self._of(block)[0].T) for block in blocks], axis=1)
        result += 1 / n
        np.negative(result, out=result)
        result[np.arange(len(rows)), rows] += 1
        return result

    def _of(self, rows: NDArray[np.intp] | slice) -> tuple[Array, Array]:
        """Vectors whose inner products are the leverages, and residuals."""
        X = np.subtract(self._X[rows], self._x_mean, dtype=np.float64)
        residuals = self._Y[rows] - self._y_mean - dgemm(1.0, X.T, self._weights, trans_a=1)
        return dtrsm(1.0, self._factor, X.T, lower=1, overwrite_b=1).T, residuals


def _left_out_of_all(held_out: DualHeldOut | PrimalHeldOut, rest: Rows, train: Rows, test: Rows) -> LeftOut:
    """Effects of training rows, from the system of all stimuli.

    With M of all stimuli, R the rows that are not used for training and T the others, the hat matrix is −M_RR⁻¹ M_RT,
    and M of the training stimuli is M_TT − M_TR M_RR⁻¹ M_RT. Residuals are scaled by M² of all stimuli, which differs
    little and is computed once.
    """
    rows, responses = held_out.rows(rest), held_out.responses
    solved = np.asarray(lapack.dgesv(rows[:, rest], rows[:, train])[2])
    residuals = partial(
        scaled_residuals,
        responses[train] - product(solved.T, responses[rest]),
        held_out.square_diagonal[train],
        lambda rows: held_out.square(train[rows]),
    )
    return LeftOut(-solved[np.searchsorted(rest, test)], residuals)


def _inverse(inner: Array, alpha: float) -> Array:
    """Inverse of the penalised Gram matrix, but for the constant."""
    n = len(inner)
    inner.flat[:: n + 1] += alpha
    return np.asarray(np.linalg.inv(inner) - 1 / (alpha * n), dtype=np.float64)


def _solve_or_none(system: Array, right: Array) -> Array | None:
    """Solution of a system; None if it is singular."""
    _, _, solution, info = lapack.dgesv(system, right)
    return None if info else np.asarray(solution)


def _solve_precisely(system: Array, right: Array) -> Array | None:
    """Solution of a symmetric system, given by its lower triangle in columns, whose eigenvalues are at most 1.

    None if the smallest eigenvalue is too small. The system is overwritten.
    """
    factor, info = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
    # with 1 as the norm of the system, the result is 1 / the norm of its inverse
    if info != 0 or lapack.dpocon(factor, 1.0, uplo="L")[0] < _LEVERAGE_LIMIT:
        return None
    return np.asarray(lapack.dpotrs(factor, right, lower=1)[0])


_WORTH_INVERTING = 3
"""Number of splits from which one inverse of the whole system is cheaper than a factorisation for each split."""


@dataclass(frozen=True)
class Ridge(LinearRegression):
    """Least squares with an L2 penalty on the weights and a free intercept.

    Parameters
    ----------
    alpha : float
        Penalty in units of a feature's sum of squares, the same for all responses.
    device : str or torch.device, optional
        Of products of features. None: NumPy; ``'cpu'``, ``'cuda'``, …: PyTorch; ``'auto'``: a CUDA device if available,
        otherwise NumPy. Results agree to rounding.

    Notes
    -----
    With more features than stimuli, the dual form is solved from the stimuli × stimuli Gram matrix, which is
    accumulated in float64 over chunks of features. Several splits share one factorisation: predictions for held-out
    stimuli follow from the fit to all stimuli. Equal to ``sklearn.linear_model.Ridge`` [1]_.

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
            raise ValueError(f"alpha is {self.alpha}; it must be positive")

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p).

        Raises
        ------
        ValueError
            If X or Y contain NaN or infinity, or differ in length.
        UserError
            If the device or PyTorch is not available.
        """
        X, Y = check_inputs(X, Y)
        self.check(*X.shape)
        device = resolve_device(self.device)
        x_mean, y_mean = column_means(X), Y.mean(axis=0)
        if X.shape[1] > len(X):
            return LinearFit(x_mean, y_mean, self._dual(centred_gram(X, device=device), Y - y_mean), X)
        C, B = _finite_moments(X, Y - y_mean, x_mean, device)
        return LinearFit(x_mean, y_mean, _solve_shifted(C, B, self.alpha))

    def cross_fit(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[SplitFit]:
        """Predictions as in :meth:`cross_predict`, each with the effects of the training rows on them.

        With fewer features than stimuli, a split has effects only if it trains on most stimuli.
        """
        X, Y = check_inputs(X, Y)
        n, p = X.shape
        for train, _ in splits:
            self.check(len(train), p)
        device = resolve_device(self.device)
        held_out: DualHeldOut | PrimalHeldOut | None = None
        invert = partial(_inverse, alpha=self.alpha)
        if p > n:
            K = centred_gram(X, device=device)
            if len(splits) >= _WORTH_INVERTING:
                held_out = DualHeldOut(K, Y, self.alpha)
        else:
            x_mean = column_means(X)
            whole = _finite_moments(X, Y, x_mean, device)
            held_out = PrimalHeldOut(X, Y, x_mean, *whole, self.alpha)
        for train, test in splits:
            rows = left_out_rows(train, n)
            left_out = None if p <= n else partial(left_out_of_split, K, Y, train, test, invert)
            predicted = None
            if held_out is not None and held_out.precise and rows is not None and np.isin(test, rows).all():
                predicted = held_out.predict(rows)
                if predicted is not None:
                    predicted = predicted[np.searchsorted(rows, test)]
                    left_out = partial(_left_out_of_all, held_out, rows, train, test)
            if predicted is None and p > n:
                predicted = self._predict_dual(K, Y, train, test)
            elif predicted is None:
                predicted = self._predict_primal(X, Y, x_mean, whole, train, test)
            yield SplitFit(predicted, left_out=left_out)

    def check(self, n: int, p: int) -> None:
        """Raise an error for training sets without stimuli or features."""
        if n < 1 or p < 1:
            raise ValueError(f"ridge regression requires at least one stimulus and one feature, not {n} and {p}")

    def _dual(self, K: Array, Y: Array) -> Array:
        """Weights of the training stimuli (n × q) from K = XXᵀ and Y, both centred."""
        # centring leaves one null direction, the constant; filled in, it does not amplify rounding errors of Y
        return _solve_shifted(K, Y, self.alpha, added=float(K.trace()) / len(K) ** 2)

    def _predict_dual(self, K: Array, Y: Array, train: Rows, test: Rows) -> Array:
        """Fit the training rows and predict the test rows, from the Gram matrix of all rows."""
        inner, outer = centred_blocks(K, train, test)
        y_mean = Y[train].mean(axis=0)
        return outer @ self._dual(inner, Y[train] - y_mean) + y_mean

    def _predict_primal(
        self, X: NDArray, Y: Array, x_mean: Array, whole: tuple[Array, Array], train: Rows, test: Rows
    ) -> Array:
        """Fit the training rows and predict the test rows, from the moments of all rows (`whole`)."""
        if len(train) < X.shape[1]:  # with more features than stimuli, moments have too few digits
            return self.fit(X[train], Y[train]).predict(X[test])
        y_mean = Y[train].mean(axis=0)
        rest = left_out_rows(train, len(X))
        if rest is not None:
            missing = moments(X, Y, rest, mean=x_mean)
            C, B = whole[0] - missing[0], whole[1] - missing[1]
            shift = -missing[2] / len(train)  # the deviations from the mean over all stimuli sum to 0
        else:
            C, B, total = moments(X, Y, train, mean=x_mean)
            shift = total / len(train)
        C -= len(train) * np.outer(shift, shift)
        B -= len(train) * np.outer(shift, y_mean)
        return LinearFit(x_mean + shift, y_mean, _solve_shifted(C, B, self.alpha)).predict(X[test])


def _finite_moments(X: NDArray, Y: Array, mean: Array, device: "torch.device | None") -> tuple[Array, Array]:
    """(X − mean)ᵀ(X − mean) and (X − mean)ᵀY; raises an error if X is not finite."""
    C, B, _ = moments(X, Y, mean=mean, device=device)
    return require_finite(to_numpy(C), X), to_numpy(B)


def _solve_shifted(A: Array, B: Array, alpha: float, added: float = 0.0) -> Array:
    """Solve (A + alpha · I) W = B for positive semidefinite A, after a number was added to all of A."""
    shifted = np.add(A, added, order="F")
    shifted.flat[:: len(A) + 1] += alpha
    try:
        factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, B, check_finite=False))
    except LinAlgError:  # by rounding, an eigenvalue is below −alpha
        values, vectors = eigh(A, check_finite=False)
        return np.asarray(vectors @ ((vectors.T @ B) / (np.maximum(values, 0.0) + alpha)[:, None]))
