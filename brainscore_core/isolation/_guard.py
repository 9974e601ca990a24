"""Ensure that a command does not outlive the process that uses it. Run by path; uses only the standard library.

``python -I -S _guard.py PARENT SOCKET COMMAND…`` runs the command. When standard input ends, the process PARENT has
ended, or the command has ended, all its descendants are killed. The exit status is the command's. ``SOCKET`` is the
number of a descriptor that only the command keeps open; -1 for none.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_TICK = 0.5  # seconds; standard input stays open if another process inherited a copy
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def _prctl(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _run(command: list[str], guard: int) -> None:
    """Become the command, in a process group of its own; never returns."""
    try:
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)  # noqa: S606 - the purpose of this module
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _watch(child: int, parent: int, wake: int) -> int | None:
    """Wait until the child has ended (return its wait status) or is no longer needed (return None)."""
    while True:
        with suppress(InterruptedError):
            ready, _, _ = select.select([0, wake], [], [], _TICK)
            if 0 in ready or os.getppid() != parent:
                return None
            if wake in ready:
                os.read(wake, 4096)
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if ended == child:
                return status
            if ended == 0:
                break


def _end(child: int, status: int | None) -> int | None:
    """Kill the command's group and all descendants of this process; return the child's wait status."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if status is None or sys.platform != "linux":  # after the wait, its number may belong to another process
            with suppress(OSError):
                os.killpg(child, signal.SIGKILL)
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            ended, wait_status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if ended == child:
            status = wait_status
        if ended == 0:
            time.sleep(0.005)
    return status


def _children() -> list[int]:
    """Children of this process, including orphans that it adopted; empty if the system does not list them."""
    pids: list[int] = []
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            pids += map(int, task.read_text().split())
    return pids


def _leave(status: int | None) -> None:
    """End with the command's exit status or signal."""
    if status is None:
        os._exit(1)
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    import resource

    number = os.WTERMSIG(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command has written its own
    with suppress(OSError, ValueError):  # some signals cannot be caught
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    time.sleep(1)
    os._exit(128 + number)


def main() -> None:
    """Run the command of the arguments."""
    parent, connection, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake, woken = os.pipe()
    for end in (wake, woken):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    guard = os.getpid()
    child = os.fork()
    if child == 0:
        _run(command, guard)
    with suppress(OSError):
        os.setpgid(child, child)  # both processes do it, since either may run first
    if connection >= 0:
        os.close(connection)
    _leave(_end(child, _watch(child, parent, wake)))


if __name__ == "__main__":
    main()
