"""Templates of scoring processes: what processes of several models have in common is imported and loaded once.

On Linux, workers share a template: a process that imports the scorer, and forks a successor for each benchmark that is
needed, which loads it with its ceiling. Once it is loaded, the successor forks the processes of models, and the next
successor; until then, the process before it does. A forked process is as separate as one that was started: a model that
crashes, hangs, or changes modules affects neither the template nor other models, and a benchmark that crashes only the
successor that loads it. Where forks are impossible or not safe, scoring processes are started.
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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from brainscore_core.files import temporary_folder
from brainscore_core.memory import memory_limit
from brainscore_core.receipts.output import unnamed_file
from brainscore_core.runner import child
from brainscore_core.runner.child import decoded, encoded
from brainscore_core.runner.process_tree import end_all, memory_of

SCRIPT = Path(child.__file__)
"""The script of templates and of scoring processes."""

_KEPT_SHARE = 0.25  # of the memory of a pair, for benchmarks that the template keeps
_IDLE_SECONDS = 60.0  # after which an unused template ends
_TICK = 0.02
_FIRST_PAUSE = 0.001  # while a process ends, which mostly takes a few milliseconds
_IMPORT_SECONDS = 5.0  # that a process waits for imports, which take it as long
_ANSWER_SECONDS = 60.0  # for requests that take milliseconds
_START_SECONDS = 600.0  # imports from a slow shared disk
_EXIT_STATUS = 49  # field of /proc/PID/stat after the name of the process


class TemplateEnded(Exception):
    """The template has ended, or the run was stopped."""


class _Connection:
    """Requests to a process of a template, and its answers; one at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lock = threading.Lock()

    def request(
        self,
        message: child.Message,
        *,
        problem: Callable[[], str] = lambda: "",
        timeout: float | None = _ANSWER_SECONDS,
        descriptors: Sequence[int] = (),
    ) -> Any:
        """Send a request and return the answer; `problem` is called repeatedly and returns why to give up."""
        start = time.monotonic()
        with self._lock:
            self.send(message, descriptors)
            self._control.settimeout(_TICK)
            while True:
                try:
                    answer = self._control.recv(1_000_000)
                except TimeoutError:
                    reason = problem()
                    if not reason and timeout is not None and time.monotonic() - start > timeout:
                        reason = f"it took longer than {timeout:g} seconds"
                    if reason:
                        raise TemplateEnded(reason) from None
                    continue
                except OSError as error:
                    raise TemplateEnded(str(error)) from error
                if not answer:
                    raise TemplateEnded("it has ended")
                return decoded(answer)

    def send(self, message: child.Message, descriptors: Sequence[int] = ()) -> None:
        """Send a request that has no answer."""
        try:
            socket.send_fds(self._control, [encoded(message)], descriptors)
        except OSError as error:
            raise TemplateEnded(str(error)) from error

    def close(self) -> None:
        self._control.close()


@dataclass(eq=False)
class _Node:
    """A process of a template; it ends when its connection is closed."""

    pid: int
    connection: _Connection
    kept: dict[str, dict[str, str | None]]  # benchmarks, with the hashes of the code behind them
    n_uses: int = 0  # requests in progress, and forked processes that have not ended


class Template:
    """Processes that import what scoring processes need, load benchmarks, and fork. Threads may share them.

    - `scorer`: as for `run_plan`. If its module has functions ``keep_benchmark(benchmark, **options)``, which returns
      the hashes of the code behind it by folder or file, and ``forget_benchmark(benchmark)``, benchmarks are kept.
    - `environment`: environment variables, also of the forked processes.
    - `limit`: bytes that a scoring process may hold. Benchmarks are kept within a quarter of it.
    - `purpose`: templates with the same purpose are interchangeable.
    """

    def __init__(
        self,
        scorer: str,
        *,
        environment: Mapping[str, str],
        limit: int | None,
        purpose: str = "",
    ) -> None:
        self.limit = limit
        self.purpose = purpose
        self.users = 0
        self.unused_since = time.monotonic()
        self._scorer = scorer
        self._refused: dict[str, str] = {}  # benchmarks that are not kept, and why
        self._wanted: set[str] = set()
        self._ahead: dict[str, tuple[Mapping[str, Any], float | None]] = {}  # to load, in order
        self._loading = ""  # a benchmark
        self._modules: set[str] = set()  # to import
        self._imported: set[str] = set()
        self._nodes: list[_Node] = []  # that fork, or whose forked processes have not ended
        self._newest: _Node | None = None
        self._problem = ""  # why nothing is loaded any more
        self._changed = threading.Condition()
        self._scratch = contextlib.ExitStack()
        scratch = self._scratch.enter_context(temporary_folder("brainscore-template-"))
        control, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far_end:
            self._process = subprocess.Popen(  # noqa: S603 - this package's own script
                [sys.executable, "-P", str(SCRIPT), str(os.getpid()), "template"],
                stdin=far_end.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._scratch.enter_context(unnamed_file()),
                env={**environment, "TMPDIR": str(scratch)},
                start_new_session=True,
            )
        self._first = _Node(self._process.pid, _Connection(control), {})  # stays, and releases ids of its successors
        threading.Thread(target=self._load_all, name="brainscore-template", daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether it can fork, or will be able to."""
        with self._changed:
            return self._newest is not None if self._problem else True

    @property
    def kept(self) -> frozenset[str]:
        """Benchmarks that a process forked now has."""
        with self._changed:
            return frozenset(() if self._newest is None else self._newest.kept)

    def may_keep(self, benchmark: str) -> bool:
        """Whether a benchmark is kept, or might be if that is requested; False after an error or for lack of memory."""
        with self._changed:
            return benchmark in self.kept or not (benchmark in self._refused or self._problem)

    def prepare(
        self,
        benchmarks: Sequence[str],
        *,
        options: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
        patience: float | None = None,
    ) -> bool:
        """Import what earlier models used, and keep benchmarks as far as the memory allows.

        - `benchmarks`: what the next process scores. They are loaded in this order.
        - `options`: options of the scorer.
        - `timeout`: seconds that each benchmark may take.
        - `stopped`: called repeatedly; if it returns True, this method gives up.
        - `patience`: seconds to wait for the other benchmarks if at least one is there and others are being loaded;
          they are then loaded in the background. By default, this method waits for all.

        Returns: false if a kept benchmark is outdated, because the code of a plugin has changed. Raises TemplateEnded
        if no process can be forked. The scoring process, which then has to load the benchmark itself, reports the
        cause.
        """
        with self._changed:
            self._wanted = set(benchmarks)
            self._ahead = dict.fromkeys(benchmarks, (options, timeout)) | self._ahead
            self._changed.notify_all()
            start = time.monotonic()
            while not self._problem and self._is_awaited(benchmarks, time.monotonic() - start, patience):
                # again if it was dropped meanwhile
                if missing := set(benchmarks).difference(self.kept, self._refused, self._ahead):
                    self._ahead |= dict.fromkeys(missing, (options, timeout))
                    self._changed.notify_all()
                self._changed.wait(_TICK)
                if stopped():
                    raise TemplateEnded("the run was stopped")
            if self._newest is None:
                raise TemplateEnded(self._problem)
            codes = [code for benchmark, code in self._newest.kept.items() if benchmark in benchmarks]
            self._changed.notify_all()
        from brainscore_core.plugins.source import plugin_hash  # here, so that the process starts earlier

        return all(plugin_hash(Path(path)) == digest for code in codes for path, digest in code.items())

    def wait_for_any(self, benchmarks: Iterable[str], seconds: float, *, stopped: Callable[[], bool]) -> bool:
        """Wait until a process that is forked can score one of these benchmarks; False if it takes longer.

        It does not wait while nothing is loaded.
        """
        end = time.monotonic() + seconds
        with self._changed:
            while not (self._problem or self._is_any_settled(benchmarks) or stopped()):
                if time.monotonic() >= end or not self._more_are_coming:
                    return False
                self._changed.wait(_TICK)
        return True

    def load_ahead(
        self,
        benchmarks: Sequence[str],
        *,
        options: Mapping[str, Any],
        timeout: float | None,
        modules: Sequence[str] = (),
    ) -> None:
        """Import modules and keep benchmarks in the background.

        `modules` are imported first; other parameters as for :meth:`prepare`.
        """
        self.learn(modules)
        with self._changed:
            self._ahead |= dict.fromkeys(benchmarks, (options, timeout))
            self._wanted.update(benchmarks)
            self._changed.notify_all()

    def fork(self, printed: IO[bytes]) -> ForkedProcess | None:
        """Fork a scoring process, whose output goes to a file; None if that is impossible or not safe."""
        with self._changed:
            node = self._newest
            if node is None:
                return None
            node.n_uses += 1
        requests, written = os.pipe()
        read, answers = os.pipe()
        answer: Any = None
        with contextlib.suppress(TemplateEnded):
            answer = node.connection.request(child.Fork(), descriptors=(requests, answers, printed.fileno()))
        os.close(requests)
        os.close(answers)
        if not isinstance(answer, child.Forked):
            os.close(written)
            os.close(read)
            self.release(node)
            _unusable.add(self.purpose)
            return None
        return ForkedProcess(self, node, answer.pid, os.fdopen(written, "wb"), os.fdopen(read, "rb"))

    def learn(self, modules: Sequence[str]) -> None:
        """Import modules before the next fork: a model needed them."""
        with self._changed:
            self._modules.update(set(modules) - self._imported)
            self._changed.notify_all()

    def release(self, node: _Node, pid: int | None = None) -> None:
        """End the use of a process; `pid` is the id of a process that it forked and that has ended."""
        if pid is not None:
            with contextlib.suppress(TemplateEnded):
                node.connection.send(child.Reap(pid=pid))
        with self._changed:
            node.n_uses -= 1
            self._end_replaced()

    def give_back(self) -> None:
        """Keep the template for the next process, for a minute after the last use."""
        with _changing:
            self.users -= 1
            self.unused_since = time.monotonic()
            used = self.users > 0
            obsolete = _templates.get(self.purpose) is not self or self.purpose in _unusable
        if used:
            return
        if obsolete or not self.running:
            self.close()
            return
        timer = threading.Timer(_IDLE_SECONDS + 1, end_idle_templates, (_IDLE_SECONDS,))
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        """End all its processes, and those that were forked."""
        with _changing:
            if _templates.get(self.purpose) is self:
                del _templates[self.purpose]
        with self._changed:
            self._problem = self._problem or "it was closed"
            is_loaded, self._newest = self._newest is not None, None
            self._changed.notify_all()
            end_all(node.pid for node in self._nodes if node is not self._first)
            for node in (self._first, *self._nodes):
                node.connection.close()
            self._nodes.clear()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5 if is_loaded else 0)
        if self._process.returncode is None:
            end_all([self._process.pid])
            self._process.wait()
        self._scratch.close()

    def _is_awaited(self, benchmarks: Sequence[str], seconds: float, patience: float | None) -> bool:
        """Whether the next process should wait, after some seconds, for an import or these benchmarks."""
        if self._newest is None or not self._is_any_settled(benchmarks):
            return True
        is_patient = patience is None or (seconds < patience and self._more_are_coming)
        if is_patient and not set(benchmarks) <= self._settled:
            return True
        return bool(self._modules) and not self._loading and seconds < _IMPORT_SECONDS

    @property
    def _more_are_coming(self) -> bool:
        """Whether a benchmark is being loaded or will be next."""
        return bool(self._loading or self._ahead)

    def _is_any_settled(self, benchmarks: Iterable[str]) -> bool:
        requested = set(benchmarks)
        return not requested or bool(requested & self._settled)

    @property
    def _settled(self) -> set[str]:
        """Benchmarks for which a process need not wait: forked processes have them, or they are not kept."""
        return {*self._refused, *self.kept}

    def _load_all(self) -> None:
        """Import and load what is requested, in a thread."""
        try:
            if problem := self._request(self._first, self._load_request(), _START_SECONDS).problem:
                raise TemplateEnded(problem)
            empty = memory_of([self._first.pid])
            self._adopt(self._first)
            while True:
                with self._changed:
                    while not (self._problem or self._ahead or self._modules):
                        self._changed.wait()
                    if self._problem:
                        break
                    modules = sorted(self._modules)
                    benchmark = "" if modules else next(iter(self._ahead))
                    options, timeout = self._ahead.pop(benchmark, ({}, _START_SECONDS))
                    if not modules and benchmark in self._settled:
                        continue
                    self._loading = benchmark
                self._extend(self._load_request(modules, benchmark, options), timeout, empty)
                with self._changed:
                    self._loading = ""
                    self._imported.update(modules)
                    self._modules.difference_update(modules)
                    self._changed.notify_all()
        except (TemplateEnded, OSError) as error:
            with self._changed:
                self._problem = self._problem or str(error)
        finally:
            with self._changed:
                self._problem = self._problem or "it has ended"
                if self._newest is None:
                    self._first.connection.close()
                self._changed.notify_all()

    def _load_request(
        self, modules: Sequence[str] = (), benchmark: str = "", options: Mapping[str, Any] | None = None
    ) -> child.Load:
        return child.Load(
            path=sys.path, scorer=self._scorer, modules=list(modules), benchmark=benchmark, options=options or {}
        )

    def _extend(self, request: child.Load, timeout: float | None, empty: int) -> None:
        """Fork a successor that loads more, and use it from now on, unless that fails or needs too much memory."""
        control, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        current = self._newest
        if current is None:
            raise TemplateEnded(self._problem)
        with far_end:
            answer = current.connection.request(child.Fork(successor=True), descriptors=(far_end.fileno(),))
        if not isinstance(answer, child.Forked):
            control.close()
            raise TemplateEnded(answer.reason)
        node = _Node(answer.pid, _Connection(control), dict(current.kept))
        refused = "error"
        with contextlib.suppress(TemplateEnded):
            loaded = self._request(node, request, timeout)
            if not loaded.problem and (loaded.code is not None or not request.benchmark):
                node.kept |= {request.benchmark: loaded.code} if request.benchmark else {}
                refused = "" if self._fits(node, request.benchmark, empty) else "memory"
        if refused:
            end_all([node.pid])
            node.connection.close()
            if request.benchmark:
                self._refused[request.benchmark] = refused
        else:
            self._adopt(node)

    def _fits(self, node: _Node, benchmark: str, empty: int) -> bool:
        """Whether kept benchmarks fit into the memory for them, after those that are not wanted were dropped."""
        budget = _KEPT_SHARE * (memory_limit() if self.limit is None else self.limit)
        while memory_of([node.pid]) - empty > budget:
            unrequested = [name for name in node.kept if name not in self._wanted and name != benchmark]
            if not unrequested:
                return False
            self._request(node, child.Drop(scorer=self._scorer, benchmark=unrequested[0]), _ANSWER_SECONDS)
            del node.kept[unrequested[0]]
            with self._changed:  # there is space now
                self._refused = {name: why for name, why in self._refused.items() if why != "memory"}
        return True

    def _request(self, node: _Node, message: child.Message, timeout: float | None) -> Any:
        """Send a request to a process that loads."""

        def problem() -> str:
            if self._problem:
                return self._problem
            over = self.limit is not None and memory_of([node.pid]) > self.limit
            return "it used too much memory" if over else ""

        return node.connection.request(message, problem=problem, timeout=timeout)

    def _adopt(self, node: _Node) -> None:
        """Fork from this process from now on."""
        with self._changed:
            if self._problem:  # closed meanwhile
                end_all([node.pid])
                raise TemplateEnded(self._problem)
            self._nodes.append(node)
            self._newest = node
            self._end_replaced()
            self._changed.notify_all()

    def _end_replaced(self) -> None:
        """End processes that were replaced and whose forked processes have ended."""
        for node in [node for node in self._nodes if node not in (self._first, self._newest) and not node.n_uses]:
            node.connection.close()
            self._nodes.remove(node)
            with contextlib.suppress(TemplateEnded):
                self._first.connection.send(child.Reap(pid=node.pid))


class ForkedProcess:
    """A process that a template forked, with the part of the interface of `subprocess.Popen` that workers use."""

    def __init__(self, template: Template, node: _Node, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._template = template
        self._node = node
        self.benchmarks = frozenset(node.kept)  # that were kept when it was forked

    @property
    def parent(self) -> int:
        """Id of the process that forked it, with which it shares memory."""
        return self._node.pid

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None if it runs. Its id stays in use until :meth:`wait` has returned."""
        if self.returncode is not None:
            return self.returncode
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:  # its parent, which takes the processes that it forked with it, has ended
            return -signal.SIGKILL
        fields = text.rpartition(")")[2].split()  # after the name of the process, which may contain any character
        return os.waitstatus_to_exitcode(int(fields[_EXIT_STATUS])) if fields[0] in ("Z", "X") else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and release the process's id."""
        end = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("scoring process", timeout or 0.0)
            time.sleep(pause)
            pause = min(2 * pause, _TICK)
        if self.returncode is None:
            self.returncode = code
            self._template.release(self._node, self.pid)
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
    modules: Sequence[str] = (),
) -> None:
    """Start a template that the next call of :func:`borrow_template` with the same arguments returns.

    If it runs already, it loads what this call adds. It ends with the thread that started it. Without templates on this
    system, nothing happens. Parameters as for :func:`borrow_template`; `modules` as for :meth:`Template.load_ahead`.
    """
    with contextlib.suppress(TemplateEnded, OSError):
        template = _take(settings, environment, limit)
        if template is not None:
            template.load_ahead(benchmarks, options=settings["options"], timeout=timeout, modules=modules)
            template.give_back()


def borrow_template(
    settings: Mapping[str, Any],
    benchmarks: Sequence[str],
    *,
    environment: Mapping[str, str],
    limit: int | None,
    timeout: float | None,
    stopped: Callable[[], bool],
    patience: float | None = None,
) -> Template | None:
    """Return a template for the next process; None if the process has to be started.

    The template of an earlier call with the same scorer, environment and limit is used again, also by several threads,
    unless the code of a plugin that it loaded has changed since. A scoring process gives it back when it ends.
    Parameters as for `ScoringProcess`, :class:`Template` and :meth:`Template.prepare`.
    """
    options = settings["options"]
    for _ in range(2):  # the second time with a new template
        try:
            template = _take(settings, environment, limit)
        except OSError:
            return None
        if template is None:
            return None
        try:
            if template.prepare(benchmarks, options=options, timeout=timeout, stopped=stopped, patience=patience):
                return template
        except TemplateEnded:
            if not stopped():
                _unusable.add(template.purpose)
            _discard(template)
            return None
        _discard(template)
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


def _take(settings: Mapping[str, Any], environment: Mapping[str, str], limit: int | None) -> Template | None:
    """The template for this purpose, started if there is none; None if there cannot be one."""
    purpose = json.dumps([settings["scorer"], sorted(environment.items()), limit])
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
