"""Scoring processes as their worker sees them: asked for pairs, watched, ended if they take too much."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

from brainscore_core.errors import UserError
from brainscore_core.memory import format_size
from brainscore_core.receipts.output import Captured, unnamed_file

__all__ = ["Answer", "Death", "ScoringProcess", "descendants", "end_all", "memory_of", "proportional_memory_of"]

_PRIVATE = ("RssAnon:", "VmSwap:")
_SHARED = "RssShmem:"
_PROPORTIONAL = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")


def memory_of(pids: list[int]) -> int:
    """Bytes that processes hold together and that the system cannot take back.

    Pages of mapped files, such as stored activations, do not count: they can be had back at any time. Shared memory
    counts once; but what a forked process has in common with its parent counts twice, see
    :func:`proportional_memory_of`.

    Parameters
    ----------
    pids : list of int
        Those that are gone count nothing.

    Examples
    --------
    >>> import os
    >>> memory_of([os.getpid()]) > 1_000_000
    True
    """
    private = shared = 0
    for pid in pids:
        own, common = _private_and_shared(pid)
        private += own
        shared = max(shared, common)
    return private + shared


def proportional_memory_of(pids: list[int]) -> int:
    """As :func:`memory_of`, and what forked processes have in common counts once.

    It takes the longer, the more memory they hold. Where the system does not tell, the sum of what each holds.

    Examples
    --------
    >>> import os
    >>> proportional_memory_of([os.getpid()]) > 1_000_000
    True
    """
    return sum(_proportional(pid) for pid in pids)


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        lines = []
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith(_PROPORTIONAL)]
    return sum(found) if len(found) == len(_PROPORTIONAL) else sum(_private_and_shared(pid))


def _private_and_shared(pid: int) -> tuple[int, int]:
    private = shared = 0
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(_PRIVATE):
                private += int(line.split()[1]) * 1024
            elif line.startswith(_SHARED):
                shared = int(line.split()[1]) * 1024
    except OSError:
        if not Path("/proc/self/status").exists():
            return _resident(pid), 0
    return private, shared


def _resident(pid: int) -> int:
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def descendants(pid: int) -> list[int]:
    """Processes that a process started, and those that these started."""
    import psutil

    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def end_all(pids: Iterable[int]) -> None:
    """End processes, all that they started, and the process groups that they lead. Returns at once."""
    known = list(pids)
    everybody = {*known, *(child for pid in known for child in descendants(pid))}
    for pid in everybody:
        with contextlib.suppress(OSError, AttributeError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def system_oom_kills() -> int:
    """How many processes the system has ended for want of memory since it started; 0 where it does not tell.

    Examples
    --------
    >>> system_oom_kills() >= 0
    True
    """
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


_SCRIPT = Path(__file__).with_name("_child.py")
_TICK = 0.05  # seconds between two looks at the memory of the process
_TREE_TICKS = 10  # looks between two at what it started
_TIDY_SECONDS = 1.0
_FINISH_SECONDS = 10.0
_READY_SECONDS = 600  # imports from a slow shared disk


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the scoring process gave: its receipt's content, or the error that the scorer raised."""

    content: dict[str, Any]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Death:
    """Why a scoring process gave no answer.

    Attributes
    ----------
    kind : str
        ``'memory'``: it held more than it may, or the system had none left; ``'time'``: it took too long;
        ``'crash'``: it ended by itself; ``'stopped'``: the run was stopped.
    message : str
        For people.
    seconds : float
        After which it died.
    tail : str
        What it printed since it began the pair; where that was much, the beginning and the end.
    """

    kind: Literal["memory", "time", "crash", "stopped"]
    message: str
    seconds: float
    tail: str = ""


class ScoringProcess:
    """A process of its own that scores one pair at a time.

    Parameters
    ----------
    settings : mapping
        ``scorer``, ``store``, ``run``, ``isolated``, ``options``, as JSON holds them.
    environment : mapping
        Its environment variables.
    limit : int or None
        Bytes that it may hold, processes that it started included.

    Raises
    ------
    UserError
        If the scorer cannot be imported.
    """

    def __init__(self, settings: Mapping[str, Any], *, environment: Mapping[str, str], limit: int | None) -> None:
        self.limit = limit
        self._printed = unnamed_file()  # the process empties it when it begins a pair
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._oom_kills = system_oom_kills()
        self._ticks = 0
        self._others: list[int] = []
        self._counted_again = 0  # bytes that forked processes share, in what is counted cheaply
        # -P: the folder of the script is no place to import from
        self._process = subprocess.Popen(  # noqa: S603 - this package's own script
            [sys.executable, "-P", str(_SCRIPT), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            env=dict(environment),
            start_new_session=True,
        )
        threading.Thread(target=self._read_answers, args=(self._process.stdout,), daemon=True).start()
        self._send({**settings, "path": sys.path})
        self._ready = False

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def wait_ready(self, stopped: Callable[[], bool]) -> Death | None:
        """Wait until it has imported what it needs."""
        if self._ready:
            return None
        found = self._wait(_READY_SECONDS, stopped)
        if isinstance(found, Death):
            return found
        if problem := found.content.get("unavailable"):
            self.close()
            raise UserError(problem["message"], remedy=problem["remedy"] or problem["traceback"])
        self._ready = True
        return None

    def score(
        self, model: str, benchmark: str, *, timeout: float | None, stopped: Callable[[], bool]
    ) -> Answer | Death:
        """Score a pair.

        Parameters
        ----------
        model, benchmark : str
            Handed to the scorer.
        timeout : float or None
            Seconds that it may take.
        stopped : callable
            Asked again and again; where it says True, the process is ended.

        Returns
        -------
        Answer or Death
            After a death the process is gone, with all that it started.
        """
        if death := self.wait_ready(stopped):
            return death
        self._send({"model": model, "benchmark": benchmark})
        return self._wait(timeout, stopped)

    def finish(self) -> None:
        """Let it come to its end, now that there is nothing more to score."""
        self._send({"end": True})
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_FINISH_SECONDS)
        self.close()

    def close(self, *, seconds: float = 0.0) -> None:
        """End it, and all that it started; it has so many seconds to put its things in order."""
        others: list[int] = []
        if seconds and self._process.poll() is None:
            others = descendants(self._process.pid)  # which are nobody's children once it is gone
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=seconds)
        end_all([*([self._process.pid] if self._process.poll() is None else []), *others])
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    def _wait(self, timeout: float | None, stopped: Callable[[], bool]) -> Answer | Death:
        start = time.monotonic()
        while True:
            try:
                line = self._answers.get(timeout=_TICK)
            except queue.Empty:
                seconds = time.monotonic() - start
                if self._gone():
                    return self._last_word(seconds)
                death: Death | None = None
                if stopped():
                    death = Death(kind="stopped", message="the run was stopped", seconds=seconds)
                elif timeout is not None and seconds > timeout:
                    death = Death(kind="time", message=f"took longer than {timeout:g} seconds", seconds=seconds)
                elif used := self._too_much():
                    limit = format_size(self.limit or 0)
                    message = f"was killed for using more than {limit} (it held {format_size(used)})"
                    death = Death(kind="memory", message=message, seconds=seconds)
                if death is None:
                    continue
                self.close(seconds=0.0 if death.kind == "memory" else _TIDY_SECONDS)
                return replace(death, tail=self._said())
            seconds = time.monotonic() - start
            if line is not None:
                return Answer(content=json.loads(line), seconds=seconds)
            return self._post_mortem(seconds)

    def _gone(self) -> bool:
        """Whether it has ended; its process id stays its own, where the system can look without taking note."""
        if hasattr(os, "waitid") and self._process.returncode is None:
            with contextlib.suppress(ChildProcessError):
                flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
                return os.waitid(os.P_PID, self._process.pid, flags) is not None
        return self._process.poll() is not None

    def _last_word(self, seconds: float) -> Answer | Death:
        """What it answered before it ended. What it forked may hold the pipe, which then comes to no end."""
        end_all([self._process.pid])
        try:
            line = self._answers.get(timeout=_TIDY_SECONDS)
        except queue.Empty:
            line = None
        return self._post_mortem(seconds) if line is None else Answer(content=json.loads(line), seconds=seconds)

    def _too_much(self) -> int | None:
        """Bytes that it holds, where these are too many."""
        if self.limit is None:
            return None
        thorough = self._ticks % _TREE_TICKS == 0
        if thorough:
            self._others = descendants(self._process.pid)
        self._ticks += 1
        everybody = [self._process.pid, *self._others]
        used = memory_of(everybody)
        # to look closer takes long: at once where it may be too much by now, else now and then
        if used > self.limit and (thorough or used - self._counted_again > self.limit):
            exact = proportional_memory_of(everybody)
            self._counted_again = max(used - exact, 0)
        used -= self._counted_again
        return used if used > self.limit else None

    def _post_mortem(self, seconds: float) -> Death:
        end_all([self._process.pid])  # what it started may be left
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code == -getattr(signal, "SIGKILL", 9) and system_oom_kills() > self._oom_kills:
            message = "was killed by the system, which had no memory left"
            return Death(kind="memory", message=message, seconds=seconds, tail=self._said())
        return Death(kind="crash", message=_ended(code), seconds=seconds, tail=self._said())

    def _send(self, request: Mapping[str, Any]) -> None:
        # a broken pipe: it is dead, which shows when its answer is awaited
        with contextlib.suppress(OSError):
            if self._process.stdin is not None and not self._process.stdin.closed:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()

    def _read_answers(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                self._answers.put(line)
        self._answers.put(None)

    def _said(self) -> str:
        """What it printed since it began the pair."""
        with contextlib.suppress(ValueError):  # closed
            return Captured(self._printed).text()
        return ""


def _ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit status {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:
        name = ""
    return f"died with signal {-code}{name}"
