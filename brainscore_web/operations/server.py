"""The gunicorn server: shared request counts, signals, slow clients, and buffering of requests."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.db import connections
from gunicorn.workers.gthread import ThreadWorker

from brainscore_web.operations.metrics import METRICS_FOLDER_VARIABLE, process_ended

__all__ = [
    "CONNECTIONS",
    "BufferedRequests",
    "ConnectionWorker",
    "Deadlines",
    "buffered_requests",
    "exit_at_once_on_signals",
    "server_settings",
    "shared_request_counts",
]


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


CONNECTIONS = 400
"""Connections of a process that may send or receive at the same time, each in its own thread."""
_ANSWERING = 4  # threads of a process that run the application
_HEADERS = 10.0  # seconds until the headers of a request are complete
_BODY, _BODY_RATE = 10.0, 20_000  # seconds for any body, and bytes a second of a long one
_ANSWER, _ANSWER_RATE = 60.0, 20_000
_ANSWER_OF_UNKNOWN_LENGTH = 1800.0
_IDLE = 20  # seconds without a byte while a client should send or receive
_IN_MEMORY = 1 << 20
_ON_DISK = 1 << 30  # bytes of all bodies being received

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Deadlines:
    """Closes connections that exceed a time limit.

    A thread that waits for such a connection continues as if the client had disconnected.
    """

    def __init__(self) -> None:
        self._until: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        self._watch: threading.Thread | None = None

    @contextmanager
    def within(self, connection: socket.socket | None, seconds: float) -> Iterator[None]:
        """Close a connection if the code in this context takes longer."""
        self.begin(connection, seconds)
        try:
            yield
        finally:
            self.end(connection)

    def begin(self, connection: socket.socket | None, seconds: float) -> None:
        """Set the time limit of a connection from now on."""
        if connection is None:
            return
        with self._lock:
            self._until[connection] = time.monotonic() + seconds
            if self._watch is None:
                self._watch = threading.Thread(target=self._close_expired, name="deadlines", daemon=True)
                self._watch.start()

    def end(self, connection: socket.socket | None) -> None:
        """Remove the time limit of a connection, if any."""
        if connection is not None:
            with self._lock:
                self._until.pop(connection, None)

    def _close_expired(self) -> None:
        while True:
            time.sleep(0.5)
            now = time.monotonic()
            with self._lock:
                for connection in [expired for expired, until in self._until.items() if until < now]:
                    del self._until[connection]
                    with suppress(OSError):  # the client has disconnected
                        connection.shutdown(socket.SHUT_RDWR)


_deadlines = Deadlines()


class ConnectionWorker(ThreadWorker):  # type: ignore[misc, unused-ignore]
    """gunicorn's threaded worker, with time limits for clients that send no headers or stop in between."""

    def handle(self, conn: Any) -> Any:
        """Read a request and answer it, in a thread of the connection."""
        wait = struct.pack("ll", _IDLE, 0)
        connection = conn.sock
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, wait)
        _deadlines.begin(connection, _HEADERS)
        try:
            return super().handle(conn)
        finally:
            _deadlines.end(connection)
            connections.close_all()  # database connections of this thread; threads that run the application keep theirs

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Answer a request whose headers have arrived."""
        _deadlines.end(conn.sock)
        return super().handle_request(req, conn)


class BufferedRequests:
    """A WSGI application that calls another one in a few threads, with complete requests.

    The thread of the connection receives the body before, and sends the response after.

    Parameters
    ----------
    application : callable
        The application.
    threads : int
        The number of requests that it answers at the same time.
    longest : int
        The largest body in bytes; requests with larger ones are refused.
    streams : callable
        Whether an address accepts larger bodies, which are streamed in the thread of the connection.
    deadlines : Deadlines, optional
        Closes connections of slow clients.
    """

    def __init__(
        self,
        application: WSGI,
        *,
        threads: int,
        longest: int,
        streams: Callable[[str], bool],
        deadlines: Deadlines = _deadlines,
    ) -> None:
        self._application = application
        self._answering = ThreadPoolExecutor(threads, thread_name_prefix="answers")
        self._longest = longest
        self._streams = streams
        self._deadlines = deadlines
        self._received = 0  # bytes of all bodies received or being received
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        connection = environ.get("gunicorn.socket")
        text = environ.get("CONTENT_LENGTH") or "0"
        length = int(text) if text.isdecimal() else 0
        sent = _StartedResponse(start_response)
        if length > self._longest:
            if not self._streams(environ.get("PATH_INFO", "")):
                return _refuse(
                    start_response, "413 Content Too Large", f"the body may have at most {self._longest} bytes"
                )
            with self._deadlines.within(connection, _BODY + length / _BODY_RATE):
                response = self._application(environ, sent)
        elif not length:
            response = self._run(environ, sent)
        else:
            with self._reserved(length) as reserved:
                if not reserved:
                    return _refuse(
                        start_response,
                        "503 Service Unavailable",
                        "the server is receiving too much data; try again soon",
                    )
                with tempfile.SpooledTemporaryFile(_IN_MEMORY) as body:
                    with self._deadlines.within(connection, _BODY + length / _BODY_RATE):
                        complete = _copy(environ["wsgi.input"], body, length)
                    if not complete:
                        return _refuse(start_response, "408 Request Timeout", "the body did not arrive in time")
                    body.seek(0)
                    response = self._run({**environ, "wsgi.input": body}, sent)
        seconds = _ANSWER_OF_UNKNOWN_LENGTH if sent.length is None else _ANSWER + sent.length / _ANSWER_RATE
        self._deadlines.begin(connection, seconds)  # the worker removes the time limit
        if environ.get("REQUEST_METHOD") == "HEAD":  # gunicorn warns about each body that it must drop
            if (close := getattr(response, "close", None)) is not None:
                close()
            return []
        return response

    def _run(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        return self._answering.submit(self._application, environ, start_response).result()

    @contextmanager
    def _reserved(self, length: int) -> Iterator[bool]:
        """Reserve space for a body in this context; yields whether there is enough."""
        with self._lock:
            enough = self._received + length <= _ON_DISK
            self._received += length if enough else 0
        try:
            yield enough
        finally:
            if enough:
                with self._lock:
                    self._received -= length


def buffered_requests(application: WSGI) -> BufferedRequests:
    """Buffer requests to the site's application, except uploads of data and results, which it streams."""
    from django.conf import settings
    from django.urls import Resolver404, resolve

    from brainscore_web.submissions.receiving import max_form_size

    def streams(path: str) -> bool:
        try:
            return resolve(path).view_name in ("uploads:receive", "api:post_result")
        except Resolver404:
            return False

    longest = max(max_form_size(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return BufferedRequests(application, threads=_ANSWERING, longest=longest, streams=streams)


class _StartedResponse:
    """Records the length of a response when the application starts it."""

    def __init__(self, start_response: Callable[..., Any]) -> None:
        self._start_response = start_response
        self.length: int | None = None

    def __call__(self, status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        lengths = [value for name, value in headers if name.lower() == "content-length"]
        self.length = int(lengths[0]) if lengths and lengths[0].isdecimal() else None
        return self._start_response(status, headers, *more)


def _copy(source: Any, target: IO[bytes], length: int) -> bool:
    """Receive a body; return whether it is complete."""
    remaining = length
    with suppress(OSError):  # the connection was closed or timed out
        while remaining and (piece := source.read(min(remaining, 1 << 16))):
            target.write(piece)
            remaining -= len(piece)
    return not remaining


def _refuse(start_response: Callable[..., Any], status: str, message: str) -> Iterable[bytes]:
    content = f"{message}\n".encode()
    start_response(
        status,
        [("Content-Type", "text/plain"), ("Content-Length", str(len(content))), ("Connection", "close")],
    )
    return [content]
