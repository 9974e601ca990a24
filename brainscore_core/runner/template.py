"""Templates of scoring processes: what processes of several models have in common is imported and loaded once.

On Linux, workers share a template: a process that imports the scorer, loads benchmarks with their ceilings in the order
in which they are needed, and forks a server after each. The newest server can fork a process for a model at any time,
since it does nothing else. Meanwhile, another forked process fetches the data of later benchmarks. A forked process is
as separate as one that was started: a model that crashes, hangs, or changes modules affects neither the template nor
other models, and a benchmark that ends the template no process that was forked. Where forks are impossible or not safe,
scoring processes are started.
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

from brainscore_core.memory import memory_limit
from brainscore_core.receipts.output import unnamed_file
from brainscore_core.runner.process_tree import end_all, memory_of

__all__ = ["SCRIPT", "ForkedProcess", "Template", "borrow_template", "end_idle_templates", "start_template"]

SCRIPT = Path(__file__).with_name("_child.py")
"""The script of templates and of scoring processes."""

_KEPT_SHARE = 0.25  # of the memory of a pair, for benchmarks that the template keeps
_IDLE_SECONDS = 60.0  # after which an unused template ends
_FIRST_BENCHMARKS = 4  # that are loaded before modules for later models are imported
_LARGEST_MESSAGE = 50_000  # bytes of paths, below the system's limit of a message
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
        content: Mapping[str, Any],
        *,
        problem: Callable[[], str] = lambda: "",
        timeout: float | None = _ANSWER_SECONDS,
        descriptors: Sequence[int] = (),
    ) -> dict[str, Any]:
        """Send a request and return the answer; `problem` is called repeatedly and returns why to give up."""
        start = time.monotonic()
        with self._lock:
            self.send(content, descriptors)
            self._control.settimeout(_TICK)
            while True:
                try:
                    message = self._control.recv(1_000_000)
                except TimeoutError:
                    reason = problem()
                    if not reason and timeout is not None and time.monotonic() - start > timeout:
                        reason = f"it took longer than {timeout:g} seconds"
                    if reason:
                        raise TemplateEnded(reason) from None
                    continue
                except OSError as error:
                    raise TemplateEnded(str(error)) from error
                if not message:
                    raise TemplateEnded("it has ended")
                answer: dict[str, Any] = json.loads(message)
                return answer

    def send(self, content: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send a request that has no answer."""
        try:
            socket.send_fds(self._control, [json.dumps(content).encode()], descriptors)
        except OSError as error:
            raise TemplateEnded(str(error)) from error

    def close(self) -> None:
        self._control.close()


@dataclass(eq=False)
class _Server:
    """A process with some of the benchmarks of a template, which forks; it ends when its connection is closed."""

    pid: int
    connection: _Connection
    benchmarks: frozenset[str]
    n_uses: int = 0  # requests in progress, and forked processes that have not ended


class Template:
    """A process that imports what scoring processes need, loads benchmarks, and forks. Threads may share it.

    Parameters
    ----------
    scorer : str
        As for `run_plan`. If its module has functions ``keep_benchmark(benchmark, **options)``, which returns the
        hashes of the code behind it by folder or file, and ``forget_benchmark(benchmark)``, benchmarks are kept. If it
        has functions
        ``read_stimuli()``, the paths of the stimuli that a model has decoded, ``keep_stimuli(paths, limit)``, which
        returns whether all fit into so many bytes, and ``forget_stimuli()``, decoded stimuli are kept for later models.
        If it has functions ``fetch_data(benchmark, **options)`` and ``data_name(benchmark)``, which is the same for
        benchmarks with the same data, data are fetched before the benchmarks before them are loaded.
    environment : mapping
        Environment variables, also of the forked processes.
    limit : int or None
        Bytes that a scoring process may hold. Benchmarks are kept within a quarter of it.
    purpose : str
        Templates with the same purpose are interchangeable.
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
        self._kept: dict[str, dict[str, str | None]] = {}  # with the hashes of the code behind it
        self._refused: dict[str, str] = {}  # benchmarks that are not kept, and why
        self._wanted: set[str] = set()
        self._ahead: dict[str, tuple[Mapping[str, Any], float | None]] = {}  # to load, in order
        self._expected: list[dict[str, Any]] = []  # models, and options of the scorer
        self._n_urgent = 0  # of these, for which modules are imported before a benchmark is loaded
        self._importing: frozenset[str] = frozenset()  # expected models, for which modules are imported
        self._loading = ""  # a benchmark
        self._decoding = False  # stimuli
        self._unfetched: dict[str, str] = {}  # data to fetch, and a benchmark that does; the first is being fetched
        self._data: dict[str, str] = {}  # names of the data of benchmarks
        self._modules: set[str] = set()  # to import
        self._imported: set[str] = set()
        self._stimuli: dict[str, None] = {}  # files to decode
        self._decoded: set[str] = set()
        self._may_keep_stimuli = True  # until they fill the memory for them
        self._server: _Server | None = None  # the newest
        self._servers: set[_Server] = set()
        self._problem = ""  # why the loader has ended
        self._changed = threading.Condition()
        self._printed = unnamed_file()
        control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(  # noqa: S603 - this package's own script
                [sys.executable, "-P", str(SCRIPT), str(os.getpid()), "template"],
                stdin=other.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._printed,
                env=dict(environment),
                start_new_session=True,
            )
        self._loader = _Connection(control)
        setup = {"path": sys.path, "scorer": scorer}
        threading.Thread(target=self._load, args=(setup,), name="brainscore-template", daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether it can fork, or will be able to."""
        with self._changed:
            return self._server is not None if self._problem else True

    @property
    def kept(self) -> frozenset[str]:
        """Benchmarks that a process forked now has."""
        with self._changed:
            return self._server.benchmarks if self._server is not None else frozenset()

    def is_newest(self, server: _Server) -> bool:
        """Whether a process that is forked now comes from this server."""
        with self._changed:
            return self._server is server

    def may_keep(self, benchmark: str) -> bool:
        """Whether a benchmark is kept, or might be if that is requested; False after an error or for lack of memory."""
        with self._changed:
            return benchmark in self._kept or not (benchmark in self._refused or self._problem)

    def prepare(
        self,
        benchmarks: Sequence[str],
        *,
        options: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
        patience: float | None = None,
        model: str | None = None,
    ) -> bool:
        """Import what earlier models used, and keep benchmarks as far as the memory allows.

        Parameters
        ----------
        benchmarks : sequence of str
            What the next process scores. They are loaded in this order.
        options : mapping
            Options of the scorer.
        timeout : float or None
            Seconds that each benchmark may take.
        stopped : callable
            Called repeatedly; if it returns True, this method gives up.
        patience : float, optional
            Seconds to wait for the other benchmarks if at least one is there and others are being loaded; they are
            then loaded in the background. By default, this method waits for all.
        model : str, optional
            What the next process scores with. It does not wait while modules for other models are imported.

        Returns
        -------
        bool
            False if a kept benchmark is outdated, because the code of a plugin has changed.

        Raises
        ------
        TemplateEnded
            If no process can be forked. The scoring process, which then has to load the benchmark itself, reports the
            cause.
        """
        with self._changed:
            self._wanted = set(benchmarks)
            self._ahead = dict.fromkeys(benchmarks, (options, timeout)) | self._ahead
            self._changed.notify_all()
            start = time.monotonic()
            while not self._problem and self._is_awaited(benchmarks, time.monotonic() - start, patience, model):
                # again if it was dropped meanwhile
                if missing := set(benchmarks).difference(self._kept, self._refused, self._ahead):
                    self._ahead |= dict.fromkeys(missing, (options, timeout))
                    self._changed.notify_all()
                self._changed.wait(_TICK)
                if stopped():
                    raise TemplateEnded("the run was stopped")
            if self._server is None:
                raise TemplateEnded(self._problem)
            code = {
                place: digest
                for one in set(benchmarks) & self._kept.keys()
                for place, digest in self._kept[one].items()
            }
            self._changed.notify_all()
        from brainscore_core.plugins.source import plugin_hash  # here, so that the process starts earlier

        return all(plugin_hash(Path(place)) == digest for place, digest in code.items())

    def wait_for_any(self, benchmarks: Iterable[str], seconds: float, *, stopped: Callable[[], bool]) -> bool:
        """Wait until a process that is forked can score one of these benchmarks; False if it takes longer.

        It does not wait while nothing is loaded, because data are being fetched or modules imported.
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
        models: Sequence[str] = (),
        later_models: Sequence[str] = (),
        modules: Sequence[str] = (),
    ) -> None:
        """Import modules and keep benchmarks in the background.

        Parameters
        ----------
        benchmarks, options, timeout
            As for :meth:`prepare`.
        models : sequence of str
            Models to be scored, for a function ``mentioned_modules(models, modules, **options)`` of the scorer's
            module, if it has one: what their code mentions is imported before a benchmark is loaded.
        later_models : sequence of str
            Further models, for which modules are imported after a few benchmarks were loaded.
        modules : sequence of str
            Modules to import first.
        """
        self.learn(modules)
        with self._changed:
            self._expected += [
                {"models": list(group), "options": dict(options)} for group in (models, later_models) if group
            ]
            self._n_urgent += bool(models)
            self._ahead |= dict.fromkeys(benchmarks, (options, timeout))
            self._wanted.update(benchmarks)
            self._changed.notify_all()

    def fork(self, printed: IO[bytes]) -> ForkedProcess | None:
        """Fork a scoring process, whose output goes to a file; None if that is impossible or not safe."""
        with self._changed:
            server = self._server
            if server is None:
                return None
            server.n_uses += 1
        requests, written = os.pipe()
        read, answers = os.pipe()
        answer: dict[str, Any] = {}
        with contextlib.suppress(TemplateEnded):
            answer = server.connection.request({"fork": True}, descriptors=(requests, answers, printed.fileno()))
        os.close(requests)
        os.close(answers)
        if "pid" not in answer:
            os.close(written)
            os.close(read)
            self.release(server)
            _unusable.add(self.purpose)
            return None
        return ForkedProcess(self, server, answer["pid"], os.fdopen(written, "wb"), os.fdopen(read, "rb"))

    def learn(self, modules: Sequence[str], stimuli: Sequence[str] = ()) -> None:
        """Import modules before the next fork, and decode stimuli when nothing else is to do: a model needed them."""
        with self._changed:
            self._modules.update(set(modules) - self._imported)
            if self._may_keep_stimuli:
                self._stimuli |= dict.fromkeys(path for path in stimuli if path not in self._decoded)
            self._changed.notify_all()

    def release(self, server: _Server, pid: int | None = None) -> None:
        """End the use of a server; `pid` is the id of a process that has ended, which becomes free."""
        if pid is not None:
            with contextlib.suppress(TemplateEnded):
                server.connection.send({"reap": pid})
        with self._changed:
            server.n_uses -= 1
            self._close_servers()

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
            self._server = None
            self._changed.notify_all()
            end_all([self._process.pid, *(server.pid for server in self._servers)])
            for server in self._servers:
                server.connection.close()
            self._servers.clear()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    def _is_awaited(self, benchmarks: Sequence[str], seconds: float, patience: float | None, model: str | None) -> bool:
        """Whether the next process should wait, after some seconds, for an import or these benchmarks."""
        if self._server is None or not self._is_any_settled(benchmarks):
            return True
        is_patient = patience is None or (seconds < patience and self._more_are_coming)
        if is_patient and not set(benchmarks) <= self._settled:
            return True
        if self._importing:
            is_useful = model is None or model in self._importing
        else:
            is_useful = bool(self._modules) and not (self._loading or self._decoding)
        return is_useful and seconds < _IMPORT_SECONDS

    @property
    def _more_are_coming(self) -> bool:
        """Whether a benchmark is being loaded or will be next."""
        return not self._importing and bool(self._loading or self._next())

    def _is_any_settled(self, benchmarks: Iterable[str]) -> bool:
        wanted = set(benchmarks)
        return not wanted or bool(wanted & self._settled)

    @property
    def _settled(self) -> set[str]:
        """Benchmarks for which a process need not wait: forked processes have them, or they are not kept."""
        return {*self._refused, *(self._server.benchmarks if self._server is not None else ())}

    def _load(self, setup: Mapping[str, Any]) -> None:
        """Import and load what is requested, in a thread."""
        try:
            self._request(setup, _START_SECONDS)
            empty = memory_of([self._process.pid])
            self._serve()
            while True:
                with self._changed:
                    while not (self._problem or self._next() or self._modules or self._expected or self._stimuli):
                        self._changed.wait()
                    if self._problem:
                        break
                    modules = sorted(self._modules)
                    n_settled = len(self._kept) + len(self._refused)
                    is_urgent = self._n_urgent > 0 or not self._next() or n_settled >= _FIRST_BENCHMARKS
                    expected = self._expected[0] if self._expected and is_urgent and not modules else {}
                    benchmark = "" if modules or expected else self._next()
                    options, timeout = self._ahead.pop(benchmark, ({}, None))
                    self._unfetched.pop(self._data.get(benchmark, ""), None)
                    if benchmark in self._kept or benchmark in self._refused:
                        continue
                    self._importing, self._loading = frozenset(expected.get("models", ())), benchmark
                    self._decoding = not (expected or modules or benchmark)
                if expected:
                    self._request(expected, _START_SECONDS)
                elif modules:
                    self._request({"import": modules}, _START_SECONDS)
                elif not benchmark:
                    self._keep_stimuli()
                else:
                    self._start_fetching(benchmark)
                    self._keep(benchmark, empty, options, timeout)
                self._serve()
                with self._changed:  # only now do forked processes have what was imported
                    if expected:
                        self._expected.pop(0)
                        self._n_urgent, self._importing = 0, frozenset()
                    self._loading, self._decoding = "", False
                    self._imported.update(modules)
                    self._modules.difference_update(modules)
                    self._changed.notify_all()
        except (TemplateEnded, OSError) as error:
            with self._changed:
                self._problem = self._problem or str(error)
        finally:
            # its servers, which lead process groups of their own, stay
            with contextlib.suppress(OSError):
                if self._process.returncode is None:
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._loader.close()
            with self._changed:
                self._problem = self._problem or "it has ended"
                self._changed.notify_all()

    def _next(self) -> str:
        """Benchmark to load next; empty if there is none, or if data of all that remain are being fetched."""
        fetched_now = next(iter(self._unfetched), None)
        data = {benchmark: self._data.get(benchmark, "") for benchmark in self._ahead}
        complete = (benchmark for benchmark, name in data.items() if name not in self._unfetched)
        return next(complete, next((benchmark for benchmark, name in data.items() if name != fetched_now), ""))

    def _start_fetching(self, benchmark: str) -> None:
        """Fetch data of later benchmarks in a process of their own, while this one is loaded."""
        with self._changed:
            later = dict(self._ahead)
            if self._unfetched or later.keys() <= self._data.keys():
                return
        names = self._request({"data": [benchmark, *later]})["names"]
        with self._changed:
            known = {*self._data.values(), names[benchmark]}
            self._data |= names
        unfetched: dict[str, str] = {}
        for one in later:
            if names[one] not in known:
                unfetched.setdefault(names[one], one)
        if not unfetched:
            return
        server = self._fork_server()
        with self._changed:
            self._unfetched = unfetched
            self._servers.add(server)
            server.n_uses += 1
        threading.Thread(target=self._fetch, args=(server, later), name="brainscore-fetching", daemon=True).start()

    def _fetch(self, server: _Server, later: Mapping[str, tuple[Mapping[str, Any], float | None]]) -> None:
        """Fetch data, in a thread. An error is left to the process that loads the benchmark."""
        empty = memory_of([server.pid])

        def problem() -> str:
            over = memory_of([server.pid]) - empty > self._budget
            return self._problem or ("it used too much memory" if over else "")

        try:
            while True:
                with self._changed:
                    name, benchmark = next(iter(self._unfetched.items()), ("", ""))
                if not name:
                    break
                options, timeout = later[benchmark]
                server.connection.request({"fetch": benchmark, "options": options}, problem=problem, timeout=timeout)
                with self._changed:
                    self._unfetched.pop(name, None)
                    self._changed.notify_all()
        except TemplateEnded:  # it may still be fetching
            end_all([server.pid])
        finally:
            with self._changed:
                self._unfetched.clear()
                self._changed.notify_all()
            self.release(server)

    def _keep(self, benchmark: str, empty: int, options: Mapping[str, Any], timeout: float | None) -> None:
        """Keep a benchmark if the memory allows it."""
        code, refused = None, ""
        if self._is_full(empty):
            refused = "memory"
        elif (code := self._request({"keep": benchmark, "options": options}, timeout)["code"]) is None:
            refused = "error"
        with self._changed:
            if code is not None:
                self._kept[benchmark] = code
        if not refused and self._is_full(empty):
            self._drop(benchmark)
            refused = "memory"
        with self._changed:
            if refused:
                self._refused[benchmark] = refused

    def _keep_stimuli(self) -> None:
        """Decode some of the stimuli that models needed, in at most half of the memory for benchmarks."""
        with self._changed:
            size, paths = 0, []
            while self._stimuli and size < _LARGEST_MESSAGE:
                paths.append(path := next(iter(self._stimuli)))
                size += len(json.dumps(path))
                del self._stimuli[path]
            self._decoded.update(paths)
        if not self._request({"stimuli": paths, "limit": self._budget / 2}, _START_SECONDS)["kept"]:
            self._decode_no_more()

    def _decode_no_more(self) -> None:
        """Decode no more stimuli, for lack of memory."""
        with self._changed:
            self._may_keep_stimuli = False
            self._stimuli.clear()

    def _forget_stimuli(self) -> None:
        """Release decoded stimuli."""
        self._decode_no_more()
        with self._changed:
            self._decoded.clear()
        self._request({"forget": True})

    @property
    def _budget(self) -> float:
        """Bytes for what is kept."""
        return _KEPT_SHARE * (memory_limit() if self.limit is None else self.limit)

    def _is_full(self, empty: int) -> bool:
        """Whether kept benchmarks fill the memory for them, after those that are not wanted were dropped."""
        while memory_of([self._process.pid]) - empty > self._budget:
            if self._decoded:
                self._forget_stimuli()
                continue
            with self._changed:
                others = [benchmark for benchmark in self._kept if benchmark not in self._wanted]
            if not others:
                return True
            self._drop(others[0])
        return False

    def _drop(self, benchmark: str) -> None:
        self._request({"drop": benchmark})
        with self._changed:
            self._kept.pop(benchmark, None)
            self._refused = {name: why for name, why in self._refused.items() if why != "memory"}  # there is space now

    def _request(self, content: Mapping[str, Any], timeout: float | None = _ANSWER_SECONDS) -> dict[str, Any]:
        """Send a request to the loader."""

        def problem() -> str:
            if self._problem:
                return self._problem
            over = self.limit is not None and memory_of([self._process.pid]) > self.limit
            return "it used too much memory" if over else ""

        return self._loader.request(content, problem=problem, timeout=timeout)

    def _serve(self) -> None:
        """Let the loader fork a server, which replaces the present one."""
        server = self._fork_server()
        with self._changed:
            self._server = server
            self._servers.add(server)
            self._close_servers()
            self._changed.notify_all()

    def _fork_server(self) -> _Server:
        """Let the loader fork a server."""
        control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            answer = self._loader.request({"serve": True}, descriptors=(other.fileno(),))
        if "pid" not in answer:
            control.close()
            raise TemplateEnded(answer["refused"])
        server = _Server(answer["pid"], _Connection(control), frozenset(self._kept))
        server.connection.request({})  # once it answers, it has left the loader's process group, and survives its end
        return server

    def _close_servers(self) -> None:
        """End servers that were replaced and whose processes have ended."""
        for server in [one for one in self._servers if one is not self._server and not one.n_uses]:
            server.connection.close()
            self._servers.remove(server)


class ForkedProcess:
    """A process that a template forked, with the part of the interface of `subprocess.Popen` that workers use."""

    def __init__(self, template: Template, server: _Server, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._template = template
        self._server = server

    @property
    def parent(self) -> int:
        """Id of the process that forked it, with which it shares memory."""
        return self._server.pid

    @property
    def benchmarks(self) -> frozenset[str]:
        """Benchmarks that were kept when it was forked."""
        return self._server.benchmarks

    @property
    def is_outdated(self) -> bool:
        """Whether the template has another server by now."""
        return not self._template.is_newest(self._server)

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
            self._template.release(self._server, self.pid)
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
    models: Sequence[str] = (),
    later_models: Sequence[str] = (),
    modules: Sequence[str] = (),
) -> None:
    """Start a template that the next call of :func:`borrow_template` with the same arguments returns.

    If it runs already, it loads what this call adds. It ends with the thread that started it. Without templates on this
    system, nothing happens.

    Parameters
    ----------
    settings, benchmarks, environment, limit, timeout
        As for :func:`borrow_template`.
    models, later_models, modules
        As for :meth:`Template.load_ahead`.
    """
    with contextlib.suppress(TemplateEnded, OSError):
        template = _take(settings, environment, limit)
        if template is not None:
            template.load_ahead(
                benchmarks,
                options=settings["options"],
                timeout=timeout,
                models=models,
                later_models=later_models,
                modules=modules,
            )
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
    model: str | None = None,
) -> Template | None:
    """Return a template for the next process; None if the process has to be started.

    The template of an earlier call with the same scorer, environment and limit is used again, also by several threads,
    unless the code of a plugin that it loaded has changed since. A scoring process gives it back when it ends.

    Parameters
    ----------
    settings : mapping
        As for `ScoringProcess`.
    benchmarks, timeout, stopped, patience, model
        As for :meth:`Template.prepare`.
    environment, limit
        As for :class:`Template`.
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
            if template.prepare(
                benchmarks, options=options, timeout=timeout, stopped=stopped, patience=patience, model=model
            ):
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
