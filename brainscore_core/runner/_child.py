"""The scoring process: a worker starts it as a script, requests one pair after the other, and may end it.

Requests and answers are lines of JSON over the pipes that were standard input and output. Output of plugins goes to
standard error, which the worker reads. Only the standard library is imported before the first request, which contains
the search path of modules.
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

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
_OOM_SCORE = "500"  # if the system runs out of memory, it should kill this process, not the worker or the terminal


def main(parent: int) -> None:
    """Answer requests until there are no more."""
    _end_with(parent)
    # a copy, since a scorer may redirect standard error
    faulthandler.enable(file=os.fdopen(os.dup(2), "w"))
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull) as null:
        os.dup2(null.fileno(), 0)
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, lines), daemon=True).start()
    start = json.loads(lines.get())
    sys.path[:] = start["path"]
    try:
        score = _prepare(start)
    except BaseException as error:  # noqa: BLE001 - the worker reports it
        _answer(answers, {"unavailable": _error_fields(error)})
        return
    _answer(answers, {"ready": True})
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
                return  # the worker ended this process
            answer = {"error": _error_fields(error)}
        _answer(answers, {**answer, "seconds": time.perf_counter() - started})


def _prepare(start: dict[str, Any]) -> Any:
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner.pair import import_scorer, run_info

    scorer = import_scorer(start["scorer"])
    store = ResultsStore(start["store"])
    run = run_info(start["run"], isolated=start["isolated"])

    def score(model: str, benchmark: str) -> Any:
        return scorer(model, benchmark, store=store, run=run, isolated=start["isolated"], **start["options"])

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


def _answer(answers: BinaryIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content).encode() + b"\n")
    answers.flush()


def _read(requests: BinaryIO, lines: "queue.SimpleQueue[bytes]") -> None:
    for line in requests:
        lines.put(line)
    # the worker has ended or closed the pipe: end this process and all that it started
    with contextlib.suppress(AttributeError, OSError):
        if os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _end_with(parent: int) -> None:
    """Let the system end this process together with its worker, even if it holds Python's lock."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    if hasattr(os, "getppid") and os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
