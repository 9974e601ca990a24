"""The scoring process: a worker starts it as a script, sends it pairs to score one by one, and may kill it.

Requests and answers are lines of JSON, sent over the pipes that are standard input and output when the process starts.
After that, everything that plugins print goes to standard error, which the worker reads. The first request contains
``sys.path``; until then, only the standard library is imported.

The same script is the template of scoring processes (``template.py``): it imports what they need, loads benchmarks, and
forks a server for each state that scoring processes may start from. A server forks a scoring process when the worker
sends it the pipes of one. Both answer one request at a time, score nothing, and stay processes of one thread.
"""

import atexit
import contextlib
import ctypes
import faulthandler
import gc
import importlib
import inspect
import json
import os
import queue
import random
import signal
import socket
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

_PR_SET_PDEATHSIG = 1  # option of prctl on Linux: the signal to receive when the parent ends
_PRIORITY_STEPS = 5  # by which scoring comes after what several processes wait for
_FETCHING_STEPS = 1  # the same for fetching data, without which models need another process later
_OOM_SCORE = "500"  # if memory runs out, the system should kill this process, not the worker or the terminal


def main(worker_pid: int, *, template: bool = False) -> None:
    """Answer requests until the worker asks to end or closes the pipe."""
    _end_with(worker_pid)
    if template and not _serve_template():
        return
    n_modules = len(sys.modules) if template else 0  # which the template has
    _lower_priority(_PRIORITY_STEPS)
    # a copy of standard error, since a scorer may redirect the original
    faulthandler.enable(file=os.fdopen(os.dup(2), "w"))
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests, lines), daemon=True).start()
    setup = json.loads(lines.get())
    sys.path[:] = setup["path"]
    try:
        score = _make_scorer(setup)
        read_stimuli = getattr(_keeping_module(setup["scorer"]), "read_stimuli", list)  # without it, there are none
        read_stimuli()  # later calls return what was read since this one
    except BaseException as error:  # noqa: BLE001 - the worker reports it
        _send_answer(answers, {"unavailable": _error_fields(error)})
        return
    _send_answer(answers, {"ready": True})
    writer: threading.Thread | None = None  # of the receipt of the last pair
    while True:
        request = json.loads(lines.get())
        if request.get("end"):
            _end()
        started = time.perf_counter()
        unwritten: list[Callable[[], Any]] = []
        try:
            receipt = score(request["model"], request["benchmark"], unwritten.append if request.get("later") else None)
            answer: dict[str, Any] = {"unwritten": True} if unwritten else _receipt_fields(receipt)
            answer["seconds_again"] = _seconds_again(receipt)
        except BaseException as error:  # noqa: BLE001 - a plugin may even call sys.exit
            if isinstance(error, SystemExit) and error.code == 128 + signal.SIGTERM:
                return  # the worker has terminated this process
            unwritten.clear()
            answer = {"error": _error_fields(error)}
        seconds = time.perf_counter() - started
        if writer is not None:
            writer.join()
        shared = {"modules": _shared_modules(n_modules), "stimuli": read_stimuli()}
        n_modules = len(sys.modules)
        _send_answer(answers, {**answer, "seconds": seconds, **shared})
        if unwritten:  # not a daemon, as Python waits for it at its end
            writer = threading.Thread(target=_write_receipt, args=(unwritten[0], request["benchmark"], answers))
            writer.start()


def _end() -> None:
    """End as Python does, but leave it to the system to free the memory, which is much faster."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _make_scorer(setup: dict[str, Any]) -> Any:
    """Return a function that scores a pair (model, benchmark), configured by the first request."""
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner.pair import import_scorer, run_info

    scorer = import_scorer(setup["scorer"])
    store = ResultsStore(setup["store"])
    store.omit_checks()
    run = run_info(setup["run"], isolated=setup["isolated"])

    can_write_later = "later" in inspect.signature(scorer).parameters

    def score(model: str, benchmark: str, later: Callable[[Callable[[], Any]], None] | None) -> Any:
        options = {**setup["options"], **({"later": later} if later is not None and can_write_later else {})}
        return scorer(model, benchmark, store=store, run=run, isolated=setup["isolated"], **options)

    return score


def _write_receipt(write: Callable[[], Any], benchmark: str, answers: BinaryIO) -> None:
    """Write a receipt while the next pair is scored."""
    try:
        content = _receipt_fields(write())
    except BaseException as error:  # noqa: BLE001 - the worker handles it
        content = {"error": _error_fields(error)}
    _send_answer(answers, {"written": benchmark, **content})


def _receipt_fields(receipt: Any) -> dict[str, Any]:
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


def _error_fields(error: BaseException) -> dict[str, Any]:
    from brainscore_core.errors import UserError
    from brainscore_core.receipts.privacy import scrub_text, scrub_traceback

    message = error.message if isinstance(error, UserError) else str(error)
    return {
        "type": type(error).__qualname__,
        "message": scrub_text(message),
        "traceback": scrub_traceback(error),
        "remedy": error.remedy if isinstance(error, UserError) else None,
    }


def _send_answer(answers: BinaryIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content).encode() + b"\n")
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


def _lower_priority(steps: int) -> None:
    """Let the worker and the template go first if there are more processes than processors."""
    if not hasattr(os, "nice"):
        return
    steps = os.nice(steps)
    if os.getsid(0) == os.getpid():  # Linux may share processors between sessions, whatever the priorities within them
        with contextlib.suppress(OSError):  # without such groups, or after another change just before
            Path("/proc/self/autogroup").write_text(str(steps))


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


def _serve_template() -> bool:
    """Answer the requests of the worker; True in a forked scoring process, False when the worker closes the connection.

    A template that is asked to serve forks a server, which runs the same loop.
    """
    faulthandler.enable(file=os.fdopen(os.dup(2), "w"))
    control = socket.socket(fileno=os.dup(0))
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    os.dup2(2, 1)
    module: Any = None
    servers: list[int] = []
    ended: list[int] = []
    is_server = is_fetching = False
    while True:
        control.settimeout(_REAPING_SECONDS if ended else None)
        try:
            message, descriptors, _, _ = socket.recv_fds(control, _LARGEST_REQUEST, 3)
        except TimeoutError:
            _reap(ended)
            continue
        if not message:
            if is_server:
                os._exit(0)  # what Python does at its end, such as removing temporary files, is left to the template
            return False
        request = json.loads(message)
        answer: dict[str, Any] = {}
        if "path" in request:
            sys.path[:] = request["path"]
            with _importing():
                module = _keeping_module(request["scorer"])
        elif "models" in request:
            with _importing():
                _import_all(_expected_modules(module, request["models"], request["options"]))
        elif "import" in request:
            with _importing():
                _import_all(request["import"])
        elif "keep" in request:
            answer = {"code": _kept(module, request["keep"], request["options"])}
        elif "data" in request:
            name_of = module.data_name if hasattr(module, "fetch_data") else lambda benchmark: ""
            answer = {"names": {benchmark: name_of(benchmark) for benchmark in request["data"]}}
        elif "fetch" in request:
            if not is_fetching:
                _end_with(os.getppid())  # the template, without which nothing needs the data
                _lower_priority(_FETCHING_STEPS)
                is_fetching = True
            with contextlib.suppress(Exception):  # the process of a model meets the error, too, and reports it
                module.fetch_data(request["fetch"], **request["options"])
        elif "drop" in request and module is not None:
            module.forget_benchmark(request["drop"])
        elif "stimuli" in request:
            answer = {
                "kept": hasattr(module, "keep_stimuli") and module.keep_stimuli(request["stimuli"], request["limit"])
            }
        elif "forget" in request:
            module.forget_stimuli()
        elif "reap" in request:
            ended.append(request["reap"])  # reaped later, since its other threads may still free its memory
            continue
        elif "serve" in request:
            _reap(servers)
            answer = {"refused": problem} if (problem := _problem_of_forks()) else {"pid": _fork()}
            if answer.get("pid") == 0:
                os.setsid()  # a template that is killed leaves its servers, which end when the worker does
                control.close()
                control, is_server = socket.socket(fileno=descriptors[0]), True
                gc.freeze()  # the collector would copy memory that is shared with the template
                continue
            if "pid" in answer:
                servers.append(answer["pid"])
            for descriptor in descriptors:
                os.close(descriptor)
        elif "fork" in request:
            with contextlib.suppress(Exception):  # what each process needs, if the scorer has not imported it
                importlib.import_module("brainscore_core.runner.pair")
            server = os.getpid()
            answer = {"refused": problem} if (problem := _problem_of_forks()) else {"pid": _fork()}
            if answer.get("pid") == 0:
                control.close()
                _become_scorer(server, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            if answer.get("pid") == 0:
                return True
        control.send(json.dumps(answer).encode())


def _keeping_module(scorer: str) -> Any:
    """Module of the scorer if it can keep benchmarks."""
    try:
        module = importlib.import_module(scorer.partition(":")[0])
    except Exception:  # noqa: BLE001 - the scoring process reports it
        return None
    return module if hasattr(module, "keep_benchmark") else None


@contextlib.contextmanager
def _importing() -> Iterator[None]:
    """Import without the garbage collector, which takes a fifth of the time, and exempt from it what was imported."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _import_all(names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(Exception):  # the process of the model reports it
            importlib.import_module(name)


def _expected_modules(module: Any, models: list[str], options: dict[str, Any]) -> list[str]:
    """Modules that these models will probably import."""
    if models and hasattr(module, "mentioned_modules"):
        with contextlib.suppress(Exception):
            return list(module.mentioned_modules(models, _SHARED, **options))
    return []


def _kept(module: Any, benchmark: str, options: dict[str, Any]) -> dict[str, str | None] | None:
    """Keep a benchmark, and return the hashes of its code; None after an error, which the process that scores meets."""
    if module is None:
        return None
    try:
        return dict(module.keep_benchmark(benchmark, **options))
    except Exception:  # noqa: BLE001 - the process of a model meets the error, too, and reports it
        return None


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
    # temporary files of the template are removed by the template
    atexit._clear()
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        finalizer.atexit = False
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
