"""The scoring process: a worker starts it as a script, sends it pairs to score one by one, and may kill it.

Requests and answers are lines of JSON, sent over the pipes that are standard input and output when the process starts.
After that, everything that plugins print goes to standard error, which the worker reads. The first request contains
``sys.path``; until then, only the standard library is imported.
"""

import contextlib
import ctypes
import faulthandler
import json
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

_PR_SET_PDEATHSIG = 1  # option of prctl on Linux: the signal to receive when the parent ends
_OOM_SCORE = "500"  # if memory runs out, the system should kill this process, not the worker or the terminal


def main(worker_pid: int) -> None:
    """Answer requests until the worker asks to end or closes the pipe."""
    _end_with_worker(worker_pid)
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
    except BaseException as error:  # noqa: BLE001 - the worker reports it
        _send_answer(answers, {"unavailable": _error_fields(error)})
        return
    _send_answer(answers, {"ready": True})
    while True:
        request = json.loads(lines.get())
        if request.get("end"):
            return
        started = time.perf_counter()
        try:
            receipt = score(request["model"], request["benchmark"])
            answer: dict[str, Any] = {
                "receipt": receipt.id,
                "state": receipt.state,
                "score": receipt.score.value if receipt.score is not None else None,
                "reason": receipt.reason,
            }
        except BaseException as error:  # noqa: BLE001 - a plugin may even call sys.exit
            if isinstance(error, SystemExit) and error.code == 128 + signal.SIGTERM:
                return  # the worker has terminated this process
            answer = {"error": _error_fields(error)}
        _send_answer(answers, {**answer, "seconds": time.perf_counter() - started})


def _make_scorer(setup: dict[str, Any]) -> Any:
    """Return a function that scores a pair (model, benchmark), configured by the first request."""
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner.pair import import_scorer, run_info

    scorer = import_scorer(setup["scorer"])
    store = ResultsStore(setup["store"])
    run = run_info(setup["run"], isolated=setup["isolated"])

    def score(model: str, benchmark: str) -> Any:
        return scorer(model, benchmark, store=store, run=run, isolated=setup["isolated"], **setup["options"])

    return score


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


def _end_with_worker(worker_pid: int) -> None:
    """Have the system kill this process when its worker ends, even while native code holds the GIL."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    if hasattr(os, "getppid") and os.getppid() != worker_pid:  # the worker ended before prctl took effect
        os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
