"""Processes that a guard watches over: starting them, noticing that they have ended, ending them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from brainscore_core.scoring.subjects._wire import Closed

__all__ = ["Look", "end", "ender", "guarded"]

_GUARD = Path(__file__).with_name("_guard.py")
_PATIENCE = 15.0  # seconds in which killed processes must be gone


def guarded(
    command: Sequence[str], *, handed_on: int | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a command; it ends, with all that descends from it, when standard input is closed or this process is gone.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    handed_on : int, optional
        Descriptor that it gets under the same number.
    environment : mapping, optional
        Environment variables; by default those of this process.
    """
    guard = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), str(-1 if handed_on is None else handed_on)]
    return subprocess.Popen(  # noqa: S603 - what it is for
        [*guard, *command],
        stdin=subprocess.PIPE,  # while it is open, somebody wants the command
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=() if handed_on is None else (handed_on,),
        env=None if environment is None else dict(environment),
        start_new_session=True,
        bufsize=0,
    )


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
