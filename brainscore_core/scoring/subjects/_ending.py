"""Ending a subject's process, and noticing that it has ended."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, suppress

from brainscore_core.scoring.subjects._wire import Closed

__all__ = ["Look", "end", "ender"]

_PATIENCE = 15.0  # seconds in which killed processes must be gone


class Look:
    """Ends the wait for a process that has ended; it may have answered just before."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._dead = False

    def __call__(self) -> None:
        if self._dead:
            raise Closed
        self._dead = self._process.poll() is not None


def ender(process: subprocess.Popen[bytes]) -> Callable[[], None]:
    def close() -> None:
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()

    return close


def end(process: subprocess.Popen[bytes], owner: int, closing: ExitStack | None = None) -> int:
    """Have everything killed that the guard watches over; the exit status."""
    if os.getpid() != owner:  # a fork of the process that started it
        return 0
    ender(process)()
    try:
        return process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:  # the guard itself was stopped
        process.kill()
        return process.wait()
    finally:
        if closing is not None:
            closing.close()
