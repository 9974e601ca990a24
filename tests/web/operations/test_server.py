"""Processes of the server: signals while they load, settings of gunicorn, buffered and streamed requests."""

import io
import logging.config
import signal

import pytest
from prometheus_client import generate_latest, values
from prometheus_client.parser import text_string_to_metric_families

from brainscore_web.operations import health, server

UPLOAD = "/uploads/5f3c0e55-8d5b-4d44-8cb7-6d1f3a0b8a11/zip/"


def test_signals_end_a_process_at_once_only_while_it_loads(monkeypatch):
    exits = []
    monkeypatch.setattr(server.os, "_exit", exits.append)
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
    before = [signal.getsignal(number) for number in numbers]
    with server.exit_at_once_on_signals():
        for number in numbers:
            signal.raise_signal(number)
    assert exits == [0, 0, 0]
    assert [signal.getsignal(number) for number in numbers] == before


def test_the_server_logs_as_the_site_does(settings):
    config = server.server_settings()["logconfig_dict"]
    logging.config.DictConfigurator(config)  # the form is valid
    assert config["formatters"] == settings.LOGGING["formatters"]
    assert {config["loggers"][f"gunicorn.{name}"]["level"] for name in ("error", "access")} == {"WARNING"}
    assert "gunicorn.error" not in settings.LOGGING["loggers"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (UPLOAD, "200 OK"),
        ("/accounts/login/", "413"),
        ("/nowhere", "413"),
    ],
)
def test_only_uploads_of_data_may_have_large_bodies(settings, path, status):
    received, answers = [], []

    def application(environ, start_response):
        received.append(environ["wsgi.input"].read(10))
        start_response("200 OK", [("Content-Length", "0")])
        return [b""]

    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    buffered = server.buffered_requests(application)
    environ = {"PATH_INFO": path, "CONTENT_LENGTH": "99999999999", "wsgi.input": io.BytesIO(b"much data")}
    list(buffered(environ, lambda answer, headers: answers.append(answer)))
    assert answers[0].startswith(status)
    assert received == ([b"much data"] if status == "200 OK" else [])


def test_heads_have_no_body(settings):
    """gunicorn would log a warning for each."""

    def application(environ, start_response):
        start_response("200 OK", [("Content-Length", "4")])
        return [b"page"]

    buffered, answers = server.buffered_requests(application), []
    for method, body in (("GET", [b"page"]), ("HEAD", [])):
        environ = {"PATH_INFO": "/", "REQUEST_METHOD": method}
        assert list(buffered(environ, lambda answer, headers: answers.append(headers))) == body
    assert answers == [[("Content-Length", "4")]] * 2


def test_requests_are_counted_in_the_folder_that_all_processes_share(monkeypatch, tmp_path):
    monkeypatch.setattr(health, "_made", [])
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.delenv(health.METRICS_FOLDER_VARIABLE, raising=False)
    health.count_request("pages:home", "GET", 200, 0.02)
    assert (health.request_counts(), health._made) == (None, [])

    monkeypatch.setenv(health.METRICS_FOLDER_VARIABLE, str(tmp_path))
    for seconds in (0.02, 0.3):
        health.count_request("pages:home", "GET", 200, seconds)
    samples = {
        (sample.name, sample.labels.get("le")): sample.value
        for family in text_string_to_metric_families(generate_latest(health.request_counts()).decode())
        for sample in family.samples
    }
    assert samples["brainscore_requests_total", None] == 2
    assert samples["brainscore_request_seconds_bucket", "0.1"] == 1
    assert samples["brainscore_request_seconds_sum", None] == pytest.approx(0.32)

    health.process_ended(1)  # counts of ended processes stay
    assert b"brainscore_requests_total" in generate_latest(health.request_counts())
