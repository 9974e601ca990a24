"""A server between clients and an S3 server that passes requests on, and fails as networks and servers do."""

import socket
import struct
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

FAULTS = ("reset", "error", "slow", "truncated", "denied")
"""The connection is reset; status 500; the answer comes late; half of the answer; status 403."""


class FaultyServer(ThreadingHTTPServer):
    """Fails `times` requests of a method after letting `after` pass; `failed` counts them."""

    daemon_threads = True

    def __init__(self, address):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(address).netloc
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._lock = threading.Lock()
        self.heal()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def fail(self, fault, *, methods=("GET", "HEAD", "PUT", "POST"), after=0, times=10**9):
        self.fault, self.methods, self.after, self.times, self.failed = fault, methods, after, times, 0

    def heal(self):
        self.fail("", times=0)

    def next_fault(self, method):
        with self._lock:
            if not self.fault or method not in self.methods:
                return ""
            self.after -= 1
            if self.after >= 0 or self.failed >= self.times:
                return ""
            self.failed += 1
            return self.fault


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Print nothing."""

    def _pass_on(self):
        body = self._body()
        fault = self.server.next_fault(self.command)
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if fault in ("error", "denied"):
            status, code = (500, "InternalError") if fault == "error" else (403, "AccessDenied")
            text = f"<Error><Code>{code}</Code><Message>as in a drill</Message></Error>".encode()
            self._answer(status, {"Content-Type": "application/xml"}, text)
            return
        if fault == "slow":
            time.sleep(0.5)
        connection = HTTPConnection(self.server.target, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "transfer-encoding"}
        headers["Content-Length"] = str(len(body))
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        kept = {
            name: value for name, value in answer.getheaders() if name.lower() not in ("connection", "date", "server")
        }
        self._answer(answer.status, kept, content, cut=fault == "truncated")

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on  # names of the standard library

    def _body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _answer(self, status, headers, content, *, cut=False):
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding"):
                self.send_header(name, value)
        length = headers.get("Content-Length") or headers.get("content-length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.close_connection = True
