"""Metrics: who gets them, what is in them, and that they are of all processes together."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from brainscore_web.accounts.models import User
from brainscore_web.jobs.models import Email
from brainscore_web.jobs.workers import record_heartbeat
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.operations import logs
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Revision, Step, Submission
from brainscore_web.uploads.models import Upload, UploadedFile


def values(text):
    """By name and labels."""
    return {
        (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_they_are_for_this_machine_and_for_the_token(client, db, settings, staff):
    far = {"REMOTE_ADDR": "203.0.113.7"}
    settings.OPERATIONS = {**settings.OPERATIONS, "metrics_token": ""}
    assert client.get("/metrics").status_code == 200
    assert client.get("/metrics", **far).status_code == 404
    assert client.get("/metrics", HTTP_X_FORWARDED_FOR="127.0.0.1").status_code == 404
    assert client.get("/metrics", **far, HTTP_AUTHORIZATION="Bearer ").status_code == 404
    settings.OPERATIONS = {**settings.OPERATIONS, "metrics_token": "long-and-random"}
    for sent, status in (("Bearer long-and-random", 200), ("Bearer wrong", 404), ("long-and-random", 404)):
        assert client.get("/metrics", **far, HTTP_AUTHORIZATION=sent).status_code == status
    client.force_login(staff)
    assert client.get("/metrics", **far).status_code == 404


def test_what_is_in_the_database(client, owner):
    now = timezone.now()
    model, leaf = VisionModel.objects.create(identifier="m"), Benchmark.objects.create(identifier="b")
    Job.objects.create(model=model, benchmark=leaf, why="x", due=now - timedelta(hours=1))
    Score.objects.create(
        receipt="r", model=model, benchmark=leaf, version="1", state="scored", created=now - timedelta(hours=2)
    )
    made = Submission.objects.create(owner=owner, title="t", state="queued")
    revision = Revision.objects.create(submission=made, number=1, archive=b"x", digest="x", size=1)
    Step.objects.create(revision=revision, kind="check", order=1, state="running")
    Step.objects.create(revision=revision, kind="test", order=2)
    Email.objects.create(to=owner, subject="x", body="x")
    Email.objects.create(to=owner, subject="x", body="x", sent=now)
    upload = Upload.objects.create(owner=owner, identifier="x", assembly_identifier="x", state="accepted")
    UploadedFile.objects.create(upload=upload, kind="csv", size=1234)
    record_heartbeat()
    answer = client.get("/metrics")
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    text = answer.content.decode()
    found = values(text)
    assert found["brainscore_database_up",] == 1
    assert found["brainscore_steps", "check", "running"] == 1
    assert found["brainscore_steps", "test", "waiting"] == 1
    assert found["brainscore_jobs", "waiting"] == 1
    assert found["brainscore_submissions", "queued"] == 1
    assert found["brainscore_letters_unsent",] == 1
    assert found["brainscore_uploads_bytes",] == 1234
    assert found["brainscore_uploads", "accepted"] == 1
    assert found["brainscore_last_receipt_age_seconds",] == pytest.approx(7200, abs=60)
    assert found["brainscore_oldest_seconds", "jobs"] == pytest.approx(3600, abs=60)
    assert found["brainscore_oldest_seconds", "steps"] == 0
    assert found["brainscore_beat_age_seconds", "worker"] < 60
    assert found["brainscore_free_bytes", "site"] > 0
    assert not any("request" in name for name, *_ in found)  # of one process alone they would be wrong
    assert "@" not in logs.without_secrets(text)
    assert User.objects.get(pk=owner.pk).email not in text


def test_an_empty_site_has_metrics(client, db):
    found = values(client.get("/metrics").content.decode())
    assert found["brainscore_letters_unsent",] == 0
    assert not any(name == "brainscore_last_receipt_age_seconds" for name, *_ in found)


def test_a_database_that_is_down_is_told(client, db, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise OperationalError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        patch.setattr(connection, "chunked_cursor", refuse)
        answer = client.get("/metrics")
    assert values(answer.content.decode())["brainscore_database_up",] == 0


SERVER = """
import sys
from brainscore_web.processes import set_up
from brainscore_web.serving import listen, serve
set_up()
taken = listen("127.0.0.1", 0)
print(taken.getsockname()[1], flush=True)
serve(taken, workers=2)
"""


@pytest.fixture
def server(tmp_path, django_db_setup):
    """Two processes that answer, as `brainscore serve` starts them; gives its address and the folder of counts."""
    log = (tmp_path / "log").open("w+")
    known = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env={
            **known,
            "BRAINSCORE_SITE_HOME": str(tmp_path / "site"),
            "DATABASE_URL": django_db_setup.write(tmp_path / "site"),
            "BRAINSCORE_SITE_LOG": "json",
            "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "counts"),
        },
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    (tmp_path / "counts").mkdir()
    (tmp_path / "counts" / "counter_1.db").write_bytes(b"of a server that ran before")
    port = process.stdout.readline().strip()
    assert port, (tmp_path / "log").read_text()
    yield f"http://127.0.0.1:{port}", tmp_path / "counts"
    process.terminate()
    process.wait(timeout=30)
    log.close()


def ask(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode()


@pytest.mark.slow(reason="starts a server")
def test_two_processes_count_together(server):
    address, folder = server
    sent = 0
    until = time.monotonic() + 60
    with ThreadPoolExecutor(8) as pool:
        while len(list(folder.glob("counter_*.db"))) < 2 and time.monotonic() < until:
            sent += len(list(pool.map(ask, [f"{address}/health/live"] * 40)))
        of_live = ("brainscore_requests_total", "GET", "200", "operations:live")
        scraped = [values(one) for one in pool.map(ask, [f"{address}/metrics"] * 8)]
    processes = {int(re.search(r"\d+", path.name)[0]) for path in folder.glob("counter_*.db")}
    assert len(processes) == 2
    assert [one[of_live] for one in scraped] == [sent] * 8
    assert scraped[0]["brainscore_request_seconds_count", "GET", "operations:live"] == sent

    os.kill(processes.pop(), signal.SIGKILL)
    time.sleep(0.5)
    assert values(ask(f"{address}/metrics"))[of_live] == sent  # what it counted stays

    lines = [json.loads(line) for line in (folder.parent / "log").read_text().splitlines()]
    assert sum(line.get("view") == "operations:live" for line in lines) == sent
    identifiers = [line["id"] for line in lines if line.get("view")]
    assert len(set(identifiers)) == len(identifiers)
    until = time.monotonic() + 20
    while "gunicorn.error" not in (text := (folder.parent / "log").read_text()) and time.monotonic() < until:
        time.sleep(0.2)
    told = [json.loads(line) for line in text.splitlines()]  # the server's own lines, too
    assert any("SIGKILL" in line["message"] for line in told if line["logger"] == "gunicorn.error")
