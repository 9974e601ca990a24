"""The server's processes, and the database."""

import logging
import os
import subprocess
import sys
import time

import pytest
from django import db
from django.db import InterfaceError, OperationalError
from gunicorn.app.base import BaseApplication

from brainscore_web import serving
from brainscore_web.leaderboard import snapshot


def test_processes_share_no_connection(monkeypatch):
    """What was opened to make the site ready is closed before there are several processes; two would talk at once."""
    told = []

    class Connections:
        def close_all(self):
            told.append("closed")

    monkeypatch.setattr("sys.argv", ["brainscore"])
    monkeypatch.setattr(db, "connections", Connections())
    monkeypatch.setattr(BaseApplication, "run", lambda self: told.append("runs"))
    with serving.listen("127.0.0.1", 0) as taken:
        serving.serve(taken, workers=2)
    assert told == ["closed", "runs"]


def test_a_worker_that_ends_is_started_again(monkeypatch, capsys):
    started = []

    class Ended:
        def __init__(self, command, **options):
            started.append(command)

        def poll(self):
            return 1

        def wait(self, timeout):
            return 1

        def terminate(self):
            pass

    monkeypatch.setattr(serving.subprocess, "Popen", Ended)
    monkeypatch.setattr(serving, "_SHORTEST_PAUSE", 0.5)
    monkeypatch.setattr(serving, "_LONGEST_PAUSE", 0.01)
    with serving._worker_process():
        until = time.monotonic() + 10
        while len(started) < 3 and time.monotonic() < until:
            time.sleep(0.01)
    assert len(started) >= 3
    assert capsys.readouterr().err.count("The worker has ended; it is started again in") >= 2


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_a_database_that_is_away_lets_a_process_start(monkeypatch, caplog, kind):
    """One that cannot begin would end the server with all others."""

    def away(*_):
        raise kind("postgres://user:secret@host is away")

    monkeypatch.setattr(snapshot, "snapshot_for", away)
    with caplog.at_level(logging.WARNING):
        serving._warm_caches()
    assert [record.getMessage() for record in caplog.records] == [
        f"The leaderboard could not be loaded in advance: {kind.__name__}"
    ]


READS_ENVIRONMENT = """
import ctypes, os, time
from brainscore_core.isolation.children import hide_environment

def start(action):
    ready, done = os.pipe()
    pid = os.fork()
    if pid == 0:
        if os.getuid() == 0:
            os.setuid(65534)  # root may read everything
            ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # a change of the user also hides a process
        os.write(done, action().encode())
        time.sleep(60)
    return pid, os.read(ready, 1000).decode()

def read(pid):
    try:
        return str(b"DATABASE_URL" in open(f"/proc/{pid}/environ", "rb").read())
    except PermissionError:
        return "refused"

shown, _ = start(lambda: "ready")
hidden, _ = start(lambda: hide_environment() or "ready")
readers = [start(lambda pid=pid: read(pid)) for pid in (shown, hidden)]
for pid in (shown, hidden, *(reader for reader, _ in readers)):
    os.kill(pid, 9)
print(*(found for _, found in readers))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems show no environments")
def test_processes_of_the_same_user_cannot_read_the_secrets_of_the_site():
    environment = {**os.environ, "DATABASE_URL": "postgres://user:secret@host/name"}
    done = subprocess.run(
        [sys.executable, "-c", READS_ENVIRONMENT], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["True", "refused"], done.stderr
