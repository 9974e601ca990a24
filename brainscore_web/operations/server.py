"""What the server's processes share: the folder of their counts, the form of their logs."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brainscore_web.operations.counting import FOLDER, process_ended

__all__ = ["counted_together", "server_settings", "told_to_end_at_once"]


@contextmanager
def counted_together() -> Iterator[None]:
    """Give the processes that are started within a folder for their counts, empty at first."""
    named = os.environ.get(FOLDER)
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="brainscore-metrics-"))
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.db"):  # of a server that ran before
        old.unlink(missing_ok=True)
    os.environ[FOLDER] = str(folder)
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner and not named:  # not in the processes that were started within
            os.environ.pop(FOLDER, None)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def told_to_end_at_once() -> Iterator[None]:
    """While a process of the server loads the site it has nothing to end in order: the server would wait for it."""
    before = {one: signal.signal(one, _end) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _end(_number: int, _frame: Any) -> None:
    os._exit(0)


def server_settings() -> dict[str, Any]:
    """Settings of gunicorn: it logs as the site does, its processes end at once, and it says when one is gone."""
    from django.conf import settings

    chosen: dict[str, Any] = settings.LOGGING
    of_server = {"level": "WARNING", "handlers": ["console"], "propagate": False}
    loggers = {**chosen["loggers"], "gunicorn.error": of_server, "gunicorn.access": of_server}
    return {"child_exit": _gone, "worker_exit": _leave, "logconfig_dict": {**chosen, "loggers": loggers}}


def _leave(_server: Any, worker: Any) -> None:
    """End a process that has answered its last request: to take apart all that it has loaded may take seconds."""
    ended = sys.exc_info()[1]
    if worker.pid == os.getpid() and isinstance(ended, SystemExit) and not ended.code:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _gone(_server: Any, worker: Any) -> None:
    process_ended(worker.pid)
