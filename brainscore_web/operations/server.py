"""The gunicorn server: shared request counts, signals, slow clients and buffered requests."""

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
    """Give the processes that are started within a folder for their counts, empty at first."""
    named = os.environ.get(METRICS_FOLDER_VARIABLE)
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="brainscore-metrics-"))
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.db"):  # of a server that ran before
        old.unlink(missing_ok=True)
    os.environ[METRICS_FOLDER_VARIABLE] = str(folder)
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner and not named:  # not in the processes that were started within
            os.environ.pop(METRICS_FOLDER_VARIABLE, None)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def exit_at_once_on_signals() -> Iterator[None]:
    """While a process of the server loads the site it has nothing to end in order: the server would wait for it."""
    before = {one: signal.signal(one, _exit_at_once) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _exit_at_once(_number: int, _frame: Any) -> None:
    os._exit(0)


def server_settings() -> dict[str, Any]:
    """Settings of gunicorn: it logs as the site does, its processes end at once, and it says when one is gone."""
    from django.conf import settings

    chosen: dict[str, Any] = settings.LOGGING
    of_server = {"level": "WARNING", "handlers": ["console"], "propagate": False}
    loggers = {**chosen["loggers"], "gunicorn.error": of_server, "gunicorn.access": of_server}
    return {"child_exit": _child_exit, "worker_exit": _worker_exit, "logconfig_dict": {**chosen, "loggers": loggers}}


def _worker_exit(_server: Any, worker: Any) -> None:
    """End a process that has answered its last request: to take apart all that it has loaded may take seconds."""
    ended = sys.exc_info()[1]
    if worker.pid == os.getpid() and isinstance(ended, SystemExit) and not ended.code:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _child_exit(_server: Any, worker: Any) -> None:
    process_ended(worker.pid)


CONNECTIONS = 400
"""Connections of a process that may send or read at once, each in a thread of its own."""
_ANSWERING = 4  # threads of a process
_HEADERS = 10.0  # seconds until the headers of a request are complete
_BODY, _BODY_RATE = 10.0, 20_000  # seconds for any body, and bytes a second of a long one
_ANSWER, _ANSWER_RATE = 60.0, 20_000
_ANSWER_OF_UNKNOWN_LENGTH = 1800.0
_IDLE = 20  # seconds without a byte while somebody should send or read
_IN_MEMORY = 1 << 20
_ON_DISK = 1 << 30  # of all bodies that are being received

WSGI = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Deadlines:
    """Closes connections on which something takes too long.

    A thread that waits for such a connection then goes on, as if the client had gone.
    """

    def __init__(self) -> None:
        self._until: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        self._watch: threading.Thread | None = None

    @contextmanager
    def within(self, connection: socket.socket | None, seconds: float) -> Iterator[None]:
        """Shut a connection down if what is done meanwhile takes longer."""
        self.begin(connection, seconds)
        try:
            yield
        finally:
            self.end(connection)

    def begin(self, connection: socket.socket | None, seconds: float) -> None:
        """Give a connection so many seconds from now on."""
        if connection is None:
            return
        with self._lock:
            self._until[connection] = time.monotonic() + seconds
            if self._watch is None:
                self._watch = threading.Thread(target=self._look, name="deadlines", daemon=True)
                self._watch.start()

    def end(self, connection: socket.socket | None) -> None:
        """Let a connection be; again does nothing."""
        if connection is not None:
            with self._lock:
                self._until.pop(connection, None)

    def _look(self) -> None:
        while True:
            time.sleep(0.5)
            now = time.monotonic()
            with self._lock:
                for connection in [one for one, until in self._until.items() if until < now]:
                    del self._until[connection]
                    with suppress(OSError):  # the client has gone by itself
                        connection.shutdown(socket.SHUT_RDWR)


_deadlines = Deadlines()


class ConnectionWorker(ThreadWorker):  # type: ignore[misc, unused-ignore]
    """gunicorn's worker with threads; who sends no headers, or stops in the midst, is left after some seconds."""

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
            connections.close_all()  # of this thread; those that answer keep theirs

    def handle_request(self, req: Any, conn: Any) -> Any:
        """Answer a request whose headers are here."""
        _deadlines.end(conn.sock)
        return super().handle_request(req, conn)


class BufferedRequests:
    """A WSGI application that is asked by a few threads, each time with a whole request.

    Bodies are received before, and answers sent after, in the thread of the connection.

    Parameters
    ----------
    application : callable
        The application.
    threads : int
        How many requests it answers at once.
    longest : int
        Bytes of a body beyond which a request is refused.
    streams : callable
        Whether an address takes longer bodies: they are handed on as they come, in the thread of the connection.
    deadlines : Deadlines, optional
        Closes the connection of who takes too long.
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
        self._received = 0  # bytes of all bodies that are here or on their way
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        connection = environ.get("gunicorn.socket")
        text = environ.get("CONTENT_LENGTH") or "0"
        length = int(text) if text.isdecimal() else 0
        sent = _StartedResponse(start_response)
        if length > self._longest:
            if not self._streams(environ.get("PATH_INFO", "")):
                return _refuse(start_response, "413 Content Too Large", f"at most {self._longest} bytes are taken here")
            with self._deadlines.within(connection, _BODY + length / _BODY_RATE):
                answer = self._application(environ, sent)
        elif not length:
            answer = self._ask(environ, sent)
        else:
            with self._room(length) as room:
                if not room:
                    return _refuse(start_response, "503 Service Unavailable", "too much is being sent; try again soon")
                with tempfile.SpooledTemporaryFile(_IN_MEMORY) as body:
                    with self._deadlines.within(connection, _BODY + length / _BODY_RATE):
                        complete = _copy(environ["wsgi.input"], body, length)
                    if not complete:
                        return _refuse(start_response, "408 Request Timeout", "the body did not come")
                    body.seek(0)
                    answer = self._ask({**environ, "wsgi.input": body}, sent)
        seconds = _ANSWER_OF_UNKNOWN_LENGTH if sent.length is None else _ANSWER + sent.length / _ANSWER_RATE
        self._deadlines.begin(connection, seconds)  # the worker ends it
        return answer

    def _ask(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        return self._answering.submit(self._application, environ, start_response).result()

    @contextmanager
    def _room(self, length: int) -> Iterator[bool]:
        """Count a body while it is here; whether there is room for it."""
        with self._lock:
            room = self._received + length <= _ON_DISK
            self._received += length if room else 0
        try:
            yield room
        finally:
            if room:
                with self._lock:
                    self._received -= length


def buffered_requests(application: WSGI) -> BufferedRequests:
    """Let the site's application have whole requests, but for uploads of data, which it takes as they come."""
    from django.conf import settings
    from django.urls import Resolver404, resolve

    from brainscore_web.submissions.receiving import max_form_size

    def streams(path: str) -> bool:
        try:
            return resolve(path).view_name == "uploads:receive"
        except Resolver404:
            return False

    most = max(max_form_size(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return BufferedRequests(application, threads=_ANSWERING, longest=most, streams=streams)


class _StartedResponse:
    """What the application says before its answer."""

    def __init__(self, start_response: Callable[..., Any]) -> None:
        self._start_response = start_response
        self.length: int | None = None

    def __call__(self, status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        lengths = [value for name, value in headers if name.lower() == "content-length"]
        self.length = int(lengths[0]) if lengths and lengths[0].isdecimal() else None
        return self._start_response(status, headers, *more)


def _copy(source: Any, target: IO[bytes], length: int) -> bool:
    """Receive a body; whether it came whole."""
    left = length
    with suppress(OSError):  # the connection broke off, or waited too long
        while left and (piece := source.read(min(left, 1 << 16))):
            target.write(piece)
            left -= len(piece)
    return not left


def _refuse(start_response: Callable[..., Any], status: str, words: str) -> Iterable[bytes]:
    content = f"{words}\n".encode()
    start_response(
        status,
        [("Content-Type", "text/plain"), ("Content-Length", str(len(content))), ("Connection", "close")],
    )
    return [content]
