"""Templates of scoring processes: what processes of several models have in common is imported and loaded once.

On Linux, workers share a template, a process that imports the scorer and keeps benchmarks with their ceilings, and have
it fork a process for each model. A forked process is as separate as one that was started: a model that crashes, hangs,
or changes modules affects neither the template nor other models. Benchmarks are loaded in the order in which they are
needed, while the first ones are scored. Where forks are impossible or not safe, scoring processes are started.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from brainscore_core.memory import memory_limit
from brainscore_core.receipts.output import unnamed_file
from brainscore_core.runner.process_tree import end_all, memory_of

__all__ = ["SCRIPT", "ForkedProcess", "Template", "borrow_template", "end_idle_templates", "start_template"]

SCRIPT = Path(__file__).with_name("_child.py")
"""The script of templates and of scoring processes."""

_KEPT_SHARE = 0.25  # of the memory of a pair, for benchmarks that the template keeps
_IDLE_SECONDS = 60.0  # after which an unused template ends
_TICK = 0.02
_ANSWER_SECONDS = 60.0  # for requests that take milliseconds
_START_SECONDS = 600.0  # imports from a slow shared disk
_EXIT_STATUS = 49  # field of /proc/PID/stat after the name of the process


class TemplateEnded(Exception):
    """The template has ended, or was ended because it reached a limit."""


class Template:
    """A process that imports what scoring processes need, keeps benchmarks, and forks. Threads may share it.

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
        self.users = 0
        self.unused_since = time.monotonic()
        self._kept: dict[str, None] = {}
        self._failed: set[str] = set()  # benchmarks with an error
        self._too_large: set[str] = set()
        self._empty = 0  # bytes that it held before it kept benchmarks
        self._modules: set[str] = set()  # to import
        self._imported: set[str] = set()
        self._ahead: dict[str, tuple[Mapping[str, Any], float | None]] = {}  # to load when nothing else is requested
        self._loader: threading.Thread | None = None
        self._waiting = 0  # threads that come before the loader
        self._printed = unnamed_file()
        self._lock = threading.Lock()  # of the connection
        self._unread = 0  # answers for which nobody waits any longer
        self._starting = True
        self._closed = False
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
        self._send({"path": sys.path, "scorer": scorer})  # the answer is awaited when it is needed

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    @property
    def kept(self) -> frozenset[str]:
        """Benchmarks that a process forked now has."""
        return frozenset(self._kept)

    def may_keep(self, benchmark: str) -> bool:
        """Whether a benchmark is kept, or will be if that is requested; False after an error or for lack of memory."""
        return benchmark in self._kept or benchmark not in self._failed | self._too_large

    def prepare(
        self,
        benchmarks: Sequence[str],
        *,
        options: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
        wanted: Iterable[str] = (),
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
            Called repeatedly; if it returns True, this method gives up.
        wanted : iterable of str
            Further benchmarks that should stay if they are kept.

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
        stay = {*benchmarks, *wanted}
        with self._before_loader():
            self._import(stopped)
            return all(self._keep(benchmark, stay, options, timeout, stopped) for benchmark in benchmarks)

    def load_ahead(self, benchmarks: Sequence[str], *, options: Mapping[str, Any], timeout: float | None) -> None:
        """Keep benchmarks in the background; other requests come first.

        Parameters
        ----------
        benchmarks, options, timeout
            As for :meth:`prepare`.
        """
        with _changing:
            self._ahead.update(dict.fromkeys(benchmarks, (options, timeout)))
            if self._loader is None and self._ahead:
                self._loader = threading.Thread(target=self._load, name="brainscore-template", daemon=True)
                self._loader.start()

    def fork(self, printed: IO[bytes], *, stopped: Callable[[], bool] = lambda: False) -> ForkedProcess | None:
        """Fork a scoring process, whose output goes to a file; None if that is impossible or not safe."""
        requests, written = os.pipe()
        read, answers = os.pipe()
        answer: dict[str, Any] = {}
        kept: frozenset[str] = frozenset()
        descriptors = (requests, answers, printed.fileno())
        with contextlib.suppress(TemplateEnded), self._before_loader(), self._connection(stopped):
            answer = self._request({"fork": True}, _ANSWER_SECONDS, stopped, descriptors)
            kept = self.kept
        os.close(requests)
        os.close(answers)
        if "pid" not in answer:
            os.close(written)
            os.close(read)
            _unusable.add(self.purpose)
            return None
        return ForkedProcess(self, answer["pid"], os.fdopen(written, "wb"), os.fdopen(read, "rb"), kept)

    def learn(self, modules: Sequence[str]) -> None:
        """Import these modules before the next fork, because a model needed them."""
        with _changing:
            self._modules.update(set(modules) - self._imported)

    def reap(self, pid: int) -> None:
        """Release the id of a process that has ended, as soon as the template reads it."""
        with contextlib.suppress(TemplateEnded):
            self._send({"reap": pid})

    def give_back(self) -> None:
        """Keep the template for the next process, for a minute after the last use."""
        with _changing:
            self.users -= 1
            self.unused_since = time.monotonic()
            used = self.users > 0
            obsolete = _templates.get(self.purpose) is not self or self.purpose in _unusable or not self.running
        if used:
            return
        if obsolete:
            self.close()
            return
        timer = threading.Timer(_IDLE_SECONDS + 1, end_idle_templates, (_IDLE_SECONDS,))
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        """End the process, and all that it forked."""
        self._closed = True
        with _changing:
            if _templates.get(self.purpose) is self:
                del _templates[self.purpose]
        end_all([self.pid])
        with self._lock:
            self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    def _import(self, stopped: Callable[[], bool]) -> None:
        with _changing:
            modules, self._modules = self._modules, set()
            self._imported |= modules
        if modules:
            with self._connection(stopped):
                self._request({"import": sorted(modules)}, _START_SECONDS, stopped)

    def _keep(
        self,
        benchmark: str,
        stay: set[str],
        options: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
    ) -> bool:
        """Keep a benchmark if the memory allows it; False if it is kept but outdated."""
        with self._connection(stopped):
            known = benchmark in self._kept
            if benchmark in self._failed:
                return True
            if not known and self._is_full(stay):
                self._too_large.add(benchmark)
                return True
            kept = self._request({"keep": benchmark, "options": options}, timeout, stopped)["kept"]
            if kept is None:
                return False
            if not kept:
                self._failed.add(benchmark)
            elif not known:
                self._kept[benchmark] = None
                self._too_large.discard(benchmark)
                if self._is_full(stay):
                    self._drop(benchmark)
                    self._too_large.add(benchmark)
            return True

    def _load(self) -> None:
        """Load benchmarks ahead, until none is left."""
        while True:
            while self._waiting and not self._closed:
                time.sleep(_TICK)
            with _changing:
                if self._closed:
                    self._ahead.clear()
                if not self._ahead:
                    self._loader = None
                    return
                benchmark = next(iter(self._ahead))
                options, timeout = self._ahead.pop(benchmark)
                stay = {benchmark, *self._ahead, *self._kept}
            try:
                if benchmark not in self._kept:
                    self._keep(benchmark, stay, options, timeout, lambda: self._closed)
            except (TemplateEnded, OSError):
                if not self._closed:
                    _unusable.add(self.purpose)
                    self.close()

    @contextmanager
    def _before_loader(self) -> Iterator[None]:
        """Let requests of this thread come before the next benchmark that is loaded ahead."""
        with _changing:
            self._waiting += 1
        try:
            yield
        finally:
            with _changing:
                self._waiting -= 1

    def _is_full(self, stay: set[str]) -> bool:
        """Whether kept benchmarks fill the memory for them, after those that need not stay were dropped."""
        budget = _KEPT_SHARE * (memory_limit() if self.limit is None else self.limit)
        while memory_of([self.pid]) - self._empty > budget:
            others = [benchmark for benchmark in self._kept if benchmark not in stay]
            if not others:
                return True
            self._drop(others[0])
        return False

    def _drop(self, benchmark: str) -> None:
        self._kept.pop(benchmark, None)
        self._request({"drop": benchmark}, _ANSWER_SECONDS, lambda: False)

    @contextmanager
    def _connection(self, stopped: Callable[[], bool]) -> Iterator[None]:
        """Hold the connection to the process, once it has imported the scorer."""
        while not self._lock.acquire(timeout=_TICK):
            if stopped():
                raise TemplateEnded("the run was stopped")
        try:
            if self._starting:
                self._starting = False
                self._answer(_START_SECONDS, stopped)
                self._empty = memory_of([self.pid])
            yield
        finally:
            self._lock.release()

    def _request(
        self,
        request: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
        descriptors: Sequence[int] = (),
    ) -> dict[str, Any]:
        """Send a request and return the answer; the caller holds the connection."""
        self._send(request, descriptors)
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
                    self._unread += 1
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
            if self._unread:
                self._unread -= 1
                continue
            answer: dict[str, Any] = json.loads(message)
            return answer


class ForkedProcess:
    """A process that a template forked, with the part of the interface of `subprocess.Popen` that workers use."""

    def __init__(
        self, template: Template, pid: int, stdin: IO[bytes], stdout: IO[bytes], benchmarks: frozenset[str]
    ) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.benchmarks = benchmarks  # that the template kept
        self.returncode: int | None = None
        self._template = template

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None if it runs. Its id stays in use until :meth:`wait` has returned."""
        if self.returncode is not None:
            return self.returncode
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:  # the template, which takes the processes that it forked with it, has ended
            return -signal.SIGKILL
        fields = text.rpartition(")")[2].split()  # after the name of the process, which may contain any character
        return os.waitstatus_to_exitcode(int(fields[_EXIT_STATUS])) if fields[0] in ("Z", "X") else None

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


_templates: dict[str, Template] = {}  # by purpose
_unusable: set[str] = set()  # purposes for which templates failed
_changing = threading.Lock()


def start_template(
    settings: Mapping[str, Any],
    benchmarks: Sequence[str],
    *,
    environment: Mapping[str, str],
    limit: int | None,
    timeout: float | None,
) -> None:
    """Start a template that the next call of :func:`borrow_template` with the same arguments returns.

    It ends with the calling thread. Without templates on this system, nothing happens.

    Parameters
    ----------
    settings, benchmarks, environment, limit, timeout
        As for :func:`borrow_template`.
    """
    with contextlib.suppress(TemplateEnded, OSError):
        template = _take(settings, environment, limit)
        if template is not None:
            template.load_ahead(benchmarks, options=settings["options"], timeout=timeout)
            template.give_back()


def borrow_template(
    settings: Mapping[str, Any],
    benchmarks: Sequence[str],
    *,
    environment: Mapping[str, str],
    limit: int | None,
    timeout: float | None,
    stopped: Callable[[], bool],
    at_once: int | None = None,
) -> Template | None:
    """Return a template for the next process; None if the process has to be started.

    The template of an earlier call with the same scorer, environment and limit is used again, also by several threads,
    unless the code of a plugin that it loaded has changed since. A scoring process gives it back when it ends.

    Parameters
    ----------
    settings : mapping
        As for `ScoringProcess`.
    benchmarks, timeout, stopped
        As for :meth:`Template.prepare`.
    environment, limit
        As for :class:`Template`.
    at_once : int, optional
        Wait only for so many benchmarks; the others are loaded in the background. By default all are loaded.
    """
    count = len(benchmarks) if at_once is None else at_once
    now, later, options = benchmarks[:count], benchmarks[count:], settings["options"]
    template = None
    try:
        for _ in range(2):  # the second time with a new template
            template = _take(settings, environment, limit)
            if template is None:
                return None
            if template.prepare(now, options=options, timeout=timeout, stopped=stopped, wanted=later):
                template.load_ahead(later, options=options, timeout=timeout)
                return template
            _discard(template)
    except (TemplateEnded, OSError):
        if template is not None and stopped():
            _discard(template)
        else:
            _unusable.add(_purpose(settings, environment, limit))
            if template is not None:
                template.close()
    return None


def end_idle_templates(seconds: float = 0.0) -> None:
    """End templates that were not used for some seconds."""
    with _changing:
        idle = [
            template
            for template in _templates.values()
            if not template.users and time.monotonic() - template.unused_since >= seconds
        ]
    for template in idle:
        template.close()


def _purpose(settings: Mapping[str, Any], environment: Mapping[str, str], limit: int | None) -> str:
    return json.dumps([settings["scorer"], sorted(environment.items()), limit])


def _take(settings: Mapping[str, Any], environment: Mapping[str, str], limit: int | None) -> Template | None:
    """The template for this purpose, started if there is none; None if there cannot be one."""
    purpose = _purpose(settings, environment, limit)
    if sys.platform != "linux":
        return None
    with _changing:
        if purpose in _unusable:
            return None
        template = _templates.get(purpose)
        if template is None or not template.running:
            template = Template(settings["scorer"], environment=environment, limit=limit, purpose=purpose)
            _templates[purpose] = template
        template.users += 1
        return template


def _discard(template: Template) -> None:
    """Give a template back that is not to be used again; it ends when no thread uses it."""
    with _changing:
        if _templates.get(template.purpose) is template:
            del _templates[template.purpose]
    template.give_back()
