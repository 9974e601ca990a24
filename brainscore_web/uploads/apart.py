"""Ask a process that has nothing but the files of an upload: no secrets, no database, bounded memory and time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

from brainscore_web.uploads.inspection import Found, Question, Report

__all__ = ["ask"]

_HEARTBEAT = 10.0  # seconds
_LONGEST_ANSWER = 64 * 1024 * 1024  # bytes
_HANDED_ON = frozenset({"PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR"})  # of the environment
_QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}


def ask(question: Question, *, alive: Callable[[], bool]) -> Report | None:
    """Inspect files in a process of its own.

    Parameters
    ----------
    question : Question
        Which files, and what is allowed.
    alive : callable
        Called now and then while it lasts; where it returns False, the process is ended.

    Returns
    -------
    Report or None
        What was found; None where it was ended so. A process that dies is a finding, too.
    """
    kept = {name: value for name, value in os.environ.items() if name in _HANDED_ON}
    with tempfile.TemporaryDirectory(prefix="brainscore-inspection-") as home, tempfile.TemporaryFile() as answer:
        process = subprocess.Popen(
            [sys.executable, "-m", "brainscore_web.uploads.inspection"],
            stdin=subprocess.PIPE,
            stdout=answer,
            stderr=subprocess.DEVNULL,
            env={**kept, **_QUIET, "HOME": home},
            cwd=home,
            start_new_session=True,
        )
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin as stream:
                stream.write(json.dumps(asdict(question)).encode())
            if not _wait(process, question.limits["seconds"], alive):
                return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        answer.seek(0)
        try:
            return Report.read(json.loads(answer.read(_LONGEST_ANSWER)))
        except (ValueError, KeyError, TypeError):
            names = ", ".join(question.names.values())
            what = f"looking at them ended with {_ending(process.returncode)}"
            remedy = "package them again with `brainscore package`; divide what is very large into subsets"
            return Report([Found(names, "files cannot be checked", what, remedy)], {}, {})


def _wait(process: subprocess.Popen[bytes], seconds: float, alive: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while True:
        try:
            process.wait(timeout=max(0.0, min(_HEARTBEAT, end - time.monotonic())))
            return True
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end:
                process.kill()
                process.wait()
                return True
            if not alive():
                return False


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"status {code}"
