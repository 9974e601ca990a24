"""A web server on this machine, whose answers the tests choose."""

import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from brainscore_core.supported_data_standards.brainio import downloads


class Web:
    """`files[path]` is what the server sends; `answers[path]` is a function that sends something by itself."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.answers: dict[str, Callable] = {}
        self.requested: list[str] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                web.requested.append(self.path)
                path = self.path.partition("?")[0]
                if path in web.answers:
                    web.answers[path](self)
                elif path in web.files:
                    web.send(self, web.files[path])
                else:
                    self.send_error(404)

            def log_message(self, *args):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                if not isinstance(sys.exc_info()[1], ConnectionError):  # the client went away, as some tests want
                    super().handle_error(request, client_address)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def send(self, handler, body, *, length=None, status=200, headers=()):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)
        handler.wfile.flush()

    def url(self, path):
        return f"http://{self.host}{path}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def web(cache, monkeypatch):
    monkeypatch.setattr(downloads, "PAUSE", 0.01)
    monkeypatch.setattr(downloads, "TIMEOUT", (2.0, 5.0))
    server = Web()
    yield server
    server.stop()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, no mirror, no proxy."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("BRAINSCORE_MIRROR", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "cache"
    monkeypatch.setenv("BRAINIO_HOME", str(home))
    return home
