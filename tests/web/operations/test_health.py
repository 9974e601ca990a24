"""Health: what is said, and to whom."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web import environment
from brainscore_web.jobs.models import Heartbeat
from brainscore_web.jobs.workers import heartbeat_ages, record_heartbeat
from brainscore_web.operations import health
from brainscore_web.operations.health import worker_packages
from brainscore_web.serving import make_worker
from brainscore_web.submissions.pipeline.testing import sandbox_problem

FAR = {"REMOTE_ADDR": "203.0.113.7"}
FORWARDED = {"HTTP_X_FORWARDED_FOR": "203.0.113.7"}


@pytest.fixture(autouse=True)
def _anew(settings, tmp_path):
    settings.SITE_HOME = tmp_path / "site"
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "uploads")}
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "folder": str(tmp_path / "p"), "results": str(tmp_path / "r")}
    settings.OPERATIONS = {**settings.OPERATIONS, "free": 1}
    health.clear_checks()
    yield
    health.clear_checks()


def told(client, name, **extra):
    health.clear_checks()
    answer = client.get("/health/ready", **extra)
    return answer.status_code, next(one for one in answer.json()["checks"] if one["name"] == name)


def test_alive_without_a_database(client):
    """Without the mark of the database each query fails."""
    answer = client.get("/health/live")
    assert answer.json() == {"state": "live"}
    assert "no-store" in answer["Cache-Control"]


def test_ready(client, db):
    record_heartbeat()
    answer = client.get("/health/ready")
    assert answer.status_code == 200
    assert answer.json()["state"] == "ready"
    assert {one["state"] for one in answer.json()["checks"]} == {"fine"}
    assert "brainscore" not in {path.name for path in (health.folders()["site"]).iterdir()}  # nothing is left there
    assert list(health.folders()["uploads"].iterdir()) == []


@pytest.mark.parametrize("far", [FAR, FORWARDED, {"HTTP_X_REAL_IP": "203.0.113.7"}, {"REMOTE_ADDR": ""}])
def test_others_are_told_no_details(client, db, member, staff, settings, far):
    assert client.get("/health/ready", **far).json() == {"state": "ready"}
    client.force_login(member)
    assert client.get("/health/ready", **far).json() == {"state": "ready"}
    client.force_login(staff)
    assert "checks" in client.get("/health/ready", **far).json()
    client.logout()
    settings.OPERATIONS = {**settings.OPERATIONS, "metrics_token": "long-and-random"}
    token = {"HTTP_AUTHORIZATION": "Bearer long-and-random"}
    assert "checks" in client.get("/health/ready", **far, **token).json()


def test_a_database_that_is_down(client, db, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise OperationalError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        answer = client.get("/health/ready", **FAR)
        status, check = told(client, "database")
    assert answer.status_code == 503
    assert answer.json() == {"state": "not ready"}
    assert (status, check["state"]) == (503, "failed")
    assert "connection refused" in check["told"]


def test_migrations_that_are_missing(client, db, monkeypatch):
    from django.db.migrations.loader import MigrationLoader
    from django.db.migrations.recorder import MigrationRecorder

    monkeypatch.setattr(health, "_migrated", False)
    (newest,) = MigrationLoader(connection).graph.leaf_nodes("jobs")
    MigrationRecorder(connection).record_unapplied(*newest)
    status, check = told(client, "migrations")
    assert status == 503
    assert "migrate" in check["told"]


@pytest.mark.parametrize(("name", "where"), [("site folder", "SITE_HOME"), ("storage", "UPLOADS")])
def test_folders_that_cannot_be_written(client, db, settings, tmp_path, name, where):
    (tmp_path / "file").write_text("x")
    there = tmp_path / "file" / "below"
    setattr(settings, where, there if where == "SITE_HOME" else {**settings.UPLOADS, "address": str(there)})
    status, check = told(client, name)
    assert (status, check["state"]) == (503, "failed")


def test_a_full_disk(client, db, settings):
    settings.OPERATIONS = {**settings.OPERATIONS, "free": 10**18}
    status, check = told(client, "disk")
    assert status == 503
    assert " are free in the folder of " in check["told"]
    assert "at least 1,000,000.0 TB are required" in check["told"]


@pytest.mark.parametrize(("expected", "status", "state"), [(False, 200, "warning"), (True, 503, "failed")])
def test_a_missing_worker(client, db, settings, expected, status, state):
    """A site that has workers is not ready without one; where none is configured, it is a warning."""
    settings.OPERATIONS = {**settings.OPERATIONS, "worker": expected}
    assert told(client, "worker")[1]["state"] == state
    record_heartbeat("worker", "here:1")
    assert told(client, "worker")[1]["state"] == "fine"
    Heartbeat.objects.update(seen=timezone.now() - timedelta(minutes=10))
    answered, check = told(client, "worker")
    assert (answered, check["state"]) == (status, state)
    assert "600 s" in check["told"]


def test_missing_packages_are_named_before_anything_is_sent(client, db, monkeypatch):
    assert told(client, "packages of the worker")[1]["state"] == "fine"
    assert worker_packages() == []
    monkeypatch.setattr(environment, "PathFinder", SimpleNamespace(find_spec=lambda name: None))
    status, check = told(client, "packages of the worker")
    assert (status, check["state"]) == (200, "warning")
    assert (
        ": torch, torchvision, timm, transformers, psutil, pytest are not installed\npip install 'brainscore[worker]'"
        in check["told"]
    )
    (warning,) = worker_packages()
    assert (warning.id, warning.hint) == ("brainscore_web.W001", "pip install 'brainscore[worker]'")
    with pytest.raises(UserError, match="not installed"):
        make_worker()
    assert "not installed" in str(sandbox_problem())


def test_beats_are_one_row_a_process(db):
    for _ in range(3):
        record_heartbeat("worker", "here:1")
    record_heartbeat("worker", "here:2")
    assert Heartbeat.objects.count() == 2
    assert heartbeat_ages()["worker"] < 60


def test_a_bucket_that_does_not_answer(client, db, settings, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    settings.UPLOADS = {**settings.UPLOADS, "address": "s3://nowhere-to-be-found/x"}
    status, check = told(client, "storage")
    assert (status, check["state"]) == (503, "failed")


def test_it_answers_by_any_name_and_without_tls(client, db, settings):
    settings.ALLOWED_HOSTS = ["www.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    for address in ("/health/live", "/health/ready", "/metrics"):
        assert client.get(address, headers={"Host": "10.1.2.3:8000"}).status_code == 200
    assert client.get("/about/", headers={"Host": "10.1.2.3:8000"}).status_code == 400


def test_answers_are_made_once_in_a_while(client, db, django_assert_num_queries):
    client.get("/health/ready", **FAR)
    with django_assert_num_queries(0):
        client.get("/health/ready", **FORWARDED)


@pytest.mark.parametrize("name", ["PUBLIC", "BEHIND_PROXY"])
def test_a_proxy_on_this_machine_that_sets_no_header_gets_no_details(client, db, settings, name):
    setattr(settings, name, True)
    for host in ("testserver", "localhost", "127.0.0.1"):
        assert "checks" not in client.get("/health/ready", headers={"host": host}).json()
        assert client.get("/metrics", headers={"host": host}).status_code == 404
