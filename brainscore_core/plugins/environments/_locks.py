"""Locks that the system releases when their holder dies: one process builds, those that use keep from removal."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows: two processes may build the same twice, and the second's is then dropped
    fcntl = None  # type: ignore[assignment] # Windows

__all__ = ["PATIENCE", "exclusive", "lease", "release", "take_alone"]

PATIENCE = 1800.0  # seconds; then it is built here, too: a lock only keeps from doing it twice
_PAUSE = 0.05
_logger = logging.getLogger(__name__)


@contextmanager
def exclusive(path: Path, *, waiting: Callable[[str], None], patience: float = PATIENCE) -> Iterator[bool]:
    """Let one process at a time into the block.

    Parameters
    ----------
    path : Path
        File of the lock; says who holds it.
    waiting : callable
        Told once, who holds it, when there is something to wait for.
    patience : float
        Seconds to wait.

    Yields
    ------
    bool
        Whether this process is alone there; not where patience ran out, or there are no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline, told = time.monotonic() + patience, False
    while (descriptor := take_alone(path)) is None and time.monotonic() < deadline:
        if not told:
            waiting(_holder(path))
            told = True
        time.sleep(_PAUSE)
    try:
        if descriptor is not None and descriptor >= 0:
            _say_who(descriptor)
        yield descriptor is not None and descriptor >= 0
    finally:
        if descriptor is not None:
            release(descriptor)


def take_alone(path: Path) -> int | None:
    """Lock a file against everyone else; None while somebody holds it. A negative number where there are no locks."""
    return _take(path, alone=True)


def lease(path: Path) -> int | None:
    """Share a lock on a file with others that use the same; None while somebody removes it."""
    return _take(path, alone=False)


def release(descriptor: int) -> None:
    """Give a lock back."""
    if descriptor >= 0:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _take(path: Path, *, alone: bool) -> int | None:
    if fcntl is None:
        return -1
    while True:
        try:
            descriptor = _opened(path, alone=alone)
        except OSError as error:  # a folder that cannot be written to: nothing is built or removed from here
            _logger.debug("no lock on %s: %s", path, error)
            return -1
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:  # a file system without locks
            _logger.debug("no lock on %s: %s", path, error)
            os.close(descriptor)
            return -1
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)  # it was removed, with what it guards, between opening and locking


def _opened(path: Path, *, alone: bool) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        if alone:
            raise
        return os.open(path, os.O_RDONLY)  # somebody else's folder: whoever may remove there sees the lock


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def _say_who(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {platform.node()}".encode(), 0)


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:200] or "another process"
    except OSError:
        return "another process"
