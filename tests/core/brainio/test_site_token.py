"""The token of a site goes to that site alone."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from brainscore_core.supported_data_standards.brainio.downloads import _token_for
from brainscore_core.supported_data_standards.brainio.fetch import AccessDenied, fetch

BODY = b"stimulus_id\na\n"


@pytest.fixture
def sites(monkeypatch):
    """Addresses of two servers that note the tokens they see; the first leads to the second."""
    seen = {}

    def serve(name, answer):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                seen.setdefault(name, []).append(self.headers.get("Authorization"))
                answer(self)

            def log_message(self, *_): ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server, f"http://127.0.0.1:{server.server_port}"

    def give(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(BODY)))
        handler.end_headers()
        handler.wfile.write(BODY)

    storage, storage_url = serve("storage", give)

    def lead(handler):
        allowed = handler.headers.get("Authorization") == "Bearer bs_mine"
        handler.send_response(302 if allowed else 403)
        handler.send_header("Location", f"{storage_url}/a.csv?X-Amz-Signature=1")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    site, site_url = serve("site", lead)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("BRAINSCORE_MIRROR", raising=False)
    yield site_url, seen
    for server in (storage, site):
        server.shutdown()
        server.server_close()


def test_private_files_of_a_site(sites, monkeypatch, tmp_path):
    url, seen = sites
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    digest = hashlib.sha256(BODY).hexdigest()
    monkeypatch.setenv("BRAINSCORE_TOKEN", "bs_mine")
    monkeypatch.delenv("BRAINSCORE_SITE", raising=False)
    with pytest.raises(AccessDenied):
        fetch(f"{url}/a.csv", sha256=digest, progress=False)
    monkeypatch.setenv("BRAINSCORE_SITE", url)
    assert fetch(f"{url}/a.csv", sha256=digest, progress=False).read_bytes() == BODY
    assert seen == {"site": [None, "Bearer bs_mine"], "storage": [None]}  # the redirect does not take it along


@pytest.mark.parametrize(
    ("site", "url"),
    [
        ("https://example.org", "https://elsewhere.org/a.csv"),
        ("https://example.org", "http://example.org/a.csv"),
        ("https://example.org", "https://example.org:444/a.csv"),
        ("https://example.org", "https://example.org.evil.net/a.csv"),
        ("https://example.org", "https://example.org@evil.net/a.csv"),
        ("http://example.org", "http://example.org/a.csv"),  # it would travel unencrypted
    ],
)
def test_nobody_else_gets_it(monkeypatch, site, url):
    monkeypatch.setenv("BRAINSCORE_SITE", site)
    monkeypatch.setenv("BRAINSCORE_TOKEN", "bs_mine")
    assert _token_for(url) == {}


def test_it_is_sent_encrypted(monkeypatch):
    monkeypatch.setenv("BRAINSCORE_SITE", "https://example.org/")
    monkeypatch.setenv("BRAINSCORE_TOKEN", "bs_mine")
    assert _token_for("https://EXAMPLE.org:443/a.csv") == {"Authorization": "Bearer bs_mine"}
