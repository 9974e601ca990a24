"""Checks of arrays, matrices in chunks that fit into memory, and eigendecompositions of symmetric matrices."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dgemm

from brainscore_core.numerics._processors import import_torch, to_device

if TYPE_CHECKING:
    import torch

Array = NDArray[np.float64]

CHUNK_BYTES = 2**26
"""Largest size of one chunk in bytes; a product needs memory for its result and a few chunks."""


def as_matrix(values: ArrayLike, name: str) -> NDArray:
    """Return `values` as a real matrix in its own precision, without a copy if it already is one."""
    array = np.asarray(values)
    if array.ndim != 2:
        raise ValueError(f"{name} has the shape {array.shape}; it must be a matrix")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} has values of type {array.dtype}; they must be real numbers")
    if array.dtype == np.float16 or array.dtype.kind in "iub":
        array = array.astype(np.float64)
    return array


def require_same_rows(X: NDArray, Y: NDArray, *, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise an error if the matrices have different numbers of rows."""
    if len(X) != len(Y):
        raise ValueError(f"{names[0]} has {len(X)} rows but {names[1]} has {len(Y)}; both must have the same stimuli")


def check_inputs(X: ArrayLike, Y: ArrayLike) -> tuple[NDArray, Array]:
    """Return features and responses as matrices with the same number of rows; responses must be finite."""
    X, Y = as_matrix(X, "X"), _responses(Y)
    require_same_rows(X, Y)
    return X, Y


def _responses(Y: ArrayLike) -> Array:
    matrix = as_matrix(Y, "Y").astype(np.float64)
    if not np.isfinite(matrix).all():
        column = int(np.flatnonzero(~np.isfinite(matrix).all(axis=0))[0])
        raise ValueError(f"Y is not finite in column {column}; omit the responses or stimuli that were not measured")
    return matrix


def require_finite(result: Array, X: NDArray) -> Array:
    """Return a product with X; if it is not finite, raise an error that names a row of X."""
    if not np.isfinite(result).all():
        raise not_finite(X)
    return result


def not_finite(X: NDArray, name: str = "X") -> ValueError:
    """The error for features that are not finite, or whose sums or products are not; it names a row."""
    rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
    where = f"in row {rows[0]}" if len(rows) else "after squaring: its values are too large"
    return ValueError(f"{name} is not finite {where}; features must be finite")


def chunks(length: int, other_length: int) -> Iterator[slice]:
    """Slices of an axis such that a float64 block of slice × `other_length` needs at most `CHUNK_BYTES`."""
    step = max(1, CHUNK_BYTES // (8 * max(1, other_length)))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def column_means(X: NDArray) -> Array:
    """Mean of each column, accumulated in float64."""
    return np.asarray(X.mean(axis=0, dtype=np.float64))


def product(A: Array, B: Array) -> Array:
    """A · B, computed by the BLAS library of SciPy.

    NumPy and SciPy each have their own BLAS, whose threads spin for about a tenth of a second after a call. Code that
    alternates between NumPy products and SciPy's triangular solvers is therefore slow.
    """
    # DGEMM expects column-major arrays, so it computes Bᵀ · Aᵀ, the transpose of the result
    a_row_major, b_row_major = (matrix.flags.c_contiguous for matrix in (A, B))
    first, second = B.T if b_row_major else B, A.T if a_row_major else A
    return np.asarray(dgemm(1.0, first, second, trans_a=not b_row_major, trans_b=not a_row_major).T)


_MIN_CHUNKS_IN_FREE_MEMORY = 16
"""A chunk on a GPU is at most the free memory divided by this; a product needs a few chunks."""

_MAX_GPU_CHUNK_BYTES = 2**26
"""Largest size of one chunk on a GPU; with smaller chunks, more of the transfers takes place beside products."""


def chunk_columns(n_rows: int, n_columns: int, device: "torch.device | None" = None) -> Iterator[slice]:
    """Slices of the columns such that a block of them in float64 fits into one chunk of the device."""
    step = max(1, _chunk_bytes(device) // (8 * max(1, n_rows)))
    return (slice(start, min(start + step, n_columns)) for start in range(0, n_columns, step))


def _chunk_bytes(device: "torch.device | None") -> int:
    if device is None or device.type != "cuda":
        return CHUNK_BYTES
    free, _ = import_torch().cuda.mem_get_info(device)
    return int(max(2**20, min(free // _MIN_CHUNKS_IN_FREE_MEMORY, _MAX_GPU_CHUNK_BYTES)))


def as_array_like(values: Any, other: Any, xp: Any) -> Any:
    """Convert NumPy values to the library of `other` (its module is `xp`), on the device of `other`."""
    return values if xp is np else to_device(values, other.device, values.dtype)


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
