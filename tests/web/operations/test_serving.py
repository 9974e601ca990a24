"""The server's processes, and the database."""

import logging

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
