"""Decompositions of symmetric matrices with which systems for many penalties are solved.

A matrix of many stimuli is brought to tridiagonal form, which is torn into parts: their eigenvectors are blocks of a
matrix, so that they cost less than those of the whole. What connects the parts has a low rank, and is added when a
system is solved [1]_.

References
----------
.. [1] Cuppen (1980). Numerische Mathematik 36, 177–195. https://doi.org/10.1007/BF01396757
"""

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics._arrays import Array, in_parallel

_PART = 320
"""Number of rows of each part of a torn matrix, at least."""

_FEWEST_PARTS = 5
"""Number of parts from which tearing a matrix is faster than its eigendecomposition."""

_REFLECTORS = 128
"""Householder reflections that are applied at a time."""

CONDITION_LIMIT = 1e10
"""Condition number above which a matrix is not torn, and held-out errors are not derived from a decomposition."""


class Decomposition(NamedTuple):
    """A symmetric matrix V (diag(values) + L C Lᵀ) Vᵀ, on the space orthogonal to the constant.

    In an eigendecomposition, there are no links L. In a torn matrix, they connect its parts; the last one, with zeros
    in C⁻¹, is the constant.

    Attributes
    ----------
    values : array or tensor (m,)
        In ascending order, none negative.
    vectors : array or tensor, n × m
        V, whose columns are orthonormal.
    links : array or tensor, m × r
    inverse : array or tensor, r × r
        C⁻¹.
    low, high : float
        All eigenvalues of the matrix lie between them.
    """

    values: Any
    vectors: Any
    links: Any
    inverse: Any
    low: float
    high: float

    def solve(self, right: Any, alphas: Any) -> Any:
        """Solve systems with the matrix plus a penalty, in the basis of V, for columns (m × q) with a penalty each."""
        result = right / (self.values[:, None] + alphas)
        if self.links.shape[1]:
            for alpha in np.unique(alphas):
                columns = np.flatnonzero(alphas == alpha)
                spread = self.links / (self.values + alpha)[:, None]
                joined = self.inverse + self.links.T @ spread
                result[:, columns] -= spread @ np.linalg.solve(joined, spread.T @ right[:, columns])
        return result


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
    return eigendecomposition(values[:-1], vectors[:, :-1])


def eigendecomposition(values: Any, vectors: Any) -> Decomposition:
    """Decomposition without links."""
    low, high = (float(values[0]), float(values[-1])) if len(values) else (0.0, 0.0)
    return Decomposition(values, vectors, vectors[:0].T, vectors[:0, :0], low, high)


def torn(K: Array, penalty: float) -> Decomposition | None:
    """Tear a centred matrix into parts, if it is large, and well conditioned with this penalty and all larger ones."""
    from scipy.linalg import get_lapack_funcs

    n = len(K)
    count = n // _PART
    if count < _FEWEST_PARTS:
        return None
    matrix = K + K.trace() / n**2  # the constant, with eigenvalue 0 until now, gets the mean of the others
    tridiagonal, work_size, factorize = get_lapack_funcs(("sytrd", "sytrd_lwork", "pttrf"), (matrix,))
    reflectors, diagonal, off_diagonal, scales, _ = tridiagonal(
        matrix.T, lower=1, lwork=int(work_size(n, lower=1)[0]), overwrite_a=True
    )

    def above(low: float) -> bool:
        return bool(factorize(diagonal - low, off_diagonal)[-1] == 0)  # positive definite

    def below(high: float) -> bool:
        return bool(factorize(high - diagonal, off_diagonal)[-1] == 0)

    high = np.abs(diagonal).max() + 2 * np.abs(off_diagonal).max()  # no eigenvalue is larger
    if not above(max(n * np.finfo(np.float64).eps * high, (high + penalty) / CONDITION_LIMIT - penalty)):
        return None

    bounds = np.linspace(0, n, count + 1).astype(int)
    parts = [slice(*pair) for pair in pairwise(bounds)]
    values, links = np.empty(n), np.zeros((n, 2 * count - 1))
    blocks = []
    for i, part in enumerate(parts):
        inner = np.diag(diagonal[part])
        rows = np.arange(len(inner) - 1)
        inner[rows + 1, rows] = inner[rows, rows + 1] = off_diagonal[part][: len(rows)]
        values[part], vectors = eigh(inner, np)
        blocks.append(vectors)
        if i:
            links[part, 2 * i - 1] = vectors[0]
        if i + 1 < count:
            links[part, 2 * i] = vectors[-1]
    inverse = np.zeros((2 * count - 1,) * 2)
    connecting = off_diagonal[bounds[1:-1] - 1]
    first = 2 * np.arange(count - 1)
    inverse[first, first + 1] = inverse[first + 1, first] = 1 / np.where(connecting, connecting, np.finfo(float).tiny)
    order = values.argsort(kind="stable")
    transposed = _reflected(reflectors, scales, parts, blocks, order.argsort())
    links = links[order]
    links[:, -1] = transposed.sum(axis=1) / np.sqrt(n)
    low, high = values.min(), values.max()  # of the parts; those of the whole may be further apart
    while not above(low):
        low *= 0.9
    while not below(high):
        high *= 1.1
    return Decomposition(values[order], transposed.T, links, inverse, float(low), float(high))


def _reflected(
    reflectors: Array, scales: Array, parts: list[slice], blocks: list[Array], places: NDArray[np.intp]
) -> Array:
    """Apply the reflections of LAPACK's ``sytrd`` to a matrix of diagonal blocks, and transpose it.

    Parameters
    ----------
    reflectors, scales : array, n × n and n − 1
        Reflection i is I − scale · v vᵀ; v is 0 up to i, 1 in i + 1, and column i of `reflectors` below.
    parts : list of slice
        Rows and columns of each block.
    blocks : list of array
    places : array (n,)
        Row of the result for each column.
    """
    n = len(reflectors)
    panels = []
    for start in reversed(range(0, n - 1, _REFLECTORS)):
        stop = min(start + _REFLECTORS, n - 1)
        panel = np.tril(reflectors[start + 1 :, start:stop], -1)
        np.fill_diagonal(panel, 1.0)
        scale = scales[start:stop]
        panel[:, scale == 0] = 0.0  # no reflection
        # together they are I − V T Vᵀ with an upper triangular T
        factor = np.linalg.inv(np.triu(panel.T @ panel, 1) + np.diag(1 / np.where(scale, scale, 1.0)))
        panels.append((start + 1, panel, panel @ factor))
    result = np.empty((n, n))

    def reflect(part: slice, block: Array) -> None:
        columns = np.zeros((len(block), n))
        columns[:, part] = block.T
        for start, panel, scaled in panels:
            if start < part.stop:
                columns[:, start:] -= (columns[:, start:] @ panel) @ scaled.T
        result[places[part]] = columns

    pairs = list(zip(parts, blocks, strict=True))
    in_parallel([partial(reflect, *pair) for pair in reversed(pairs)], numbers=n * n)
    return result
