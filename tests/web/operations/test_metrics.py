"""Metrics: who gets them, what is in them, and that they are of all processes together."""

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
