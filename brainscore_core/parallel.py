"""A function for many arguments, in several processes where that saves time."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from threadpoolctl import threadpool_info, threadpool_limits

from brainscore_core.errors import UserError

Argument = TypeVar("Argument")
Result = TypeVar("Result")

WORTHWHILE = 1.0
"""Seconds that the remaining evaluations must take, as far as is known, before processes are started."""


def evaluate(
    function: Callable[[Argument], Result],
    arguments: Sequence[Argument],
    *,
    together: int = 1,
    most: int | None = None,
) -> Iterator[Result]:
    """Evaluate a function for each argument, in their order.

    There are as many processes as a numerical library may use threads here, each with one thread: small matrices do not
    profit from more. They are copies of this one (``fork``), so nothing but results is transferred. Where processes
    cannot be copied safely (other systems than Linux, workers of a cluster), evaluations follow one another.

    The function must give the same result in any process and order; `together` successive arguments are best evaluated
    by the same process. There are at most `most` processes. A UserError if one of them is ended from outside.

    Examples
    --------
    >>> list(evaluate(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    start = time.perf_counter()
    done = 0
    count = _processes() if most is None else min(most, _processes())
    for argument in arguments:
        if done and count > 1 and len(arguments) - done > together:
            remaining = (time.perf_counter() - start) / done * (len(arguments) - done)
            if remaining > WORTHWHILE:
                break
        yield function(argument)
        done += 1
    if done < len(arguments):
        count = min(count, -(-(len(arguments) - done) // together))
        yield from _in_processes(function, arguments[done:], together, count)


def _processes() -> int:
    """Number of processes that are of use."""
    if sys.platform != "linux" or multiprocessing.current_process().daemon:
        return 1
    threads = max((int(library["num_threads"]) for library in threadpool_info()), default=1)
    return min(threads, len(os.sched_getaffinity(0)))


_call: list[Callable[[int], Any]] = []  # of this process: a copy has what its original had when it was copied


def _in_processes(
    function: Callable[[Argument], Result], arguments: Sequence[Argument], together: int, count: int
) -> Iterator[Result]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)  # of threads, which wait while it is copied
        pool = ProcessPoolExecutor(
            count,
            mp_context=multiprocessing.get_context("fork"),
            initializer=_begin,
            initargs=(lambda number: function(arguments[number]),),
        )
        results = pool.map(_evaluated, range(len(arguments)), chunksize=together)
    try:
        yield from results
    except BrokenProcessPool as error:
        raise UserError(
            "a process that computed was ended from outside, as it happens when memory runs out",
            remedy="compute in one process, with OMP_NUM_THREADS=1",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(call: Callable[[int], Any]) -> None:
    gc.freeze()  # what belongs to the original is not to be released here
    _call[:] = [call]
    threadpool_limits(1)


def _evaluated(number: int) -> Any:
    return _call[0](number)
