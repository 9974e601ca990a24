"""The worker's command, on a site with a database and folders of its own."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings as django_settings

from brainscore_web.scoring import worker

from .._databases import address_on_server

pytestmark = pytest.mark.django_db  # without any such test there is no database to copy
PLACE = Path(__file__).with_name("_scenarios.py")


def _environment(home):
    kept = {
        name: text for name, text in os.environ.items() if not name.startswith(("BRAINSCORE_", "DATABASE_", "DJANGO_"))
    }
    return kept | {
        "BRAINSCORE_HOME": str(home),
        "BRAINSCORE_SITE_HOME": str(home),
        "BRAINIO_HOME": str(home / "brainio"),
        "BRAINSCORE_SITE_SCORED_MODELS": "pixels",
        "BRAINSCORE_SITE_SCORED_BENCHMARKS": "Simulated2026.V1-rdm",
        "OMP_NUM_THREADS": "1",
    }


def _python(arguments, environment):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=2400
    )
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def tell(tmp_path, django_db_setup):
    """Run a scenario."""
    home = tmp_path / "site"
    home.mkdir()
    drawn = Path(os.environ["BRAINSCORE_HOME"], "simulated2026")
    if drawn.is_dir():  # the stimuli of Simulated2026, which take seconds
        (home / drawn.name).symlink_to(drawn)
    environment = _environment(home)
    known = django_settings.DATABASES["default"]
    if "postgresql" not in known["ENGINE"]:
        django_db_setup.write(home)
        yield lambda name: _python([PLACE, name], environment)
        return
    import psycopg

    name = f"scoring_{uuid.uuid4().hex}"
    where = {
        "host": known["HOST"],
        "port": known["PORT"] or None,
        "user": known["USER"],
        "password": known["PASSWORD"] or None,
    }
    with psycopg.connect(dbname="postgres", autocommit=True, **where) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        environment["DATABASE_URL"] = address_on_server(known, name)
        _python(["-m", "brainscore_web", "migrate", "-v0"], environment)
        yield lambda scenario: _python([PLACE, scenario], environment)
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.mark.slow(reason="scores submitted models in the sandbox")
def test_what_is_submitted_is_scored_and_shown(tell):
    tell("scored")


@pytest.mark.slow(reason="ends a worker in the midst of its work, and starts another")
def test_a_killed_worker_leaves_its_pair_to_another(tell):
    tell("killed")


@pytest.mark.slow(reason="ends a worker in the midst of its work, and starts another")
def test_pairs_are_scored_on_a_cluster(tell):
    pytest.importorskip("distributed")
    tell("on_a_cluster")


def test_processes_of_tasks_are_started_again_while_a_pair_is_scored(monkeypatch):
    job, lines = SimpleNamespace(row=SimpleNamespace(model_id=1, pk=1), attempts=1), []
    monkeypatch.setattr(worker, "_PAUSE", 0.02)
    monkeypatch.setattr(worker, "_TASK_PROCESSES", ("long",))
    monkeypatch.setattr(worker, "claim_job", lambda *_, **__: job)
    monkeypatch.setattr(worker.pipeline, "remove_leftovers", lambda: None)
    monkeypatch.setattr(worker, "connection", SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(worker, "close_old_connections", lambda: None)
    monkeypatch.setattr(worker.Worker, "_sweep_regularly", lambda _: None)
    monkeypatch.setattr(worker.Worker, "_check_sandbox", lambda _: None)
    running = worker.Worker(say=lines.append, once=True)
    (tasks,) = running._tasks
    tasks._command = ["sleep", "60"]

    def score(_):
        first = eventually(lambda: tasks._process)
        first.kill()
        assert eventually(lambda: tasks._process is not first)
        assert tasks._process.poll() is None

    def eventually(found):
        end = time.monotonic() + 5
        while not (value := found()) and time.monotonic() < end:
            time.sleep(0.01)
        return value

    failures = []
    monkeypatch.setattr(running._runner, "run", score)
    monkeypatch.setattr(worker, "release_job", lambda *_, **__: failures.append("the pair failed"))
    running.run()
    assert not failures
    assert tasks._process.poll() == -signal.SIGTERM
    assert "The process of long tasks ended with -9; starting it again." in lines
