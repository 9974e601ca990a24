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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.db import connections
from gunicorn.workers.gthread import ThreadWorker

from brainscore_web.accounts.callers import address_of
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


CONNECTIONS = 400
"""Connections of a process that may send or receive at the same time, each in its own thread."""
_ANSWERING = 4  # threads of a process that run the application
_HEADERS = 10.0  # seconds until the headers of a request are complete
_BODY, _BODY_RATE = 10.0, 20_000  # seconds that a client may be behind with a body, at this many bytes a second
_ANSWER, _ANSWER_RATE = 60.0, 20_000
_ANSWER_OF_UNKNOWN_LENGTH = 1800.0
_IDLE = 20  # seconds without a byte while a client should send or receive
_IN_MEMORY = 1 << 20  # bytes of a body
_ON_DISK = 1 << 30  # bytes of all bodies, beyond what is in memory, until their requests are answered
_OF_CLIENT = _ON_DISK // 8
_PIECE = 1 << 16

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


class ConnectionWorker(ThreadWorker):  # type: ignore[misc, unused-ignore] # a class without types
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


class ArrivingBody:
    """A body that is being received; the connection is closed if the client falls behind.

    The time limit grows with what has arrived, not with the length that the client has announced.
    """

    def __init__(self, environ: dict[str, Any], length: int, deadlines: Deadlines) -> None:
        self._source = environ["wsgi.input"]
        self._connection = environ.get("gunicorn.socket")
        self._deadlines = deadlines
        self._remaining = length
        self._seconds = _BODY  # that the client has left

    def read(self, size: int | None = -1) -> bytes:
        """Read at most `size` bytes; of a negative size, or None, the rest."""
        return self._received(self._source.read, size)

    def readline(self, size: int | None = -1) -> bytes:
        """Read a line, of at most `size` bytes."""
        return self._received(self._source.readline, size)

    def _received(self, read: Callable[[int], bytes], size: int | None) -> bytes:
        size = self._remaining if size is None or size < 0 else min(size, self._remaining)
        started = time.monotonic()
        with self._deadlines.within(self._connection, self._seconds + size / _BODY_RATE):
            piece = read(size)
        self._seconds += len(piece) / _BODY_RATE - (time.monotonic() - started)
        self._remaining -= len(piece)
        return piece


class _Space:
    """Counts the bytes of bodies that have arrived, in total and of each client, whose requests are not answered."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, client: str) -> Iterator[Callable[[int], bool]]:
        """Yield a function that takes space for bytes of a client, and returns whether there was enough."""
        size_of_client = 0

        def take(size: int) -> bool:
            nonlocal size_of_client
            with self._lock:
                if self._taken.total() + size > _ON_DISK or self._taken[client] + size > _OF_CLIENT:
                    return False
                self._taken[client] += size
            size_of_client += size
            return True

        try:
            yield take
        finally:
            with self._lock:
                self._taken[client] -= size_of_client
                if not self._taken[client]:
                    del self._taken[client]


class BufferedRequests:
    """A WSGI application that calls another one in a few threads, with complete requests.

    The thread of the connection receives the body before, and sends the response after.

    At most `threads` requests are answered at the same time. Larger bodies than `longest` bytes are refused, except at
    addresses that `streams` accepts: these are streamed in the thread of the connection.
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
        self._space = _Space()

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
            response = self._application(
                {**environ, "wsgi.input": ArrivingBody(environ, length, self._deadlines)}, sent
            )
        elif not length:
            response = self._run(environ, sent)
        else:
            with (
                self._space.of(address_of(environ)) as take,
                tempfile.SpooledTemporaryFile(_IN_MEMORY) as body,
            ):
                refusal = _receive(ArrivingBody(environ, length, self._deadlines), body, length, take)
                if refusal:
                    return _refuse(start_response, *refusal)
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


def _receive(
    source: ArrivingBody, target: IO[bytes], length: int, take: Callable[[int], bool]
) -> tuple[str, str] | None:
    """Receive a body; return status and message if it is refused.

    Space is taken for what has arrived, and none for what fits into memory: small forms are never refused.
    """
    received = 0
    with suppress(OSError):  # the connection was closed or timed out
        while received < length and (piece := source.read(_PIECE)):
            received += len(piece)
            if received > _IN_MEMORY and not take(len(piece)):
                return "503 Service Unavailable", "the server is receiving too much data; try again in a minute"
            target.write(piece)
    return None if received == length else ("408 Request Timeout", "the body did not arrive in time")


def _refuse(start_response: Callable[..., Any], status: str, message: str) -> Iterable[bytes]:
    content = f"{message}\n".encode()
    start_response(
        status,
        [("Content-Type", "text/plain"), ("Content-Length", str(len(content))), ("Connection", "close")],
    )
    return [content]
