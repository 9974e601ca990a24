"""Input checks, matrix products in chunks, and PyTorch devices, shared by all methods."""

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dgemm, dsymv, dsyr, dsyr2, dsyrk, get_blas_funcs
from threadpoolctl import ThreadpoolController

from brainscore_core.errors import UserError
from brainscore_core.memory import memory_limit

if TYPE_CHECKING:
    import torch

__all__ = [
    "CHUNK_BYTES",
    "FLAT",
    "Array",
    "WorkerThreads",
    "as_array_like",
    "as_matrix",
    "blas_libraries",
    "blas_threads",
    "centred_gram",
    "check_inputs",
    "chunk_columns",
    "chunks",
    "column_means",
    "fast_gram",
    "gram",
    "gram_on",
    "import_torch",
    "in_blocks",
    "in_parallel",
    "kept_gram",
    "mirrored",
    "moments",
    "moments_on",
    "require_finite",
    "require_same_rows",
    "resolve_device",
    "row_gram",
    "times_few",
    "to_device",
    "to_numpy",
    "worker_threads",
]

Array = NDArray[np.float64]

Result = TypeVar("Result")

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
        rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
        where = f"in row {rows[0]}" if len(rows) else "after squaring: its values are too large"
        raise ValueError(f"X is not finite {where}; features must be finite")
    return result


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
    left, right = B.T if b_row_major else B, A.T if a_row_major else A
    return np.asarray(dgemm(1.0, left, right, trans_a=not b_row_major, trans_b=not a_row_major).T)


_SMALL_PRODUCT = 10**6
"""Multiplications up to which OpenBLAS does not copy matrices first, on CPUs of `_SMALL_KERNELS`."""

_SMALL_KERNELS = {"SkylakeX", "Cooperlake", "SapphireRapids"}
"""OpenBLAS's names of CPUs with AVX-512."""

_LARGE_MATRIX = 2**18
"""Size of a matrix from which copying it is what takes time."""


def times_few(A: Array, V: Array) -> Array:
    """V Aᵀ for a large matrix A (m × n) and few vectors V (s × n), about as fast as A can be read.

    A product as a whole would copy A first, which takes as long as the multiplications; products of blocks of its rows
    with 8 or 16 vectors are so small that BLAS omits this on some CPUs. On others, the product is computed as a whole.
    """
    (m, n), s = A.shape, len(V)
    width = 8 if s <= 8 else 16
    rows = min(_SMALL_PRODUCT // (width * max(n, 1)), 16) // 8 * 8
    if s == 1 or m * n < _LARGE_MATRIX or not rows or not _has_small_kernels():
        return np.asarray(V @ A.T)
    if s > width:
        return np.concatenate([times_few(A, V[:width]), times_few(A, V[width:])])
    padded = np.zeros((n, width))
    padded[:, :s] = V.T
    result = np.empty((s, m))
    whole = m // rows * rows
    blocks = padded.T @ A[:whole].reshape(-1, rows, n).mT
    result[:, :whole].reshape(s, -1, rows)[:] = blocks[:, :s].swapaxes(0, 1)
    result[:, whole:] = V @ A[whole:].T
    return result


@lru_cache(maxsize=1)
def _has_small_kernels() -> bool:
    return any(library.get("architecture") in _SMALL_KERNELS for library in blas_libraries().info())


@np.errstate(invalid="ignore", over="ignore")  # callers check the result and report the row
def gram(X: NDArray, Z: NDArray | None = None, *, mean: Array) -> Array:
    """(X − mean)(Z − mean)ᵀ, accumulated in float64 over chunks of columns; by default Z is X."""
    other = X if Z is None else Z
    result = np.zeros((len(X), len(other)))
    for columns in chunks(X.shape[1], max(len(X), len(other))):
        left = np.subtract(X[:, columns], mean[columns], dtype=np.float64)
        right = left if Z is None else np.subtract(Z[:, columns], mean[columns], dtype=np.float64)
        result += left @ right.T
    return result


@np.errstate(invalid="ignore", over="ignore")  # callers check the result and report the row
def moments(X: NDArray, Y: NDArray, *, mean: Array) -> tuple[Array, Array, Array]:
    """(X − mean)ᵀ(X − mean), (X − mean)ᵀY and the column sums of X − mean, over chunks of rows in float64."""
    p, q = X.shape[1], Y.shape[1]
    square, cross, total = np.zeros((p, p)), np.zeros((p, q)), np.zeros(p)
    for rows in chunks(len(X), p):
        block = np.subtract(X[rows], mean, dtype=np.float64)
        square += block.T @ block
        cross += block.T @ Y[rows]
        total += block.sum(axis=0)
    return square, cross, total


_MIN_CHUNKS_IN_FREE_MEMORY = 16
"""A chunk on a GPU is at most the free memory divided by this; a product needs a few chunks."""

_MAX_GPU_CHUNK_BYTES = 2**26
"""Largest size of one chunk on a GPU; with smaller chunks, more of the transfers takes place beside products."""

_STAGED_BYTES = 2**25
"""Size of the parts in which larger arrays are copied to and from a GPU through page-locked memory."""

_COPYING_THREADS = 8


def import_torch() -> Any:
    """Import and return the module ``torch``.

    Raises
    ------
    UserError
        If PyTorch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise UserError("computing on a device needs PyTorch", remedy="pip install 'brainscore[torch]'") from error
    return torch


def resolve_device(device: "str | torch.device | None") -> "torch.device | None":
    """Return the device to compute on; None stands for NumPy.

    Parameters
    ----------
    device : str, torch.device or None
        None: NumPy. ``'cpu'``, ``'cuda'``, ``'cuda:1'``, …: PyTorch on that device. ``'auto'``: CUDA if available,
        otherwise NumPy.

    Raises
    ------
    UserError
        If PyTorch or the device is not available, or the device does not support float64.
    """
    if device is None:
        return None
    if isinstance(device, str) and device == "auto":
        try:
            torch = import_torch()
        except UserError:
            return None
        return torch.device("cuda") if torch.cuda.is_available() else None
    torch = import_torch()
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise UserError(f"unknown device {device!r}", remedy="use None, 'auto', 'cpu' or 'cuda'") from error
    if resolved.type == "mps":
        raise UserError(
            "device 'mps' does not support float64, which sums over thousands of features require",
            remedy="use device=None (NumPy), which is multi-threaded",
        )
    if resolved.type not in ("cpu", "cuda"):
        raise UserError(f"device {str(resolved)!r} is not supported", remedy="use None, 'auto', 'cpu' or 'cuda'")
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise UserError(
            f"device {str(resolved)!r} is not available: PyTorch finds {count} CUDA devices",
            remedy="use device='auto' or None",
        )
    return resolved


def to_device(array: NDArray[Any], device: "torch.device", dtype: Any = np.float64) -> "torch.Tensor":
    """Copy `array` to the device and convert it there, so that float32 is transferred as float32.

    Parameters
    ----------
    array : array
        Any real type and any layout; may be read-only or a memory map.
    device : torch.device
        A result of :func:`resolve_device`.
    dtype : data type
        A type of NumPy or PyTorch, by default float64.
    """
    torch = import_torch()
    torch_dtype = dtype if isinstance(dtype, torch.dtype) else getattr(torch, np.dtype(dtype).name)
    if device.type != "cuda" or not array.ndim:
        values = np.array(array, copy=True, subok=False, order="C")  # as PyTorch warns about read-only memory
        return torch.from_numpy(values).to(device=device, dtype=torch_dtype)
    result = torch.empty(array.shape, dtype=getattr(torch, array.dtype.name), device=device)
    for rows in _staged_rows(array):
        part = torch.empty(result[rows].shape, dtype=result.dtype, pin_memory=True)
        _copy(array[rows], part.numpy())
        result[rows].copy_(part, non_blocking=True)
    return result.to(torch_dtype)


def to_numpy(tensor: "torch.Tensor | NDArray[Any]") -> NDArray[Any]:
    """Convert a tensor to a NumPy array of the same type; return an array unchanged."""
    if isinstance(tensor, np.ndarray):
        return tensor
    tensor = tensor.detach()
    if not tensor.is_cuda or not tensor.ndim:
        return np.asarray(tensor.cpu().numpy())
    torch = import_torch()
    result = np.empty(tensor.shape, dtype=torch.empty(0, dtype=tensor.dtype).numpy().dtype)
    for rows in _staged_rows(result):
        part = torch.empty(result[rows].shape, dtype=tensor.dtype, pin_memory=True)
        part.copy_(tensor[rows])
        _copy(part.numpy(), result[rows])
    return result


def _staged_rows(array: NDArray[Any]) -> Iterator[slice]:
    step = max(1, _STAGED_BYTES * len(array) // max(1, array.nbytes))
    return (slice(start, min(start + step, len(array))) for start in range(0, len(array), step))


def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy an array, if it is large by several threads, since one is slower than the transfer to a GPU."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    count = min(_COPYING_THREADS, cores, source.nbytes // 2**20)
    if count < 2:
        np.copyto(target, source)
        return
    bounds = np.linspace(0, len(source), count + 1).astype(int)
    with ThreadPoolExecutor(count) as pool:
        parts = [slice(*pair) for pair in pairwise(bounds)]
        list(pool.map(lambda rows: np.copyto(target[rows], source[rows]), parts))


def chunk_rows(n_rows: int, n_columns: int, device: "torch.device | None" = None) -> Iterator[slice]:
    """Slices of the rows such that a block of them in float64 fits into one chunk of the device."""
    step = max(1, _chunk_bytes(device) // (8 * max(1, n_columns)))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def chunk_columns(n_rows: int, n_columns: int, device: "torch.device | None" = None) -> Iterator[slice]:
    """Slices of the columns such that a block of them in float64 fits into one chunk of the device."""
    return chunk_rows(n_columns, n_rows, device)


def _chunk_bytes(device: "torch.device | None") -> int:
    if device is None or device.type != "cuda":
        return CHUNK_BYTES
    free, _ = import_torch().cuda.mem_get_info(device)
    return int(max(2**20, min(free // _MIN_CHUNKS_IN_FREE_MEMORY, _MAX_GPU_CHUNK_BYTES)))


FLAT = 1e-13
"""Relative tolerance: values that differ by less than this fraction of their magnitude count as equal."""


def centred_gram(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> Array:
    """(X − column means)(X − column means)ᵀ in float64; all 0 if no column varies by more than rounding errors.

    For methods that subtract nearly equal products or divide by small eigenvalues; others use :func:`fast_gram`.

    Parameters
    ----------
    X : array, n × p
        May be a memory map: it is read once, in chunks of columns, and each chunk is converted to float64.
    name : str
        Name of X in error messages.
    device : torch.device, optional
        Device for the computation; by default NumPy is used.

    Raises
    ------
    ValueError
        If values are not finite.
    """
    return to_numpy(gram_on(X, name, device=device))


@np.errstate(invalid="ignore", over="ignore")  # values that are not finite are reported below
def gram_on(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> Any:
    """Compute :func:`centred_gram`, and leave the result on the device: an array, or a tensor on `device`."""
    squared_mean: Any = 0.0

    def centre(block: Any, _: slice) -> None:
        nonlocal squared_mean
        mean = block.mean(0)
        squared_mean = squared_mean + mean @ mean  # not yet a number: a GPU would have to be waited for
        block -= mean

    products = _products_of_file(X) if device is None else None
    if products is not None:
        return products.centred.copy()
    K: Any = None if device is not None else _products_then_centred(X)
    if K is None:
        K = _row_products(X, centre) if device is None else _row_products_on(X, centre, device)
    trace = float(K.trace())
    if not np.isfinite(trace):  # no product is larger than the square of the longer row
        rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
        where = f"in row {rows[0]}" if len(rows) else "after squaring: its values are too large"
        raise ValueError(f"{name} is not finite {where}; features must be finite")
    if trace <= FLAT**2 * len(X) * float(squared_mean):
        K[:] = 0.0
    return K


def fast_gram(X: NDArray, name: str = "X", *, device: "torch.device | None" = None) -> tuple[Any, float]:
    """Compute :func:`gram_on`, for large float32 features on the CPU mostly in float32.

    Products then differ from those in float64 by about 3e-7, and at most some 1e-6, of the mean diagonal of that part.

    Returns
    -------
    K : array or tensor, n × n
    rounded : float
        Mean diagonal of the products that were computed in float32; 0 if all were computed in float64.
    """
    if device is None and _pays_in_float32(X):
        kept = _products_of_file(X, single=True)
        products = _products_in_float32(X) if kept is None else kept
        if products is not None:
            return products.centred if kept is None else products.centred.copy(), products.rounded
    return gram_on(X, name, device=device), 0.0


def kept_gram(X: NDArray) -> Array | None:
    """As :func:`fast_gram`, for features in a file and without a copy; None if the products are not kept."""
    products = _products_of_file(X, single=_pays_in_float32(X))
    return None if products is None else products.centred


class _Products(NamedTuple):
    """Products of all stimuli, from which those with any mean subtracted follow.

    Attributes
    ----------
    centred : array, n × n
        Products after subtraction of each column's mean.
    shift : array (n,)
        The products without subtraction are ``centred + shift + shift[:, None]``.
    row_mean : array (n,)
    rounded : float
        Mean diagonal of the products that were computed in float32.
    """

    centred: Array
    shift: Array
    row_mean: Array
    rounded: float = 0.0


_KEPT_SHARE = 1 / 64
"""Largest part of the permitted memory that the products of the stimuli of the last file may take."""

_kept: tuple[tuple[Any, ...], dict[str, Any]] | None = None
"""Products of the stimuli of the last file: metrics of one layer, one after the other, read its features once.

Products in float32 and in float64 are kept apart, so that a metric does not depend on those before it. Those after
subtraction of each row's mean are kept if they did not follow from the others.
"""


def _keep(X: NDArray, kind: str, compute: Callable[[], Result | None]) -> Result | None:
    """Result for the stimuli of a read-only memory map, which is kept; None if it is None or too large to be kept."""
    global _kept
    key, kept = _file_key(X), _kept
    n_matrices = 1 + _pays_in_float32(X) + (kind == "rows")
    if key is None or n_matrices * 8 * len(X) ** 2 > memory_limit() * _KEPT_SHARE:
        return None
    known = kept[1] if kept is not None and kept[0] == key else {}
    if kind not in known:
        result = compute()
        if result is None:
            return None
        known = {**known, kind: result}
        _kept = key, known
    found: Result = known[kind]
    return found


def _products_of_file(X: NDArray, *, single: bool = False) -> _Products | None:
    """Products of the stimuli of a read-only memory map; None if not finite or too large to be kept."""
    if single:
        return _keep(X, "float32", lambda: _products_in_float32(X))
    return _keep(X, "float64", lambda: _products_in_float64(X))


def _products_in_float64(X: NDArray) -> _Products | None:
    """Products of all stimuli; None if not finite."""
    n, p = X.shape
    sums, shift, squared_mean = np.zeros(n), np.zeros(n), 0.0

    def add_sums(block: Array, _: slice) -> None:
        np.add(sums, block.sum(axis=1), out=sums)

    def centre(block: Array, columns: slice) -> None:
        nonlocal squared_mean
        add_sums(block, columns)
        mean = block.mean(axis=0)
        own = float(mean @ mean)
        squared_mean += own
        block -= mean
        np.add(shift, block @ mean + own / 2, out=shift)

    K = _products_then_centred(X, add_sums, shift=shift)
    if K is None:
        sums[:] = shift[:] = 0.0
        K = _row_products(X, centre)
    trace = float(K.trace())
    if not (np.isfinite(trace) and np.isfinite(shift).all()):
        return None
    if trace <= FLAT**2 * n * squared_mean:
        K[:] = 0.0
    return _Products(K, shift, sums / max(p, 1))


_WORTH_FLOAT32 = 2 * 10**9
"""Multiplications of all stimuli and features from which products in float32 take less time."""

_FLOAT32_COLUMNS = 2048
"""About how many columns' products are summed in float32 before they are added to the others in float64."""

_FLOAT64_COLUMNS = 512
"""Columns that are multiplied at once in float64, of those that float32 does not represent well enough."""

_LEAST_PANEL_ROWS, _MOST_PANEL_ROWS = 128, 2560
"""Range of the number of rows whose products with all later ones a thread computes at once in float32."""

_ROWS_OF_MEANS = 64
"""Rows from which means are computed that are subtracted before products in float32."""

_DOMINATES = 16
"""How many times the mean variance of the other columns a column may have to be multiplied in float32."""

_MOST_IN_FLOAT64 = 1 / 4
"""Part of a block of columns above which it is multiplied in float64 as a whole."""

_LEAST_SQUARE, _LARGEST_SUM = 1e-25, 1e37
"""Range in which squares of float32 values neither overflow nor underflow: their mean and their sum."""


def _pays_in_float32(X: NDArray) -> bool:
    n, p = X.shape
    return X.dtype == np.float32 and n * n * p >= _WORTH_FLOAT32


@np.errstate(invalid="ignore", over="ignore")  # blocks that are too large are multiplied in float64
def _products_in_float32(X: NDArray) -> _Products | None:
    """Products of all stimuli of float32 features, most of them in float32; None if not finite.

    Each column is centred before; blocks of columns are summed in float64. Columns that dominate a block would drown
    the others in their rounding errors and are multiplied in float64, as are blocks of values too large or too small
    for float32. All else is computed in float64.
    """
    n, p = X.shape
    step = max(1, min(-(-p // max(1, round(p / _FLOAT32_COLUMNS))), CHUNK_BYTES // (4 * n)))
    total, sums = np.zeros((n, n), order="F"), np.zeros((2, n))
    buffer = np.empty((n + 2) * step, np.float32)
    squared_mean, rounded = 0.0, 0.0
    with worker_threads(n * p) as threads:
        height = _MOST_PANEL_ROWS
        if threads.count > 1:  # several for each thread; the first are the largest
            height = min(max(n // (4 * threads.count), _LEAST_PANEL_ROWS), height)
        panels = [slice(*pair) for pair in pairwise([*range(0, n, height), n + 2])]

        def add(block: NDArray[np.floating]) -> None:
            threads.run([partial(_add_products, block, rows, total, sums, threads.count) for rows in panels])

        for start in range(0, p, step):
            columns = X[:, start : start + step]
            # means of some rows are near enough: the difference from a float32 value is exact but for its own rounding,
            # and the mean that remains is subtracted from the products
            mean = columns[:: -(-n // _ROWS_OF_MEANS)].mean(axis=0, dtype=np.float64).astype(np.float32)
            block = buffer[: (n + 2) * len(mean)].reshape(n + 2, -1)
            block[n:] = np.stack([mean, np.ones_like(mean)])  # products with these are sums of the rows
            parts = [partial(_subtract, columns[rows], mean, block[rows]) for rows in threads.parts(n)]
            precise, size = _columns_in_float64(sum(threads.run(parts)), n)
            sums[1] += mean.sum(dtype=np.float64)
            squared_mean += float(np.square(mean, dtype=np.float64).sum())
            for first in range(0, len(precise), _FLOAT64_COLUMNS):
                some = precise[first : first + _FLOAT64_COLUMNS]
                chosen = block[:, some].astype(np.float64)
                np.subtract(columns[:, some], mean[some], out=chosen[:n], dtype=np.float64)
                add(chosen)
            block[:, precise] = 0
            if len(precise) < len(mean):
                add(block)
                rounded += size
        mean = dsymv(1 / n, total, np.ones(n), lower=1)
        mean -= mean.mean() / 2
        K = mirrored(dsyr2(-1.0, mean, np.ones(n), lower=1, a=total, overwrite_a=1))
    shift = mean + sums[0] + squared_mean / 2
    trace = float(K.trace())
    if not (np.isfinite(trace) and np.isfinite(shift).all()):
        return None
    if trace <= FLAT**2 * n * squared_mean:
        K[:] = 0.0
    return _Products(K, shift, sums[1] / p, rounded / n)


@np.errstate(invalid="ignore", over="ignore")
def _subtract(columns: NDArray, mean: NDArray[np.float32], block: NDArray[np.float32]) -> Array:
    """Fill a block with columns minus their means, and return the sums of squares."""
    squares = np.zeros(len(mean))
    for start in range(0, len(columns), 64):  # rows that fit into the cache
        rows = block[start : start + 64]
        rows[:] = columns[start : start + 64]
        rows -= mean
        squares += np.einsum("ij,ij->j", rows, rows)
    return squares


@np.errstate(invalid="ignore", over="ignore")
def _add_products(block: NDArray[np.floating], rows: slice, total: Array, sums: Array, threads: int) -> None:
    """Add products of some rows of a block with themselves and all later ones; those with the last two are sums.

    Parameters
    ----------
    block : array, (n + 2) × columns
    rows : slice
    total : array, n × n, column-major
        Its lower triangle is changed.
    sums : array, 2 × n
    threads : int
        Number of threads that do this at the same time.
    """
    own, later = block[rows], block[rows.stop :]
    if threads > 1:  # functions of SciPy wait for each other
        products = own @ own.T
    else:
        products = get_blas_funcs("syrk", (block,))(1.0, own.T, trans=1, lower=1)
    square = total[rows, rows]
    size = len(square)
    for first in range(0, size, 128):
        square[first:, first : first + 128] += products[first:size, first : min(first + 128, size)]
    if len(later):
        products = (own @ later.T).T
        total[rows.stop :, rows] += products[:-2]
    sums[:, rows] += products[-2:, :size]


def _columns_in_float64(squares: Array, n: int) -> tuple[NDArray[np.intp], float]:
    """Columns of a block of n rows to be multiplied in float64, and the sum of squares of the others."""
    others = np.ones(len(squares), dtype=bool)
    while True:
        # at most 1 of 16 values exceeds 16 times their mean
        dominating = others & (squares > _DOMINATES * squares[others].mean())
        if not dominating.any():
            break
        others &= ~dominating
    size = float(squares[others].sum())
    few = others.sum() >= (1 - _MOST_IN_FLOAT64) * len(squares)
    if few and _LEAST_SQUARE * n * others.sum() <= size <= _LARGEST_SUM:
        return np.flatnonzero(~others), size
    return np.arange(len(squares)), 0.0


def _file_key(X: NDArray) -> tuple[Any, ...] | None:
    """What identifies the values of a read-only memory map, or of a part of it; None for other arrays."""
    mapped = _memory_map(X)
    if mapped is None or mapped.flags.writeable or X.flags.writeable or mapped.filename is None:
        return None
    try:
        status = os.stat(mapped.filename)
    except OSError:  # the file was removed
        return None
    place = X.__array_interface__["data"][0] - mapped.__array_interface__["data"][0] + mapped.offset
    file = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    return *file, place, X.shape, X.strides, X.dtype.str


@np.errstate(invalid="ignore", over="ignore")  # NaN in X gives NaN in the result
def row_gram(X: NDArray, *, centred: bool = False, device: "torch.device | None" = None) -> tuple[Array, Array | None]:
    """X Xᵀ, and None; or the products after subtraction of each row's mean, and these means.

    Products below the diagonal may be missing. For large float32 features on the CPU mostly in float32 (see
    :func:`fast_gram`).
    """
    single = device is None and _pays_in_float32(X)
    products = _products_of_file(X, single=single) if device is None else None
    if products is not None:
        products = products._replace(centred=products.centred.copy())
    elif single:
        products = _products_in_float32(X)
    if products is not None:
        mean = products.row_mean if centred else None
        result = _recentred(products, X.shape[1], mean)
        if result is not None:
            return result, mean
    if device is None and centred:
        found = _keep(X, "rows", lambda: _row_gram_of_features(X, centred=True, device=None))
        if found is not None:
            return found[0].copy(), found[1]
    return _row_gram_of_features(X, centred=centred, device=device)


def _row_gram_of_features(X: NDArray, *, centred: bool, device: "torch.device | None") -> tuple[Array, Array | None]:
    """Compute :func:`row_gram` in float64, from the features."""
    mean = X.mean(axis=1, dtype=np.float64) if centred and X.shape[1] else None
    if device is None:
        with _one_thread() if len(X) ** 2 * X.shape[1] < _SHORT_PRODUCT else nullcontext():
            result = _products_then_centred(X, row_mean=np.zeros(len(X)) if mean is None else mean)
        if result is not None:
            return result, mean
    shift: Any = None if mean is None else mean[:, None]
    if shift is not None and device is not None:
        shift = to_device(shift, device)

    def subtract(block: Any, _: slice) -> None:
        if shift is not None:
            block -= shift

    return _row_products(X, subtract) if device is None else to_numpy(_row_products_on(X, subtract, device)), mean


_LOST = 8
"""Products may be this many times larger before the mean is subtracted from them than afterwards."""

_LOST_OF_KEPT = 64
"""As `_LOST`, for products that are kept or mostly in float32: two digits, instead of reading the features once more.

Of products in float32, this leaves five digits for pairs of two such stimuli, and more for all others.
"""


def _recentred(products: _Products, p: int, row_mean: Array | None) -> Array | None:
    """Subtract means of rows of p values from products on and above the diagonal; None if this would lose digits."""
    K, shift = products.centred, products.shift
    removed = np.zeros(len(K)) if row_mean is None else p**0.5 * row_mean
    own = K.diagonal()
    if not (own + 2 * np.abs(shift) + removed**2 <= _LOST_OF_KEPT * (own + 2 * shift - removed**2)).all():
        return None

    def change(rows: slice) -> None:
        block, columns = K[rows, rows.start :], slice(rows.start, None)
        block += shift[columns]
        block += shift[rows, None]
        if row_mean is not None:
            block -= removed[rows, None] * removed[columns]

    in_blocks(change, K.shape)
    return K


def _products_then_centred(
    X: NDArray, prepare: "_Prepare | None" = None, *, row_mean: Array | None = None, shift: Array | None = None
) -> Array | None:
    """Products of all pairs of rows, from which the mean is subtracted; None if this would lose digits.

    Products of float64 features in memory need no copy of them, and others only their conversion.

    Parameters
    ----------
    X : array, n × p
    prepare : callable, optional
        Sees the blocks of columns of features that are converted.
    row_mean : array (n,), optional
        Subtracted from each row, without products below the diagonal; by default each column's mean is subtracted.
    shift : array (n,), optional
        Filled with what was subtracted for the columns' means: of product i, j the sum of items i and j.
    """
    n, p = X.shape
    if not (n and p):
        return None
    few = X[:, :: -(-p // 16)].astype(np.float64)
    centre = few.mean(axis=0) if row_mean is None else row_mean[:, None]
    if not np.square(few).sum() <= _LOST * np.square(few - centre).sum():
        return None
    if X.dtype == np.float64 and X.flags.c_contiguous and X.flags.aligned and _memory_map(X) is None:
        total = dsyrk(1.0, X.T, trans=1, lower=1)
    else:
        total = _lower_products(X, prepare)
    own = total.diagonal()
    if row_mean is None:
        mean = dsymv(1 / n, total, np.ones(n), lower=1)
        if not own.sum() <= _LOST * (own.sum() - mean.sum()):
            return None
        mean -= mean.mean() / 2
        if shift is not None:
            shift[:] = mean
        total = dsyr2(-1.0, mean, np.ones(n), lower=1, a=total, overwrite_a=1)
    elif row_mean.any():
        if not (own <= _LOST * (own - p * row_mean**2)).all():
            return None
        total = dsyr(-float(p), row_mean, lower=1, a=total, overwrite_a=1)
    return mirrored(total) if row_mean is None else np.asarray(total.T)


def _memory_map(X: NDArray) -> np.memmap | None:
    """The memory map of which X is a part; None if it is not in a file."""
    mapped = None
    base: Any = X
    while isinstance(base, np.ndarray):
        mapped = base if isinstance(base, np.memmap) else mapped
        base = base.base
    return mapped


_Prepare = Callable[[Any, slice], None]
"""Function that changes a block of columns in place, given the block and the slice of columns."""


def _row_products(X: NDArray, prepare: _Prepare) -> Array:
    """Products of all pairs of rows of X, whose columns are prepared in blocks."""
    return mirrored(_lower_products(X, prepare))


def _lower_products(X: NDArray, prepare: _Prepare | None = None) -> Array:
    """As :func:`_row_products`, but only the lower triangle, in a column-major matrix."""
    n, p = X.shape
    total = np.zeros((n, n), order="F")
    for columns in _cpu_column_chunks(n, p):
        block = X[:, columns].astype(np.float64)
        if prepare is not None:
            prepare(block, columns)
        total = dsyrk(1.0, block.T, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    return total


def mirrored(total: Array) -> Array:
    """Copy the lower triangle of a column-major matrix to the upper one, in blocks that fit into the cache."""
    n, size = len(total), 128
    below = np.tri(size, k=-1, dtype=bool)
    for start in range(0, n, size):
        stop = min(start + size, n)
        block = total[start:stop, start:stop]
        np.copyto(block.T, block, where=below[: stop - start, : stop - start])
        total[start:stop, stop:] = total[stop:, start:stop].T
    return np.asarray(total.T)  # symmetric, so this is the same matrix, but with contiguous rows


def _row_products_on(X: NDArray, prepare: _Prepare, device: "torch.device") -> "torch.Tensor":
    n, p = X.shape
    total = to_device(np.zeros((n, n)), device)
    for columns in chunk_columns(n, p, device):
        block = to_device(X[:, columns], device)
        prepare(block, columns)
        total.addmm_(block, block.T)
    return total


def _cpu_column_chunks(n: int, p: int) -> Iterator[slice]:
    """Slices of the columns that need a quarter of `CHUNK_BYTES`, since wider blocks are not faster."""
    step = max(1, CHUNK_BYTES // (32 * max(1, n)))
    return (slice(start, min(start + step, p)) for start in range(0, p, step))


def as_array_like(values: Any, other: Any, xp: Any) -> Any:
    """Convert NumPy values to the library of `other` (its module is `xp`), on the device of `other`."""
    return values if xp is np else to_device(values, other.device, values.dtype)


@np.errstate(invalid="ignore", over="ignore")  # the caller checks the result
def moments_on(
    X: NDArray, Y: Array, rows: NDArray[np.intp] | slice, mean: Array, scale: float, device: "torch.device | None"
) -> tuple[Any, Any, Any]:
    """ZᵀZ, ZᵀY and the column sums of Z = (X − mean) / scale for some rows, over chunks in float64."""
    Y, p = Y[rows], X.shape[1]
    row_numbers = np.arange(len(X))[rows]
    square, cross, total = (on_device(np.zeros(shape), device) for shape in ((p, p), (p, Y.shape[1]), p))
    for part in chunks(len(Y), p):
        block = scaled_features(X, part if isinstance(rows, slice) else row_numbers[part], mean, scale, device)
        square += block.T @ block
        cross += block.T @ on_device(Y[part], device)
        total += block.sum(0)
    return square, cross, total


def scaled_features(
    X: NDArray, rows: NDArray[np.intp] | slice, mean: Array, scale: float, device: "torch.device | None"
) -> Any:
    """Return (X − mean) / scale for some rows in float64, on the device."""
    block = np.subtract(X[rows], mean, dtype=np.float64)
    block /= scale
    return on_device(block, device)


def on_device(values: Array, device: "torch.device | None") -> Any:
    """Copy values to a device; for None (NumPy), return them unchanged."""
    return values if device is None else to_device(values, device)


_FEW_NUMBERS = 50_000
"""Numbers that functions process, below which starting threads takes longer than the functions (about 0.2 ms)."""


def in_parallel(functions: Sequence[Callable[[], Result]], *, numbers: int) -> list[Result]:
    """Results of functions that are called at the same time, each with one thread of BLAS.

    They are called one after the other if :func:`worker_threads` has one thread, for example because each function
    processes few `numbers`.
    """
    with worker_threads(numbers, most=len(functions)) as threads:
        return threads.run(functions)


_BLOCK_BYTES = 2**19
"""Size of the rows of a matrix that are changed together, so that they stay in the cache."""


def in_blocks(change: Callable[[slice], None], shape: tuple[int, int]) -> None:
    """Call a function for all rows of a float64 matrix, some at a time, in :func:`worker_threads`."""
    n, p = shape
    step = max(1, _BLOCK_BYTES // (8 * max(p, 1)))
    with worker_threads(n * p // 10) as threads:  # each number takes little time
        threads.run([partial(change, slice(start, min(start + step, n))) for start in range(0, n, step)])


@dataclass(frozen=True)
class WorkerThreads:
    """Threads that call functions at the same time.

    Attributes
    ----------
    count : int
        Number of threads.
    run : callable
        Returns the results of functions, which are called with one thread of BLAS if there are several threads here.
    """

    count: int
    run: Callable[[Sequence[Callable[[], Any]]], list[Any]]

    def parts(self, length: int) -> list[slice]:
        """One slice of an axis for each thread."""
        bounds = np.linspace(0, length, min(self.count, max(length, 1)) + 1).astype(int)
        return [slice(*pair) for pair in pairwise(bounds)]


@contextmanager
def worker_threads(numbers: int, *, most: int | None = None) -> Iterator[WorkerThreads]:
    """As many threads as BLAS has, whose functions use one thread of BLAS each.

    There is one thread, that of the caller, if BLAS has one in all (``OMP_NUM_THREADS=1``), if the functions process
    only a few `numbers`, and within such functions. Only what NumPy computes runs at the same time: functions of
    :mod:`scipy.linalg` wait for each other.
    """
    count = 1 if numbers < _FEW_NUMBERS else blas_threads()
    count = count if most is None else min(most, count)
    # the number of threads is that of the process: what another thread set must not become what is restored here
    if count <= 1 or not _threads_are_set.acquire(blocking=False):
        yield WorkerThreads(1, lambda functions: [function() for function in functions])
        return
    try:
        with blas_libraries().limit(limits=1), ThreadPoolExecutor(count) as pool:
            yield WorkerThreads(count, lambda functions: list(pool.map(lambda function: function(), functions)))
    finally:
        _threads_are_set.release()
        if numbers >= _MANY_NUMBERS:
            _return_memory()


_SHORT_PRODUCT = 5 * 10**8
"""Multiplications below which a product has one thread: others of BLAS keep cores busy for a tenth of a second."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread of BLAS, unless another thread has set their number."""
    if blas_threads() == 1 or not _threads_are_set.acquire(blocking=False):
        yield
        return
    try:
        with blas_libraries().limit(limits=1):
            yield
    finally:
        _threads_are_set.release()


_MANY_NUMBERS = 10**6
"""Count of numbers that threads process from which the memory that they free is returned to the system."""


def _return_memory() -> None:
    """Return to the system what threads have freed, which glibc would keep for later threads."""
    with suppress(OSError, AttributeError, TypeError):  # another system or library
        ctypes.CDLL(None).malloc_trim(0)


_threads_are_set = Lock()


def blas_threads() -> int:
    """Number of threads of BLAS."""
    return max((library["num_threads"] for library in blas_libraries().info()), default=1)


@lru_cache(maxsize=1)
def blas_libraries() -> ThreadpoolController:
    """The libraries of NumPy and SciPy for products of matrices."""
    return ThreadpoolController().select(user_api="blas")
