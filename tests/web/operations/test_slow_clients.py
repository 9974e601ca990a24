"""Slow clients do not delay other clients."""

import io
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from urllib.request import urlopen

import pytest

from brainscore_web.operations import server
from brainscore_web.operations.server import ArrivingBody, BufferedRequests, Deadlines

SERVER = """
import os, socket, sys

import django
from gunicorn.app.base import BaseApplication

os.environ["DJANGO_SETTINGS_MODULE"] = "brainscore_web.settings"
django.setup()

from brainscore_web.operations import server

server._HEADERS = server._BODY = 3


def answer(environ, start_response):
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


class Server(BaseApplication):
    def load_config(self):
        for name, value in {
            "bind": [f"fd://{sys.argv[1]}"], "workers": 1, "worker_class": server.ConnectionWorker,
            "threads": 250, "worker_connections": 300, "loglevel": "warning", "control_socket_disable": True,
        }.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self):
        return server.BufferedRequests(answer, threads=2, longest=1000, streams=lambda path: False)


sys.argv, number = ["server"], sys.argv[1]
sys.argv.append(number)
Server().run()
"""


@pytest.fixture
def address():
    """Of a server of one process in which two threads answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=300) as taken:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(taken.fileno())], pass_fds=[taken.fileno()], start_new_session=True
        )
        yield taken.getsockname()
        process.terminate()
        assert process.wait(60) == 0


@pytest.mark.slow(reason="starts a server and keeps 200 connections open for seconds")
def test_two_hundred_slow_clients_stop_nobody(address):
    head = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 500\r\n"
    beginnings = [b"", head, head + b"\r\n", head + b"\r\nemail="]
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(address)) for _ in range(200)]
        for number, one in enumerate(slow):
            one.sendall(beginnings[number % 4])
        ended = threading.Event()

        def drip():
            while not ended.wait(0.2):
                for one in slow[1::2]:
                    try:
                        one.sendall(b"x")
                    except OSError:
                        continue

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            for _ in range(20):
                with urlopen("http://{}:{}/".format(*address), data=b"whole", timeout=10) as answer:
                    assert answer.read() == b"whole"
            # clients that send a byte from time to time are disconnected as well
            for one in slow[1::2]:
                one.settimeout(30)
                try:
                    while one.recv(1000):
                        pass
                except ConnectionResetError:
                    continue
        finally:
            ended.set()
            dripping.join()


def echo(environ, start_response):
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def ask(application, body=b"", *, length=None, path="/", client="192.0.2.1"):
    told = []
    environ = {
        "REMOTE_ADDR": client,
        "PATH_INFO": path,
        "CONTENT_LENGTH": str(len(body) if length is None else length),
        "wsgi.input": io.BytesIO(body) if isinstance(body, bytes) else body,
    }
    content = b"".join(application(environ, lambda status, headers: told.append(status)))
    return told[0], content


@pytest.fixture
def whole():
    return BufferedRequests(echo, threads=1, longest=100, streams=lambda path: path == "/uploads/")


def test_bodies(whole):
    assert ask(whole) == ("200 OK", b"")
    assert ask(whole, b"x" * 100) == ("200 OK", b"x" * 100)
    assert ask(whole, b"x" * 101)[0] == "413 Content Too Large"
    assert ask(whole, b"x" * 101, path="/uploads/") == ("200 OK", b"x" * 101)
    assert ask(whole, b"x" * 50, length=60)[0] == "408 Request Timeout"


class Slow:
    """A body whose end does not come until it may."""

    def __init__(self, beginning=b""):
        self.beginning, self.waits, self.go_on = beginning, threading.Event(), threading.Event()

    def read(self, size):
        piece, self.beginning = self.beginning[:size], self.beginning[size:]
        if not piece:
            self.waits.set()
            assert self.go_on.wait(30)
        return piece


@contextmanager
def waiting(application, *bodies, **request):
    """Bodies that are being received by threads of their own."""
    threads = [threading.Thread(target=ask, args=(application, body), kwargs=request) for body in bodies]
    for thread, body in zip(threads, bodies, strict=True):
        thread.start()
        assert body.waits.wait(30)
    yield
    for thread, body in zip(threads, bodies, strict=True):
        body.go_on.set()
        thread.join(30)
        assert not thread.is_alive()


def test_space_is_taken_by_what_has_arrived(whole, monkeypatch):
    for name, size in {"_PIECE": 10, "_IN_MEMORY": 20, "_OF_CLIENT": 100, "_ON_DISK": 150}.items():
        monkeypatch.setattr(server, name, size)
    with waiting(whole, *(Slow(b"x" * 20) for _ in range(5)), length=100):  # announced, and not sent
        assert ask(whole, b"x" * 100)[0] == "200 OK"
    with waiting(whole, Slow(b"x" * 90), length=100):  # 70 bytes beyond what is in memory
        assert ask(whole, b"x" * 100)[0] == "503 Service Unavailable"
        assert ask(whole, b"x" * 20)[0] == "200 OK"
        assert ask(whole, b"x" * 100, client="192.0.2.2")[0] == "200 OK"
        with waiting(whole, Slow(b"x" * 90), length=100, client="192.0.2.2"):
            assert ask(whole, b"x" * 100, client="192.0.2.3")[0] == "503 Service Unavailable"
            assert ask(whole, b"x" * 20, client="192.0.2.3")[0] == "200 OK"
    assert ask(whole, b"x" * 100)[0] == "200 OK"


def test_time_is_given_for_what_has_arrived():
    limits = []

    class Recorded(Deadlines):
        def begin(self, connection, seconds):
            limits.append(seconds)

    body = ArrivingBody({"wsgi.input": io.BytesIO(b"x" * 1_000_000)}, 1_000_000_000, Recorded())
    assert len(body.read(200_000)) == 200_000
    body.read(200_000)
    assert limits == pytest.approx([20, 30], abs=0.5)  # 10 s, and 20,000 bytes a second


def test_who_is_answered_waits_for_a_thread_and_not_for_a_body(whole):
    """A body that is on its way keeps no thread that answers."""
    with waiting(whole, Slow(), length=5):
        assert ask(whole, b"quick") == ("200 OK", b"quick")


def test_deadlines():
    deadlines = Deadlines()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with deadlines.within(ours, 60):
            theirs.sendall(b"in time")
            assert ours.recv(100) == b"in time"
        start = time.monotonic()
        with deadlines.within(ours, 0.1):
            assert ours.recv(100) == b""  # as if the other side had gone
        assert time.monotonic() - start < 30
    assert deadlines._until == {}
