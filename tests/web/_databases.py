"""The migrated, empty database, kept in memory: for tests that commit, and for sites of the tests' own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from urllib.parse import quote

from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test import TransactionTestCase

from brainscore_web.leaderboard import revision, simulated
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel

_FILLED = (Benchmark, BenchmarkVersion, VisionModel, Score)
"""What `fill` writes, in an order in which it can be written."""
_known: dict[tuple, tuple] = {}


class Template:
    """A database as migrations leave it; on SQLite it can be written and put back.

    Attributes
    ----------
    content : bytes
        An SQLite file; empty where the database is another.
    """

    def __init__(self):
        connection.ensure_connection()
        self.content = connection.connection.serialize() if connection.vendor == "sqlite" else b""

    def write(self, folder):
        """Make the database of a site whose folder this is; on PostgreSQL it is that of the test. Gives its address."""
        if self.content:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "site.sqlite3").write_bytes(self.content)
            return f"sqlite:///{folder}/site.sqlite3"
        known = connection.settings_dict
        return address_on_server(known, known["NAME"])

    def restore(self):
        """Make the test's database what it was at first; Django's ``flush`` takes fifty times as long."""
        connection.ensure_connection()
        with closing(sqlite3.connect(":memory:")) as source:
            source.deserialize(self.content)
            source.backup(connection.connection)
        ContentType.objects.clear_cache()

    def use_after_tests_that_commit(self):
        """Let these end with `restore`, where that is possible. Gives how to stop."""
        emptied = TransactionTestCase._fixture_teardown

        def restored(case):
            try:
                self.restore()
            except sqlite3.OperationalError:  # something that the test began still reads or writes
                emptied(case)

        if self.content:
            TransactionTestCase._fixture_teardown = restored
        return partial(setattr, TransactionTestCase, "_fixture_teardown", emptied)


def address_on_server(known, name):
    """The address of the database `name` on the server of the settings `known`."""
    who = known["USER"] + (f":{known['PASSWORD']}" if known["PASSWORD"] else "")
    port = f":{known['PORT']}" if known["PORT"] else ""
    return f"postgres://{who}@{quote(known['HOST'], safe='')}{port}/{name}"


def fill(**options):
    """Do what `brainscore_web.leaderboard.simulated.fill` does; the rows are computed once in a process."""
    if connection.vendor != "sqlite" or any(table.objects.exists() for table in _FILLED):
        return simulated.fill(**options)
    key = tuple(sorted(options.items()))
    with transaction.atomic():
        if key in _known:
            made, rows = _known[key]
            for table, found in zip(_FILLED, rows, strict=True):
                marks = ", ".join("?" * len(found[0]))
                connection.connection.executemany(f"INSERT INTO {table._meta.db_table} VALUES ({marks})", found)
            revision.bump()
        else:
            made = simulated.fill(**options)
            read = connection.connection.execute
            rows = [read(f"SELECT * FROM {table._meta.db_table}").fetchall() for table in _FILLED]
            _known[key] = made, rows
    return simulated.Simulated(*map(list, made))
