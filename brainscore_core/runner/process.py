"""Scoring processes as their workers see them: these request pairs, watch them, and end them at a limit."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any, Literal

from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.memory import format_size, system_oom_kills
from brainscore_core.receipts.output import Captured, unnamed_file
from brainscore_core.receipts.receipt import Receipt, RunInfo
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.child import End, ErrorFields, Message, Pair, Scored, Setup, Unavailable, decoded, encoded
from brainscore_core.runner.pair import write_failed
from brainscore_core.runner.process_tree import descendants, end_all, memory_of, proportional_memory_of
from brainscore_core.runner.template import SCRIPT, ForkedProcess, Template, borrow_template, end_idle_templates

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_PLANNED_SHARE = 0.9  # share of its limit that a scoring process plans with; the rest is a reserve

_TICK = 0.05  # seconds between two checks of the process's memory
_TREE_TICKS = 10  # checks between two searches for descendants
_TIDY_SECONDS = 1.0
_FINISH_SECONDS = 10.0
_READY_SECONDS = 600  # imports from a slow shared disk


def scoring_environment(threads: int, limit: int | None) -> dict[str, str]:
    """Environment variables of a scoring process, with its number of threads and its memory."""
    environment = dict(os.environ)
    environment.update(dict.fromkeys(_THREAD_VARIABLES, str(threads)))
    environment["PYTHONHASHSEED"] = "0"
    if limit is not None:
        environment["BRAINSCORE_MAX_MEMORY"] = str(int(_PLANNED_SHARE * limit))
    return environment


@dataclass(frozen=True, kw_only=True)
class Death:
    """Why a scoring process gave no answer."""

    # ``'memory'``: it exceeded its limit, or the system had no memory left; ``'time'``: it took too long; ``'crash'``:
    # it ended by itself; ``'stopped'``: the run was stopped
    kind: Literal["memory", "time", "crash", "stopped"]
    message: str  # description for the user
    seconds: float  # time from the request to its end
    tail: str = ""  # what it printed since it started the pair; if that is very long, the beginning and the end


_ERRORS = {"time": "PairTimeout", "memory": "OutOfMemory", "crash": "ProcessDied"}


def write_unscored(
    store: ResultsStore, model: str, benchmark: str, cause: ErrorFields | Death, run: RunInfo, *, remark: str = ""
) -> Receipt:
    """Write the receipt of a pair whose process died, or whose scorer raised an error without writing a receipt.

    `remark` follows the description of the death.
    """
    if isinstance(cause, Death):
        return write_failed(
            store,
            model,
            benchmark,
            kind=_ERRORS[cause.kind],
            message=f"the scoring process {cause.message}{remark}",
            printed=cause.tail,
            seconds=cause.seconds,
            run=run,
        )
    message = f"{cause['type']}: {cause['message']}".rstrip(": ")
    return write_failed(
        store, model, benchmark, kind=cause["type"], message=message, traceback=cause["traceback"], run=run
    )


class ScoringProcess:
    """A process of its own that scores one pair at a time.

    The settings are ``scorer``, ``store``, ``run``, ``isolated`` and ``options``, as JSON types; `limit` is in bytes,
    with its descendants. The template forks the process, if it can; otherwise the process is started. The template is
    given back when the process has ended. Raises UserError if the scorer cannot be imported.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        *,
        environment: Mapping[str, str],
        limit: int | None,
        template: Template | None = None,
    ) -> None:
        self.limit = limit
        self._template = template
        self._scratch = contextlib.ExitStack()
        scratch = self._scratch.enter_context(temporary_folder("brainscore-scoring-"))
        self._printed = unnamed_file()  # the process empties it when it starts a pair
        self._answers: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._oom_kills = system_oom_kills()
        self._ticks = 0
        self._others: list[int] = []
        self._counted_again = 0  # bytes of shared pages that `memory_of` counts more than once
        forked = template.fork(self._printed) if template is not None else None
        self._process = forked or self._started(environment)
        if forked is None:
            self._give_back_template()
        self._reader = threading.Thread(target=self._read_answers, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        self._send(Setup(path=sys.path, scratch=str(scratch), **settings))
        self._ready = False

    def _started(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes] | ForkedProcess:
        # -P: do not import from the folder of the script
        return subprocess.Popen(  # noqa: S603 - this package's own script
            [sys.executable, "-P", str(SCRIPT), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            env=dict(environment),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def template(self) -> Template | None:
        """The template that forked the process; None if it was started or has ended."""
        return self._template

    @property
    def benchmarks(self) -> frozenset[str]:
        """Benchmarks that it has from its template."""
        return self._process.benchmarks if isinstance(self._process, ForkedProcess) else frozenset()

    def wait_ready(self, stopped: Callable[[], bool]) -> Death | None:
        """Wait until the process is ready."""
        if self._ready:
            return None
        answer = self._wait(_READY_SECONDS, stopped)
        if isinstance(answer, Death):
            return answer
        if isinstance(answer, Unavailable):
            problem = answer.error
            self.close()
            raise UserError(problem["message"], remedy=problem["remedy"] or problem["traceback"])
        self._ready = True
        return None

    def score(
        self,
        model: str,
        benchmark: str,
        *,
        timeout: float | None,
        stopped: Callable[[], bool],
    ) -> Scored | Death:
        """Score a pair.

        After `timeout` seconds, or once `stopped` returns True, the process and all its descendants are ended, and the
        result is a Death.
        """
        if death := self.wait_ready(stopped):
            return death
        self._send(Pair(model=model, benchmark=benchmark))
        result: Scored | Death = self._wait(timeout, stopped)
        if isinstance(result, Scored) and self._template is not None:
            self._template.learn(result.modules)
        return result

    def finish(self) -> None:
        """Let the process end by itself; nothing remains to be scored."""
        self._send(End())
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_FINISH_SECONDS)
        self.close()

    def close(self, *, seconds: float = 0.0) -> None:
        """End the process and its descendants; it has `seconds` to clean up."""
        children: list[int] = []
        if seconds and self._process.poll() is None:
            children = descendants(self._process.pid)  # which cannot be found after its end
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=seconds)
        end_all([*([self._process.pid] if self._process.poll() is None else []), *children])
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._scratch.close()
        self._give_back_template()

    def _give_back_template(self) -> None:
        if self._template is not None:
            self._template.give_back()
            self._template = None

    def _wait(self, timeout: float | None, stopped: Callable[[], bool]) -> Any:
        """Wait for an answer; a Death if there is none."""
        start = time.monotonic()
        while True:
            try:
                answer = self._answers.get(timeout=_TICK)
            except queue.Empty:
                seconds = time.monotonic() - start
                if self._has_ended():
                    return self._last_answer(seconds)
                death: Death | None = None
                if stopped():
                    death = Death(kind="stopped", message="the run was stopped", seconds=seconds)
                elif timeout is not None and seconds > timeout:
                    death = Death(kind="time", message=f"took longer than {timeout:g} seconds", seconds=seconds)
                elif used := self._excess_memory():
                    limit = format_size(self.limit or 0)
                    message = f"was killed for using more than {limit} (it held {format_size(used)})"
                    death = Death(kind="memory", message=message, seconds=seconds)
                if death is None:
                    continue
                self.close(seconds=0.0 if death.kind == "memory" else _TIDY_SECONDS)
                return replace(death, tail=self._printed_text())
            return self._post_mortem(time.monotonic() - start) if answer is None else answer

    def _has_ended(self) -> bool:
        """Whether the process has ended; without reaping it if possible, so that its id is not reused."""
        if isinstance(self._process, subprocess.Popen) and hasattr(os, "waitid") and self._process.returncode is None:
            with contextlib.suppress(ChildProcessError):
                flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
                return os.waitid(os.P_PID, self._process.pid, flags) is not None
        return self._process.poll() is not None

    def _last_answer(self, seconds: float) -> Any:
        """Return the last answer of an ended process, whose pipe a forked process may keep open."""
        end_all([self._process.pid])
        try:
            answer = self._answers.get(timeout=_TIDY_SECONDS)
        except queue.Empty:
            answer = None
        return self._post_mortem(seconds) if answer is None else answer

    def _excess_memory(self) -> int | None:
        """Bytes that the process and its descendants hold, if above the limit; else None."""
        if self.limit is None:
            return None
        thorough = self._ticks % _TREE_TICKS == 0
        if thorough:
            self._others = descendants(self._process.pid)
        self._ticks += 1
        # the pages that a forked process shares with its template count once
        parent = [self._process.parent] if isinstance(self._process, ForkedProcess) else []
        processes = [self._process.pid, *parent, *self._others]
        used = memory_of(processes)
        # the exact count is slow: use it if the limit may be exceeded, else now and then
        if used > self.limit and (thorough or used - self._counted_again > self.limit):
            exact = proportional_memory_of(processes)
            self._counted_again = max(used - exact, 0)
        used -= self._counted_again
        return used if used > self.limit else None

    def _post_mortem(self, seconds: float) -> Death:
        end_all([self._process.pid])  # its descendants may still run
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._scratch.close()
        self._give_back_template()
        if code == -getattr(signal, "SIGKILL", 9) and system_oom_kills() > self._oom_kills:
            message = "was killed by the system, which had no memory left"
            return Death(kind="memory", message=message, seconds=seconds, tail=self._printed_text())
        return Death(kind="crash", message=_ended(code), seconds=seconds, tail=self._printed_text())

    def _send(self, request: Message) -> None:
        # a broken pipe means that the process has ended, which the wait for its answer detects
        with contextlib.suppress(OSError):
            if self._process.stdin is not None and not self._process.stdin.closed:
                self._process.stdin.write(encoded(request))
                self._process.stdin.flush()

    def _read_answers(self, pipe: IO[bytes]) -> None:
        try:
            with pipe:
                for line in pipe:
                    self._answers.put(decoded(line))
        finally:
            self._answers.put(None)

    def _printed_text(self) -> str:
        """What the process printed since it started the pair."""
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


_SCORER = "brainscore_core.runner.scoring:score_pair"


class ModelProcess:
    """Scores pairs, each model in a process of its own, which stays for further pairs of the model.

    The processes are forked from one template, which keeps the benchmarks of earlier pairs. Each model is isolated. A
    pair may use `limit` bytes of memory; `say` is called with messages.

    Attributes
    ----------
    model : str or None
        The loaded model.
    """

    def __init__(self, store: ResultsStore, *, limit: int | None, say: Callable[[str], None]) -> None:
        self.store, self.limit, self.say = store, limit, say
        self.model: str | None = None
        self._process: ScoringProcess | None = None
        self._conditions: Any = None
        self._benchmarks: dict[str, None] = {}  # scored so far, the last one first

    def score(
        self,
        model: str,
        benchmark: str,
        *,
        run: str,
        environment: Mapping[str, str],
        options: Mapping[str, Any],
        timeout: float | None,
        stopped: Callable[[], bool],
    ) -> Receipt | None:
        """Score a pair, and return its receipt; None if it was stopped.

        A pair whose process dies is scored once more, without a template, since the failure may have been that of the
        template. The process that is loaded is used if it has the same environment and options.
        """
        self._benchmarks = {benchmark: None} | self._benchmarks
        info = RunInfo(id=run, isolated=True)
        for with_template in (True, False):
            if self._process is None or (self.model, self._conditions) != (model, (environment, options)):
                self.end_process()
                settings = {"scorer": _SCORER, "store": self.store.address, "run": run, "isolated": True}
                settings["options"] = dict(options)
                how: dict[str, Any] = {"environment": environment, "limit": self.limit}
                if with_template:
                    how["template"] = borrow_template(
                        settings, list(self._benchmarks), **how, timeout=timeout, stopped=stopped
                    )
                self._process = ScoringProcess(settings, **how)
                self.model, self._conditions = model, (environment, options)
            answer = self._process.score(model, benchmark, timeout=timeout, stopped=stopped)
            if isinstance(answer, Scored):
                if answer.error is not None:  # of the scorer itself; it writes errors of plugins into receipts
                    return write_unscored(self.store, model, benchmark, answer.error, info)
                return self._receipt(model, benchmark, answer.receipt)
            death = answer
            self._process = self.model = None  # it has ended
            if death.kind == "stopped":
                return None
            if death.kind != "crash":
                break
            if with_template:
                self.say(f"{model} on {benchmark}: the scoring process {death.message}; trying once more")
        return write_unscored(self.store, model, benchmark, death, info)

    def _receipt(self, model: str, benchmark: str, identifier: str) -> Receipt:
        receipt = self.store.latest(model, benchmark)
        if receipt is None or receipt.id != identifier:
            raise UserError(
                f"the receipt of {model} on {benchmark} is missing",
                remedy=f"check that {self.store.address} is writable",
            )
        return receipt

    def end_process(self) -> None:
        """End the process with its loaded model."""
        if self._process is not None:
            self._process.finish()
        self._process = self.model = None

    def close(self) -> None:
        """End the process and the template."""
        self.end_process()
        end_idle_templates()
