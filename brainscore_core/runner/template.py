"""Templates of scoring processes: what processes of several models have in common is imported and loaded once.

A worker on Linux starts a template, a process that imports the scorer and keeps benchmarks with their ceilings, and has
it fork a process for each model. A forked process is as separate as one that was started: a model that crashes, hangs,
or changes modules affects neither the template nor other models. Where forks are impossible or not safe, scoring
processes are started.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from brainscore_core.memory import memory_limit
from brainscore_core.receipts.output import unnamed_file
from brainscore_core.runner.process_tree import end_all, memory_of

__all__ = ["SCRIPT", "ForkedProcess", "Template", "borrow_template", "end_idle_templates"]

SCRIPT = Path(__file__).with_name("_child.py")
"""The script of templates and of scoring processes."""

_KEPT_SHARE = 0.25  # of the memory of a pair, for benchmarks that the template keeps
_IDLE_SECONDS = 60.0  # after which an unused template ends
_TICK = 0.02
_ANSWER_SECONDS = 60.0  # for requests that take milliseconds
_START_SECONDS = 600.0  # imports from a slow shared disk


class TemplateEnded(Exception):
    """The template has ended, or was ended because it reached a limit."""


class Template:
    """A process that imports what scoring processes need, keeps benchmarks, and forks.

    Parameters
    ----------
    scorer : str
        As for `run_plan`. If its module has a function ``keep_benchmark(benchmark, **options)``, which returns whether
        the benchmark is kept, and a function ``forget_benchmark(benchmark)``, benchmarks are kept.
    environment : mapping
        Environment variables, also of the forked processes.
    limit : int or None
        Bytes that a scoring process may hold. Benchmarks are kept within a quarter of it.
    purpose : str
        Templates with the same purpose are interchangeable.
    """

    def __init__(self, scorer: str, *, environment: Mapping[str, str], limit: int | None, purpose: str = "") -> None:
        self.limit = limit
        self.purpose = purpose
        self._kept: dict[str, None] = {}
        self._modules: set[str] = set()
        self._printed = unnamed_file()
        self._lock = threading.Lock()
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(  # noqa: S603 - this package's own script
                [sys.executable, "-P", str(SCRIPT), str(os.getpid()), "template"],
                stdin=other.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._printed,
                env=dict(environment),
                start_new_session=True,
            )
        try:
            self._request({"path": sys.path, "scorer": scorer}, _START_SECONDS, lambda: False)
        except BaseException:
            self.close()
            raise
        self._empty = memory_of([self.pid])

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def prepare(
        self,
        benchmarks: Sequence[str],
        *,
        options: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
    ) -> bool:
        """Import what earlier models used, and keep benchmarks as far as the memory allows.

        Parameters
        ----------
        benchmarks : sequence of str
            What the next process scores, in order.
        options : mapping
            Options of the scorer.
        timeout : float or None
            Seconds that each benchmark may take.
        stopped : callable
            Called repeatedly; if it returns True, the template is ended.

        Returns
        -------
        bool
            False if a kept benchmark is outdated, because the code of a plugin has changed.

        Raises
        ------
        TemplateEnded
            If the template ended, or took too long or too much memory. The scoring process, which then has to load the
            benchmark itself, reports the cause.
        """
        if self._modules:
            self._request({"import": sorted(self._modules)}, _START_SECONDS, stopped)
            self._modules.clear()
        wanted = set(benchmarks)
        for benchmark in benchmarks:
            known = benchmark in self._kept
            if not known and self._is_full(wanted):
                continue
            kept = self._request({"keep": benchmark, "options": options}, timeout, stopped)["kept"]
            if kept is None:
                return False
            if kept:
                self._kept[benchmark] = None
            if kept and not known and self._is_full(wanted):
                self._drop(benchmark)
        return True

    def fork(self, printed: IO[bytes]) -> ForkedProcess | None:
        """Fork a scoring process, whose output goes to a file; None if that is impossible or not safe."""
        requests, written = os.pipe()
        read, answers = os.pipe()
        answer: dict[str, Any] = {}
        with contextlib.suppress(TemplateEnded), self._lock:
            self._send({"fork": True}, (requests, answers, printed.fileno()))
            answer = self._answer(_ANSWER_SECONDS, lambda: False)
        os.close(requests)
        os.close(answers)
        if "pid" not in answer:
            os.close(written)
            os.close(read)
            _unusable.add(self.purpose)
            return None
        return ForkedProcess(self, answer["pid"], os.fdopen(written, "wb"), os.fdopen(read, "rb"))

    def learn(self, modules: Sequence[str]) -> None:
        """Import these modules before the next fork, because a model needed them."""
        self._modules.update(modules)

    def state_of(self, pid: int) -> int | None:
        """Exit code of a forked process, whose id stays in use until :meth:`reap`; None if it runs."""
        try:
            code: int | None = self._request({"state": pid}, _ANSWER_SECONDS, lambda: False)["code"]
        except TemplateEnded:  # it takes the processes that it forked with it
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            return -signal.SIGKILL
        return code

    def reap(self, pid: int) -> None:
        """Release the id of a process that has ended."""
        with contextlib.suppress(TemplateEnded):
            self._request({"reap": pid}, _ANSWER_SECONDS, lambda: False)

    def give_back(self) -> None:
        """Keep the template for the next process, for a minute."""
        if self.purpose in _unusable or not self.running:
            self.close()
            return
        with _changing:
            _free.append((self, time.monotonic()))
        timer = threading.Timer(_IDLE_SECONDS + 1, end_idle_templates, (_IDLE_SECONDS,))
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        """End the process."""
        end_all([self.pid])
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    def _is_full(self, wanted: set[str]) -> bool:
        """Whether kept benchmarks fill the memory for them, after those that are not wanted were dropped."""
        budget = _KEPT_SHARE * (memory_limit() if self.limit is None else self.limit)
        while memory_of([self.pid]) - self._empty > budget:
            others = [benchmark for benchmark in self._kept if benchmark not in wanted]
            if not others:
                return True
            self._drop(others[0])
        return False

    def _drop(self, benchmark: str) -> None:
        self._kept.pop(benchmark, None)
        self._request({"drop": benchmark}, _ANSWER_SECONDS, lambda: False)

    def _request(
        self, request: Mapping[str, Any], timeout: float | None, stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        with self._lock:
            self._send(request)
            return self._answer(timeout, stopped)

    def _send(self, request: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
        except OSError as error:
            raise TemplateEnded(str(error)) from error

    def _answer(self, timeout: float | None, stopped: Callable[[], bool]) -> dict[str, Any]:
        start = time.monotonic()
        self._control.settimeout(_TICK)
        while True:
            try:
                message = self._control.recv(1_000_000)
            except TimeoutError:
                seconds = time.monotonic() - start
                if stopped():
                    raise TemplateEnded("the run was stopped") from None
                if timeout is not None and seconds > timeout:
                    raise TemplateEnded(f"it took longer than {timeout:g} seconds") from None
                if self.limit is not None and memory_of([self.pid]) > self.limit:
                    raise TemplateEnded("it used too much memory") from None
                continue
            except OSError as error:
                raise TemplateEnded(str(error)) from error
            if not message:
                raise TemplateEnded("it has ended")
            answer: dict[str, Any] = json.loads(message)
            return answer


class ForkedProcess:
    """A process that a template forked, with the part of the interface of `subprocess.Popen` that workers use."""

    def __init__(self, template: Template, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._template = template

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None if it runs."""
        return self._template.state_of(self.pid) if self.returncode is None else self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and release the process's id."""
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("scoring process", timeout or 0.0)
            time.sleep(_TICK)
        if self.returncode is None:
            self.returncode = code
            self._template.reap(self.pid)
        return code

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


_free: list[tuple[Template, float]] = []  # unused templates, and since when
_unusable: set[str] = set()  # purposes for which templates failed
_changing = threading.Lock()


def borrow_template(
    settings: Mapping[str, Any],
    benchmarks: Sequence[str],
    *,
    environment: Mapping[str, str],
    limit: int | None,
    timeout: float | None,
    stopped: Callable[[], bool],
) -> Template | None:
    """Return a template for the next process of the calling thread; None if the process has to be started.

    The template of an earlier call with the same scorer, environment and limit is used again, unless the code of a
    plugin that it loaded has changed since. A scoring process gives it back when it ends.

    Parameters
    ----------
    settings : mapping
        As for `ScoringProcess`.
    benchmarks, timeout, stopped
        As for :meth:`Template.prepare`.
    environment, limit
        As for :class:`Template`.
    """
    purpose = json.dumps([settings["scorer"], sorted(environment.items()), limit])
    if sys.platform != "linux" or purpose in _unusable:
        return None
    with _changing:
        found = next((entry for entry in _free if entry[0].purpose == purpose), None)
        if found is not None:
            _free.remove(found)
    template = None if found is None or not found[0].running else found[0]
    try:
        for _ in range(2):  # the second time with a new template
            if template is None:
                template = Template(settings["scorer"], environment=environment, limit=limit, purpose=purpose)
            if template.prepare(benchmarks, options=settings["options"], timeout=timeout, stopped=stopped):
                return template
            template.close()
            template = None
    except (TemplateEnded, OSError):
        if template is not None:
            template.close()
        if not stopped():
            _unusable.add(purpose)
    return None


def end_idle_templates(seconds: float = 0.0) -> None:
    """End templates that were not used for some seconds."""
    with _changing:
        idle = [entry for entry in _free if time.monotonic() - entry[1] >= seconds]
        _free[:] = [entry for entry in _free if entry not in idle]
    for template, _ in idle:
        template.close()
