"""Threads of this package and of BLAS, devices of PyTorch, and copies of arrays to and from these."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    import torch
import ctypes
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

_STAGED_BYTES = 2**25
"""Size of the parts in which larger arrays are copied to and from a GPU through page-locked memory."""

_COPYING_THREADS = 8


def import_torch() -> Any:
    """Import and return the module ``torch``."""
    try:
        import torch
    except ImportError as error:
        raise UserError("computing on a device needs PyTorch", remedy="pip install 'brainscore[torch]'") from error
    return torch


def resolve_device(device: "str | torch.device | None") -> "torch.device | None":
    """Return the device to compute on; None stands for NumPy."""
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
    """Copy `array` to the device and convert it there, so that float32 is transferred as float32."""
    torch = import_torch()
    torch_dtype = dtype if isinstance(dtype, torch.dtype) else getattr(torch, np.dtype(dtype).name)
    if device.type != "cuda" or not array.ndim:
        values = np.array(array, copy=True, subok=False, order="C")  # as PyTorch warns about read-only memory
        return torch.from_numpy(values).to(device=device, dtype=torch_dtype)
    result = torch.empty(array.shape, dtype=getattr(torch, array.dtype.name), device=device)
    for rows in _staged_rows(array):
        staged = torch.empty(result[rows].shape, dtype=result.dtype, pin_memory=True)
        _copy(array[rows], staged.numpy())
        result[rows].copy_(staged, non_blocking=True)
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
        staged = torch.empty(result[rows].shape, dtype=tensor.dtype, pin_memory=True)
        staged.copy_(tensor[rows])
        _copy(staged.numpy(), result[rows])
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
        slices = [slice(*pair) for pair in pairwise(bounds)]
        list(pool.map(lambda rows: np.copyto(target[rows], source[rows]), slices))


def on_device(values: NDArray[np.float64], device: "torch.device | None") -> Any:
    """Copy values to a device; for None (NumPy), return them unchanged."""
    return values if device is None else to_device(values, device)


Result = TypeVar("Result")

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
    """Threads that call functions at the same time."""

    count: int  # number of threads
    # Returns the results of functions, which are called with one thread of BLAS if there are several threads here
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


SHORT_PRODUCT = 5 * 10**8
"""Multiplications below which a product has one thread: others of BLAS keep cores busy for a tenth of a second."""


@contextmanager
def one_thread() -> Iterator[None]:
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
