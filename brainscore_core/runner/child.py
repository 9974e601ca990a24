"""The scoring process and its template, which a worker starts as a script, and the messages between them.

Messages are JSON objects: the fields of a class below, and its name. A scoring process reads and writes them as lines
of the pipes that are its standard input and output when it starts; after that, everything that plugins print goes to
standard error, which the worker reads. A template receives them, with file descriptors, from a socket.

===================== ==================================================== ==========================================
to                    request                                              answer
===================== ==================================================== ==========================================
a scoring process     `Setup`, first                                       `Ready` or `Unavailable`
a scoring process     `Pair`                                               `Scored`
a scoring process     `End`                                                it ends
a template            `Load`, `Drop`                                       `Loaded`
a template            `Fork`, with the pipes of the new scoring process    `Forked` or `Refused`
a template            `Fork`, with a socket for the successor              `Forked` or `Refused`
a template            `Reap`                                               none
===================== ==================================================== ==========================================

Both kinds of process answer one request at a time. A template imports what scoring processes need. To load a benchmark,
it forks a successor, which loads it. It scores nothing, and stays a process of one thread. Until the first request,
which contains ``sys.path``, only the standard library is imported.
"""

import contextlib
import ctypes
import faulthandler
import gc
import importlib
import json
import os
import queue
import random
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypedDict

_PR_SET_PDEATHSIG = 1  # option of prctl on Linux: the signal to receive when the parent ends
_PR_SET_CHILD_SUBREAPER = 36  # the same: become the parent of descendants whose parent has ended
_OOM_SCORE = "500"  # if memory runs out, the system should kill this process, not the worker or the terminal


class ErrorFields(TypedDict):
    """An error: its class, its message, and how to remedy it, if it says so."""

    type: str
    message: str
    traceback: str
    remedy: str | None


@dataclass(frozen=True, kw_only=True)
class Message:
    """A request or an answer."""


@dataclass(frozen=True, kw_only=True)
class Setup(Message):
    """What a scoring process imports and writes; ``scratch`` is its folder for temporary files."""

    path: list[str]
    scratch: str
    scorer: str
    store: str
    run: str
    isolated: bool
    options: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Pair(Message):
    """A pair to score."""

    model: str
    benchmark: str


@dataclass(frozen=True, kw_only=True)
class End(Message):
    """Nothing remains to be scored."""


@dataclass(frozen=True, kw_only=True)
class Ready(Message):
    """The scorer is imported."""


@dataclass(frozen=True, kw_only=True)
class Unavailable(Message):
    """The scorer cannot be imported."""

    error: ErrorFields


@dataclass(frozen=True, kw_only=True)
class Scored(Message):
    """Main fields of a pair's receipt, or the error that the scorer raised instead of writing one.

    `seconds`: it took; `seconds_again`: that another process would need until it knows what this one knows; `modules`:
    that it imported and other models' processes may need, too.
    """

    benchmark: str
    receipt: str = ""
    state: str = ""
    score: float | None = None
    reason: str | None = None
    error: ErrorFields | None = None
    seconds: float = 0.0
    seconds_again: float = 0.0
    modules: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Load(Message):
    """What a template imports, and a benchmark to keep, if it is not empty, with options of the scorer.

    Errors are left to the processes that score.
    """

    path: list[str]
    scorer: str
    modules: list[str]
    benchmark: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Loaded(Message):
    """Hashes of the code of a kept benchmark, by place; None without one. Why the process cannot fork, if so."""

    code: dict[str, str | None] | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Drop(Message):
    """A kept benchmark to release."""

    scorer: str
    benchmark: str


@dataclass(frozen=True, kw_only=True)
class Fork(Message):
    """Fork a scoring process, or a successor."""

    successor: bool = False


@dataclass(frozen=True, kw_only=True)
class Forked(Message):
    """Id of the new process."""

    pid: int


@dataclass(frozen=True, kw_only=True)
class Refused(Message):
    """Why a fork would not be safe."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Reap(Message):
    """A process that has ended, or is about to end, and whose id is to become free."""

    pid: int


def encoded(message: Message) -> bytes:
    """A message as a line."""
    return json.dumps({"message": type(message).__name__, **vars(message)}).encode() + b"\n"


def decoded(line: bytes) -> Any:
    """The message of a line."""
    fields = json.loads(line)
    return globals()[fields.pop("message")](**fields)


def main(worker_pid: int, *, template: bool = False) -> None:
    """Answer requests until the worker asks to end or closes the pipe."""
    _end_with(worker_pid)
    if template:
        _serve_template()
    try:
        _score_pairs(is_forked=template)
    except BaseException:  # noqa: BLE001 - the worker reports it
        traceback.print_exc()
        _end(1)
    _end(0)


def _score_pairs(*, is_forked: bool) -> None:
    """Score requested pairs until there are no more."""
    n_modules = len(sys.modules) if is_forked else 0  # which the template has
    # a copy of standard error, since a scorer may redirect the original
    faulthandler.enable(file=os.fdopen(os.dup(2), "w"))
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests, lines), daemon=True).start()
    setup: Setup = decoded(lines.get())
    sys.path[:] = setup.path
    os.environ["TMPDIR"] = tempfile.tempdir = setup.scratch
    try:
        score = _make_scorer(setup)
    except BaseException as error:  # noqa: BLE001 - the worker reports it
        _send(answers, Unavailable(error=_error_fields(error)))
        return
    _send(answers, Ready())
    while True:
        request = decoded(lines.get())
        if isinstance(request, End):
            break
        started = time.perf_counter()
        seconds_again = 0.0
        try:
            receipt = score(request.model, request.benchmark)
            result = receipt_fields(receipt)
            seconds_again = _seconds_again(receipt)
        except BaseException as error:  # noqa: BLE001 - a plugin may even call sys.exit
            if isinstance(error, SystemExit) and error.code == 128 + signal.SIGTERM:
                return  # the worker has terminated this process
            result = {"error": _error_fields(error)}
        seconds = time.perf_counter() - started
        modules = _shared_modules(n_modules)
        n_modules = len(sys.modules)
        costs: dict[str, Any] = {"seconds": seconds, "seconds_again": seconds_again, "modules": modules}
        _send(answers, Scored(benchmark=request.benchmark, **result, **costs))
    if forget_model := getattr(sys.modules[setup.scorer.partition(":")[0]], "forget_model", None):
        forget_model()  # which may run in a process of its own


def _end(code: int) -> NoReturn:
    """End without what Python does at its end: in a forked process, it would remove temporary files of the template."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _make_scorer(setup: Setup) -> Any:
    """Return a function that scores a pair (model, benchmark), configured by the first request."""
    from brainscore_core.receipts.receipt import RunInfo
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner.pair import import_scorer

    scorer = import_scorer(setup.scorer)
    store = ResultsStore(setup.store)
    store.omit_checks()
    run = RunInfo(id=setup.run, isolated=setup.isolated)

    def score(model: str, benchmark: str) -> Any:
        return scorer(model, benchmark, store=store, run=run, isolated=setup.isolated, **setup.options)

    return score


def receipt_fields(receipt: Any) -> dict[str, Any]:
    """Fields of a receipt that `Scored` has."""
    return {
        "receipt": receipt.id,
        "state": receipt.state,
        "score": receipt.score.value if receipt.score is not None else None,
        "reason": receipt.reason,
    }


def _seconds_again(receipt: Any) -> float:
    """Seconds that another process of the same model would need until it knows what this one knows."""
    from brainscore_core.paths import activations_home

    computed = receipt.timings.extraction if activations_home() is None else None
    return (receipt.timings.load_model or 0.0) + (computed or 0.0)


def _error_fields(error: BaseException) -> ErrorFields:
    from brainscore_core.errors import UserError
    from brainscore_core.receipts.output import scrub_text, scrub_traceback

    message = error.message if isinstance(error, UserError) else str(error)
    return {
        "type": type(error).__qualname__,
        "message": scrub_text(message),
        "traceback": scrub_traceback(error),
        "remedy": error.remedy if isinstance(error, UserError) else None,
    }


def _send(answers: BinaryIO, message: Message) -> None:
    answers.write(encoded(message))
    answers.flush()


def _read_requests(requests: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    for line in requests:
        lines.put(line)
    # the worker has ended or closed the pipe: kill this process and its descendants
    with contextlib.suppress(AttributeError, OSError):
        if os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _end_with(parent: int) -> None:
    """Have the system kill this process when its parent ends, even while native code holds the GIL."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    if hasattr(os, "getppid") and os.getppid() != parent:  # it ended before prctl took effect
        os._exit(1)


_LARGEST_REQUEST = 1_000_000
_REAPING_SECONDS = 0.05  # between two looks whether processes have ended completely
_SHARED = ("torch", "torchvision", "timm", "transformers", "open_clip")  # which many models import
_PLUGIN_FOLDERS = ("benchmarks", "data", "metrics", "models")  # of the domain; plugins are not kept


def _shared_modules(n_before: int) -> list[str]:
    """Modules imported since there were `n_before`, which are the first ones, that other models' processes need, too.

    The first ones are not looked at: a forked process would copy the memory that holds their names.
    """
    new = list(islice(reversed(sys.modules), max(len(sys.modules) - n_before, 0)))
    platform = [name for name in new if name.startswith(("brainscore_core.", "brainscore_vision."))]
    helpers = [name for name in platform if name.split(".")[1] not in _PLUGIN_FOLDERS]
    return [*(name for name in new if name in _SHARED), *sorted(helpers)]


def _serve_template() -> None:
    """Answer the requests of the worker, until it closes the connection; return in a forked scoring process.

    A successor runs the same loop.
    """
    faulthandler.enable(file=os.fdopen(os.dup(2), "w"))
    control = socket.socket(fileno=os.dup(0))
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    os.dup2(2, 1)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # successors outlive the process that forked them
    is_first = True
    successors: list[int] = []
    ended: list[int] = []
    while True:
        control.settimeout(_REAPING_SECONDS if ended else None)
        try:
            message, descriptors, _, _ = socket.recv_fds(control, _LARGEST_REQUEST, 3)
        except TimeoutError:
            _reap(ended)
            continue
        if not message:
            with contextlib.suppress(ChildProcessError):
                while is_first:
                    os.waitpid(-1, 0)
            os._exit(0)  # other processes may use what Python would remove at its end
        request = decoded(message)
        answer: Message = Loaded()
        if isinstance(request, Load):
            answer = _load(request)
        elif isinstance(request, Drop):
            gc.unfreeze()
            sys.modules[request.scorer.partition(":")[0]].forget_benchmark(request.benchmark)
            gc.freeze()
        elif isinstance(request, Reap):
            ended.append(request.pid)  # reaped later, since its other threads may still free its memory
            continue
        elif isinstance(request, Fork):
            _reap(successors)
            parent, problem = os.getpid(), _problem_of_forks()
            pid = None if problem else _fork()
            if pid == 0:
                control.close()
                if not request.successor:
                    _become_scorer(parent, descriptors)
                    return
                os.setsid()  # it stays when its parent is killed, and ends when the worker closes the connection
                gc.freeze()  # the collector would copy memory that is shared with the parent
                control, is_first, successors, ended = socket.socket(fileno=descriptors[0]), False, [], []
                continue
            if pid and request.successor:
                successors.append(pid)
            answer = Forked(pid=pid) if pid else Refused(reason=problem)
            for descriptor in descriptors:
                os.close(descriptor)
        control.send(encoded(answer))


def _load(request: Load) -> Loaded:
    """Import modules, and keep a benchmark if the module of the scorer can; other processes meet and report errors."""
    sys.path[:] = request.path
    scorer = request.scorer.partition(":")[0]
    gc.disable()  # which takes a fifth of the time of imports
    for name in (scorer, "brainscore_core.runner.pair", *request.modules):
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()
    gc.enable()
    code = None
    keep = getattr(sys.modules.get(scorer), "keep_benchmark", None)
    if request.benchmark and keep is not None:
        with contextlib.suppress(Exception):
            code = dict(keep(request.benchmark, **request.options))
    return Loaded(code=code, problem=_problem_of_forks())


def _problem_of_forks() -> str:
    """Why a fork of this process might not work; empty if it does.

    A fork has only the thread that forks: locks of others stay locked, and pools wait for threads that do not exist.
    Two libraries prepare for forks: OpenBLAS ends its threads before and starts new ones after a fork, and jemalloc (of
    pyarrow) holds its locks meanwhile.
    """
    names = [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]
    tasks = sum(name != "jemalloc_bg_thd" for name in names) - 1
    if tasks:
        import threadpoolctl

        for library in threadpoolctl.threadpool_info():
            if library["internal_api"] == "openblas" and library.get("threading_layer") == "pthreads":
                tasks -= library["num_threads"] - 1
    if tasks > 0:
        return f"{tasks} threads are running"
    from brainscore_core.runner.process_tree import uses_gpu

    return "a GPU is in use" if uses_gpu(os.getpid()) else ""


def _fork() -> int:
    """Fork; return the id of the new process, and 0 in it."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads, which were looked at
        return os.fork()


def _become_scorer(parent: int, descriptors: list[int]) -> None:
    """Turn a forked process into a scoring process: the pipes to its worker become standard input, output and error."""
    os.setsid()
    _end_with(parent)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


def _reap(processes: list[int]) -> None:
    """Release the ids of processes that have ended, and remove them from the list."""
    for pid in list(processes):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                continue
        processes.remove(pid)


if __name__ == "__main__":
    main(int(sys.argv[1]), template="template" in sys.argv[2:])
