"""The gunicorn server: shared request counts, signals, and limits of requests."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brainscore_web.operations.health import METRICS_FOLDER_VARIABLE, process_ended


@contextmanager
def shared_request_counts() -> Iterator[None]:
    """Provide an empty folder for request counts to the processes that are started in this context."""
    named = os.environ.get(METRICS_FOLDER_VARIABLE)
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="brainscore-metrics-"))
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.db"):  # of an earlier server
        old.unlink(missing_ok=True)
    os.environ[METRICS_FOLDER_VARIABLE] = str(folder)
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner and not named:  # not in child processes
            os.environ.pop(METRICS_FOLDER_VARIABLE, None)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def exit_at_once_on_signals() -> Iterator[None]:
    """Exit at once on signals while a server process loads the site: the server would otherwise wait for it."""
    previous = {
        number: signal.signal(number, _exit_at_once) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _exit_at_once(_number: int, _frame: Any) -> None:
    os._exit(0)


def server_settings() -> dict[str, Any]:
    """Return settings of gunicorn: the site's logging, and hooks for the end of its processes."""
    from django.conf import settings

    chosen: dict[str, Any] = settings.LOGGING
    server_logger = {"level": "WARNING", "handlers": ["console"], "propagate": False}
    loggers = {**chosen["loggers"], "gunicorn.error": server_logger, "gunicorn.access": server_logger}
    return {"child_exit": _child_exit, "worker_exit": _worker_exit, "logconfig_dict": {**chosen, "loggers": loggers}}


def _worker_exit(_server: Any, worker: Any) -> None:
    """End a worker process at once after its last request; a regular exit of the interpreter may take seconds."""
    ended = sys.exc_info()[1]
    if worker.pid == os.getpid() and isinstance(ended, SystemExit) and not ended.code:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _child_exit(_server: Any, worker: Any) -> None:
    process_ended(worker.pid)


THREADS = 16
"""Requests that a process answers at the same time, including those whose data files are arriving."""

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def limited(application: WSGI) -> WSGI:
    """Refuse large bodies, except uploads of data and results, which the application reads piece by piece.

    Bodies of responses to HEAD requests are omitted: gunicorn would omit them with a warning for each.
    """
    from django.conf import settings
    from django.urls import Resolver404, resolve

    from brainscore_web.submissions.receiving import max_form_size

    longest = max(max_form_size(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def may_be_large(path: str) -> bool:
        try:
            return resolve(path).view_name in ("uploads:receive", "api:post_result")
        except Resolver404:
            return False

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or "0"
        if length.isdecimal() and int(length) > longest and not may_be_large(environ.get("PATH_INFO", "")):
            content = f"the body may have at most {longest} bytes\n".encode()
            headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(content))), ("Connection", "close")]
            start_response("413 Content Too Large", headers)
            return [content]
        response = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return response
        if (close := getattr(response, "close", None)) is not None:
            close()
        return []

    return answer
