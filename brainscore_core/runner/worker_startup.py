"""What a worker does at its start: leave terminal, environment and Ctrl-C to the run."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from brainscore_core.runner.worker import THREAD_VARIABLES

__all__ = ["environment_kept", "silent", "uninterrupted", "without_interrupts"]

_LOGGERS = ("distributed", "dask_jobqueue", "tornado.application", "tornado.general", "asyncio")


@contextmanager
def silent() -> Iterator[None]:
    """Let no log line of Dask's into the terminal."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def environment_kept() -> Iterator[None]:
    """Undo what starting workers does to this process's environment."""
    names = (*THREAD_VARIABLES, "PYTHONHASHSEED", "__DASK_PARENT_PID")
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Block Ctrl-C for threads that are started meanwhile, and for the processes that these start.

    A terminal sends it to all processes at once, and this one alone should answer it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it would lift the block if it were started later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a second Ctrl-C wait until everything is in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def dask_setup(worker: Any) -> None:
    """Send what Dask prints nowhere; called by it in each worker."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with open(os.devnull, "w") as nothing:
        for descriptor in (1, 2):
            os.dup2(nothing.fileno(), descriptor)
