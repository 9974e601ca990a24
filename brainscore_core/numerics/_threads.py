"""Threads of this package, and those of BLAS."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

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
