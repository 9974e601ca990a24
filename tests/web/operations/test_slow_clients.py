"""Slow clients do not delay other clients."""

import io
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from urllib.request import urlopen

import pytest

from brainscore_web.operations import server
from brainscore_web.operations.server import BufferedRequests, Deadlines

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


def ask(application, body=b"", *, length=None, path="/"):
    told = []
    environ = {
        "PATH_INFO": path,
        "CONTENT_LENGTH": str(len(body) if length is None else length),
        "wsgi.input": io.BytesIO(body),
    }
    content = b"".join(application(environ, lambda status, headers: told.append(status)))
    return told[0], content


@pytest.fixture
def whole():
    return BufferedRequests(echo, threads=1, longest=100, streams=lambda path: path == "/uploads/")


def test_bodies(whole, monkeypatch):
    assert ask(whole) == ("200 OK", b"")
    assert ask(whole, b"x" * 100) == ("200 OK", b"x" * 100)
    assert ask(whole, b"x" * 101)[0] == "413 Content Too Large"
    assert ask(whole, b"x" * 101, path="/uploads/") == ("200 OK", b"x" * 101)
    assert ask(whole, b"x" * 50, length=60)[0] == "408 Request Timeout"
    monkeypatch.setattr(server, "_ON_DISK", 70)
    assert ask(whole, b"x" * 70) == ("200 OK", b"x" * 70)
    assert ask(whole, b"x" * 71)[0] == "503 Service Unavailable"
    assert whole._received == 0


def test_who_is_answered_waits_for_a_thread_and_not_for_a_body():
    """A body that is on its way keeps no thread that answers."""
    began, go_on = threading.Event(), threading.Event()

    class Slow:
        def read(self, size):
            began.set()
            assert go_on.wait(30)
            return b""

    whole = BufferedRequests(echo, threads=1, longest=100, streams=lambda path: False)
    environ = {"PATH_INFO": "/", "CONTENT_LENGTH": "5", "wsgi.input": Slow()}
    slow = threading.Thread(target=lambda: list(whole(environ, lambda *_: None)))
    slow.start()
    assert began.wait(30)
    assert ask(whole, b"quick") == ("200 OK", b"quick")
    go_on.set()
    slow.join(30)
    assert not slow.is_alive()


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
