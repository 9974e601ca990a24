"""`deploy/nginx.conf` as a real nginx on this machine understands it, in front of a site."""

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.contrib.auth.models import Permission

from brainscore_core.receipts.environment import platform_code
from brainscore_web.accounts.models import ApiToken

DEPLOYED = Path(__file__).parents[3] / "deploy" / "nginx.conf"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
HOST = "www.example.org"

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow(reason="starts nginx in front of a site"),
    pytest.mark.skipif(NGINX is None, reason="needs nginx (apt install nginx)"),
]


def write_certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))


def free_ports(number):
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [server.getsockname()[1] for server in sockets]


@pytest.fixture
def proxy(request, settings, tmp_path):
    """Ports of nginx for HTTP and HTTPS; only ports and paths of the deployed file are replaced.

    The address of a visitor is what the header `X-Visitor` names.
    """
    settings.ALLOWED_HOSTS = [HOST, "localhost"]
    settings.BEHIND_PROXY = settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    site = request.getfixturevalue("live_server").url.removeprefix("http://")
    plain, secure = free_ports(2)
    write_certificate(tmp_path)
    text = DEPLOYED.read_text().replace("127.0.0.1:8000", site).replace(f"/etc/letsencrypt/live/{HOST}", str(tmp_path))
    text = re.sub(r"listen \[::\].*;", "", text)
    text = text.replace("listen 80;", f"listen 127.0.0.1:{plain};").replace("listen 443", f"listen 127.0.0.1:{secure}")
    folders = "\n".join(
        f"{name}_temp_path {tmp_path / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(f"""
        {"user root;" if os.getuid() == 0 else ""}
        daemon off; pid {tmp_path / "pid"}; worker_processes 1; error_log stderr;
        events {{ }}
        http {{
            access_log off; {folders}
            set_real_ip_from 127.0.0.1; real_ip_header X-Visitor;
            {text}
        }}""")
    with (tmp_path / "errors").open("wb") as errors:
        process = subprocess.Popen([NGINX, "-p", tmp_path, "-c", tmp_path / "nginx.conf"], stderr=errors)
    for _ in range(100):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", secure), 1).close()
            break
        assert process.poll() is None, (tmp_path / "errors").read_text()
        time.sleep(0.1)
    yield plain, secure
    process.terminate()
    assert process.wait(30) == 0


def ask(port, method, path, body=None, **headers):
    """Status, headers and body."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusting(), timeout=30)
    connection.request(method, path, body, {"Host": HOST, **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def trusting(*protocols):
    context = ssl._create_unverified_context()
    if protocols:
        context.set_alpn_protocols(protocols)
    return context


def test_a_remote_worker_behind_it_takes_pairs_and_uploads(proxy, scorer):
    scorer.user_permissions.add(Permission.objects.get(codename="run_jobs"))
    token = {"Authorization": f"Bearer {ApiToken.issue(scorer, 'worker', ['jobs:run'])[1]}"}
    body = json.dumps({"worker": "lab", "code": platform_code(), "version": "1"})
    status, _, content = ask(proxy[1], "POST", "/api/v1/work", body, **token, **{"Content-Type": "application/json"})
    assert (status, json.loads(content)) == (200, {"pair": None, "reason": ""})
    large = b"0" * 30_000_000  # more than other requests may have
    assert ask(proxy[1], "POST", "/api/v1/receipts", large[:1], **{"Content-Length": "30000000"})[0] == 413
    kind = {"Content-Type": "application/zip"}
    status, _, content = ask(proxy[1], "POST", "/api/v1/work/1/result?worker=lab&lease=x", large, **token, **kind)
    assert status < 500
    assert status != 413
    assert b"title" in content  # of the site, not of nginx


def test_it_serves_pages_over_https_and_http_2_and_hides_the_metrics(proxy):
    plain, secure = proxy
    connection = http.client.HTTPConnection("127.0.0.1", plain, timeout=30)
    connection.request("GET", "/faq/?x=1", headers={"Host": HOST})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (301, f"https://{HOST}/faq/?x=1")
    assert ask(secure, "GET", "/health/live")[0] == 200
    assert ask(secure, "GET", "/metrics")[0] == 404
    with (
        socket.create_connection(("127.0.0.1", secure)) as connected,
        trusting("h2", "http/1.1").wrap_socket(connected, server_hostname=HOST) as encrypted,
    ):
        assert encrypted.selected_alpn_protocol() == "h2"


@pytest.mark.parametrize(
    ("same", "other"),
    [
        ([f"2001:db8:1:2:{n:x}::{n + 1}" for n in range(8)], "2001:db8:1:3::1"),
        ([f"2001:0:0:a0a::{n:x}:1:1" for n in range(8)], "2001:0:0:a0b::1"),  # 0x0a is a line feed
        (["192.0.2.1"] * 8, "192.0.2.2"),
    ],
)
def test_connections_are_limited_by_address_and_by_network_of_ipv6(proxy, same, other):
    def started(stack, visitor):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", proxy[1])))
        encrypted = stack.enter_context(trusting().wrap_socket(connection, server_hostname=HOST))
        lines = ("POST /uploads/files/ HTTP/1.1", f"Host: {HOST}", f"X-Visitor: {visitor}", "Content-Length: 9")
        encrypted.sendall("\r\n".join((*lines, "", "")).encode())  # and the body never comes

    with ExitStack() as stack:
        for visitor in same:
            started(stack, visitor)
        time.sleep(0.5)
        assert ask(proxy[1], "GET", "/uploads/", **{"X-Visitor": same[-1]})[0] == 429
        assert ask(proxy[1], "GET", "/uploads/", **{"X-Visitor": other})[0] != 429


def test_what_a_visitor_says_of_the_address_does_not_count(proxy, settings):
    settings.API_RATES = {"anonymous": 2, "known": 2}
    claims = [{"X-Forwarded-For": f"203.0.113.{n}", "X-Visitor": "198.51.100.7"} for n in range(3)]
    assert [ask(proxy[1], "GET", "/api/v1/leaderboard", **claim)[0] for claim in claims][-1] == 429
