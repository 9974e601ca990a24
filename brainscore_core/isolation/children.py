"""Guarded child processes, and their output."""

from __future__ import annotations

import codecs
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from brainscore_core.isolation.wire import Closed

_GUARD = Path(__file__).with_name("_guard.py")
_PR_SET_DUMPABLE = 4  # option of prctl on Linux
_PATIENCE = 15.0  # seconds in which killed processes must have ended


def guarded(
    command: Sequence[str], *, inherited: int | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a command that ends, with all its descendants, when its standard input is closed or this process has ended.

    It inherits the descriptor `inherited` under the same number. By default, it has the environment variables of this
    process.
    """
    guard = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), str(-1 if inherited is None else inherited)]
    return subprocess.Popen(  # noqa: S603 - the purpose of this function
        [*guard, *command],
        stdin=subprocess.PIPE,  # the command runs as long as this is open
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=() if inherited is None else (inherited,),
        env=None if environment is None else dict(environment),
        start_new_session=True,
        bufsize=0,
    )


class LifeCheck:
    """Raises `Closed` at the second call after a process has ended; it may have answered just before its end."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._dead = False

    def __call__(self) -> None:
        if self._dead:
            raise Closed
        self._dead = self._process.poll() is not None


def ender(process: subprocess.Popen[bytes]) -> Callable[[], None]:
    """Make a function that closes the input of a process, upon which its guard ends it."""

    def close() -> None:
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()

    return close


def end(process: subprocess.Popen[bytes], owner: int, closing: ExitStack | None = None) -> int:
    """Let the guard kill the command and its descendants; return the exit status."""
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


_KEPT = 512 << 10  # bytes of the beginning, and as many of the end


class Output:
    """Reads a pipe to its end, in a thread of its own.

    The pipe is closed at its end. Once more than `limit` bytes are printed, `on_flood` is called; further output is
    counted but not kept. `on_text` is called with each piece of text.
    """

    def __init__(
        self, descriptor: int, *, limit: int, on_flood: Callable[[], None], on_text: Callable[[str], None] | None = None
    ) -> None:
        self.total = 0
        self.flooded = False
        self._descriptor = descriptor
        self._limit = limit
        self._on_flood = on_flood
        self._on_text = on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._ended = False
        self._reading = threading.Lock()  # while a block is read from the pipe and passed on
        self._lock = threading.Lock()
        os.set_blocking(descriptor, False)
        self._thread = threading.Thread(target=self._read, name="subject-output", daemon=True)
        self._thread.start()

    def drain(self) -> None:
        """Read what was printed before now, without waiting for the thread."""
        with self._reading:
            while not self.flooded and self._read_block():
                pass

    def finish(self, timeout: float) -> None:
        """Wait until the pipe has ended."""
        self._thread.join(timeout)

    @property
    def text(self) -> str:
        """What was printed; if that is very long, the beginning and the end."""
        with self._lock:
            tail = b"".join(self._tail)[-_KEPT:]
            left_out = self.total - len(self._head) - len(tail)
            gap = f"\n[{left_out} bytes are left out here]\n".encode() if left_out else b""
            return (bytes(self._head) + gap + tail).decode("utf-8", "replace")

    def _read(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_READ)
            while not self._ended:
                selector.select()
                with self._reading:
                    self._read_block()
        os.close(self._descriptor)

    def _read_block(self) -> bool:
        """Read a block from the pipe if one is available; return whether one was."""
        if self._ended:
            return False
        try:
            block = os.read(self._descriptor, 1 << 16)
        except BlockingIOError:
            return False
        except OSError:
            block = b""
        if not block:
            self._ended = True
            return False
        self._take(block)
        if self.flooded:
            return True
        if self.total > self._limit:
            self.flooded = True
            self._on_flood()
        elif self._on_text is not None:
            with suppress(OSError, ValueError):  # the listener has ended
                self._on_text(self._decoder.decode(block))
        return True

    def _take(self, block: bytes) -> None:
        with self._lock:
            self.total += len(block)
            room = _KEPT - len(self._head)
            self._head += block[:room]
            if tail := block[room:] if room > 0 else block:
                self._tail.append(tail)
                self._tail_bytes += len(tail)
                while self._tail_bytes - len(self._tail[0]) >= _KEPT:
                    self._tail_bytes -= len(self._tail.popleft())


def ending_text(status: int) -> str:
    """Describe how a process ended.

    Examples
    --------
    >>> ending_text(-11)
    'ended by signal 11 (segmentation fault)'
    >>> ending_text(3)
    'ended with exit status 3'
    """
    if status < 0:
        return f"ended by signal {-status} ({_signal_name(-status)})"
    if 128 < status <= 192:
        return f"ended with exit status {status}, as after signal {status - 128} ({_signal_name(status - 128)})"
    return f"ended with exit status {status}"


def _signal_name(number: int) -> str:
    try:
        return (signal.strsignal(number) or "unknown").lower()
    except ValueError:
        return "unknown"


def hide_environment() -> None:
    """Keep this process's environment, with its secrets, from other processes of the same user.

    The kernel lets only root read ``/proc/<pid>/environ`` and the memory of a process that is not dumpable. Processes
    that this one starts, which score benchmarks, are dumpable again, and have none of its secrets.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
