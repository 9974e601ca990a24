"""Eigendecompositions of symmetric matrices with which systems for many penalties are solved."""

from typing import Any, NamedTuple

import numpy as np

CONDITION_LIMIT = 1e10
"""Condition number above which held-out errors are not derived from a decomposition."""


class Decomposition(NamedTuple):
    """A symmetric matrix V diag(values) Vᵀ, on the space orthogonal to the constant."""

    values: Any  # (m,): in ascending order, none negative
    vectors: Any  # n × m: V, whose columns are orthonormal

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue."""
        return (float(self.values[0]), float(self.values[-1])) if len(self.values) else (0.0, 0.0)


def eigh(A: Any, xp: Any) -> tuple[Any, Any]:
    """Eigenvalues, clipped at 0, and eigenvectors of a symmetric positive semidefinite matrix, which is overwritten."""
    if xp is np:
        from scipy.linalg import eigh as decompose

        columns = A.T if A.flags.c_contiguous else A  # the layout that needs no copy
        values, vectors = decompose(columns, driver="evd", check_finite=False, overwrite_a=True)
    else:
        values, vectors = xp.linalg.eigh(A)
    return values.clip(0.0), vectors


def above_rounding(values: Any, size: int) -> Any:
    """Mask of eigenvalues above the rounding error of a matrix with `size` rows."""
    return values > size * np.finfo(np.float64).eps * values.max()


def centred_eigh(K: Any, xp: Any) -> Decomposition:
    """Eigendecomposition of a centred matrix, which is overwritten."""
    # the constant is an eigenvector with eigenvalue 0; moved to the top, it differs from other null vectors
    K += (2 * float(xp.linalg.norm(K)) or 1.0) / len(K)
    values, vectors = eigh(K, xp)
    return Decomposition(values[:-1], vectors[:, :-1])
