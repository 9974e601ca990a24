"""Ridge predictions for stimuli that are left out, from one fit to all stimuli (by the hat matrix)."""

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics import _arrays
from brainscore_core.numerics._arrays import Array

__all__ = ["DualHeldOut", "PrimalHeldOut"]

_CONDITION_LIMIT = 1e-10
"""Below this reciprocal condition number the system of all stimuli costs too many digits."""

_WEAKEST = 1e-6
"""With features of a smaller share of alpha predictions barely vary; a difference of responses is then too coarse."""

_LEVERAGE_LIMIT = 1e-5
"""If less than this is left of 1 − leverage, stimuli determine their own prediction and subtraction loses digits."""


class DualHeldOut:
    """From the centred Gram matrix K of all stimuli.

    With M = (K + alpha · I)⁻¹ on what is orthogonal to the constant, the rows R that are left out are predicted as
    Y_R − M_RR⁻¹ (M Y)_R.

    Parameters
    ----------
    K : array, n × n
        Is not changed.
    Y : array, n × q
    alpha : float

    Attributes
    ----------
    precise : bool
        Whether the system is conditioned well enough.
    """

    def __init__(self, K: Array, Y: Array, alpha: float) -> None:
        from scipy.linalg import lapack

        n = len(K)
        # the constant's eigenvalue 0 is replaced by a typical one, so that subtracting its part costs no digits
        constant = float(np.trace(K)) / n
        system = (K + constant / n).T  # the order of memory that LAPACK works on in place
        system.flat[:: n + 1] += alpha
        self._constant = 1 / (n * (constant + alpha))
        self._Y = Y
        norm = lapack.dlange("1", system)
        factor, info = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
        self.precise = (
            info == 0 and constant > _WEAKEST * alpha and lapack.dpocon(factor, norm, uplo="L")[0] > _CONDITION_LIMIT
        )
        if self.precise:
            self._solved = lapack.dpotrs(factor, Y - Y.mean(axis=0), lower=1)[0]
            self._inverse = lapack.dpotri(factor, lower=1, overwrite_c=1)[0]

    def predict(self, rows: NDArray[np.intp]) -> Array | None:
        """Predictions of `rows` (sorted) by a fit to all others; None where that is not precise."""
        lower = self._inverse[np.maximum.outer(rows, rows), np.minimum.outer(rows, rows)]
        solved = _solve(lower - self._constant, self._solved[rows])
        return None if solved is None else self._Y[rows] - solved


class PrimalHeldOut:
    """From the second moments of all stimuli.

    With leverages H and residuals E of a fit to all stimuli, the rows R that are left out are predicted as
    Y_R − (I − H_RR)⁻¹ E_R.

    Parameters
    ----------
    X, Y : array, n × p and n × q
    x_mean : array
        Mean of each feature.
    C, B : array
        (X − x_mean)ᵀ(X − x_mean) and (X − x_mean)ᵀY.
    alpha : float

    Attributes
    ----------
    precise : bool
        Whether the system is conditioned well enough.
    """

    def __init__(self, X: NDArray, Y: Array, x_mean: Array, C: Array, B: Array, alpha: float) -> None:
        from scipy.linalg import lapack

        self._X, self._Y, self._x_mean = X, Y, x_mean
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
            # of all rows at once where they fit: a few wide products are faster than many narrow ones
            self._parts = self._of(slice(None)) if X.size * 8 <= 4 * _arrays.CHUNK_BYTES else None

    def predict(self, rows: NDArray[np.intp]) -> Array | None:
        """Predictions of `rows` by a fit to all others; None where that is not precise."""
        from scipy.linalg.blas import dsyrk

        half, residuals = self._of(rows) if self._parts is None else (part[rows] for part in self._parts)
        # SciPy's product, not NumPy's: each has threads of its own, and those of one wait busily while the other works
        system = dsyrk(-1.0, half.T, trans=1, lower=1)
        system -= 1 / len(self._X)
        system.T.flat[:: len(rows) + 1] += 1
        solved = _solve_precisely(system, residuals)
        return None if solved is None else self._Y[rows] - solved

    def _of(self, rows: NDArray[np.intp] | slice) -> tuple[Array, Array]:
        """Rows whose inner products are the leverages, and residuals."""
        from scipy.linalg.blas import dgemm, dtrsm

        X = np.subtract(self._X[rows], self._x_mean, dtype=np.float64)
        residuals = self._Y[rows] - self._y_mean - dgemm(1.0, X.T, self._weights, trans_a=1)
        return dtrsm(1.0, self._factor, X.T, lower=1, overwrite_b=1).T, residuals


def _solve(system: Array, right: Array) -> Array | None:
    """Solution of a symmetric system; None where it is singular."""
    try:
        return np.asarray(np.linalg.solve(system, right))
    except np.linalg.LinAlgError:
        return None


def _solve_precisely(system: Array, right: Array) -> Array | None:
    """Solution of a symmetric system, given by its lower triangle in columns, whose eigenvalues are at most 1.

    None where the smallest is too small. The system is overwritten.
    """
    from scipy.linalg import lapack

    factor, info = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
    # given 1 as the system's norm, it returns 1 / that of its inverse
    if info != 0 or lapack.dpocon(factor, 1.0, uplo="L")[0] < _LEVERAGE_LIMIT:
        return None
    return np.asarray(lapack.dpotrs(factor, right, lower=1)[0])
