"""The migrated, empty database, kept in memory: for tests that commit, and for sites of the tests' own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from urllib.parse import quote

from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.test import TransactionTestCase

from brainscore_web.leaderboard import revision, simulation
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, StoredInfluence, VisionModel

_FILLED = (Benchmark, BenchmarkVersion, VisionModel, Score, StoredInfluence)
"""What `fill` writes, in an order in which it can be written."""
_known: dict[tuple, tuple] = {}


class Template:
    """A database as migrations leave it; sites of tests' own begin with it, and tests that commit end with it.

    Attributes
    ----------
    content : bytes
        An SQLite file; empty on PostgreSQL, whose server keeps a copy of the database.
    """

    def __init__(self):
        connection.ensure_connection()
        self.content = connection.connection.serialize() if connection.vendor == "sqlite" else b""
        self._name = str(connection.settings_dict["NAME"])
        if connection.vendor == "postgresql":
            self._how = " STRATEGY file_copy" if connection.pg_version >= 150_000 else ""
            self._copy(self._name, f"{self._name}_template")

    def _copy(self, name, target):
        connection.close()
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{target}" WITH (FORCE)')
            cursor.execute(f'CREATE DATABASE "{target}" TEMPLATE "{name}"{self._how}')

    def write(self, folder):
        """Make the database of a site whose folder this is; on PostgreSQL it is that of the test. Gives its address."""
        if self.content:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "site.sqlite3").write_bytes(self.content)
            return f"sqlite:///{folder}/site.sqlite3"
        return address_on_server(connection.settings_dict, self._name)

    def restore(self):
        """Make the test's database what it was at first; Django's ``flush`` takes ten to fifty times as long."""
        if self.content:
            connection.ensure_connection()
            with closing(sqlite3.connect(":memory:")) as source:
                source.deserialize(self.content)
                source.backup(connection.connection)
        else:
            self._copy(f"{self._name}_template", self._name)
        ContentType.objects.clear_cache()

    def use_after_tests_that_commit(self):
        """Let these end with `restore`, where that is possible. Gives how to stop."""
        emptied = TransactionTestCase._fixture_teardown

        def restored(case):
            try:
                self.restore()
            except sqlite3.OperationalError:  # something that the test began still reads or writes
                emptied(case)

        def stop():
            TransactionTestCase._fixture_teardown = emptied
            if not self.content:
                with connection._nodb_cursor() as cursor:
                    cursor.execute(f'DROP DATABASE "{self._name}_template"')

        TransactionTestCase._fixture_teardown = restored
        return stop


def address_on_server(known, name):
    """The address of the database `name` on the server of the settings `known`."""
    who = known["USER"] + (f":{known['PASSWORD']}" if known["PASSWORD"] else "")
    port = f":{known['PORT']}" if known["PORT"] else ""
    return f"postgres://{who}@{quote(known['HOST'], safe='')}{port}/{name}"


def fill(**options):
    """Fill the tables as `leaderboard.simulation.simulate_leaderboard` does; computed once a process."""
    if any(table.objects.exists() for table in _FILLED):
        return simulation.simulate_leaderboard(**options)
    key = tuple(sorted(options.items()))
    tables = [table._meta.db_table for table in _FILLED]
    with transaction.atomic(), connection.cursor() as cursor:
        if key in _known:
            made, rows = _known[key]
            for table, found in zip(tables, rows, strict=True):
                _insert(cursor, table, found)
            revision.bump()
        else:
            made = simulation.simulate_leaderboard(**options)
            rows = []
            for table in tables:
                cursor.execute(f"SELECT * FROM {table} ORDER BY id")
                rows.append(cursor.fetchall())
            _known[key] = made, rows
    return simulation.Simulated(*map(list, made))


def _insert(cursor, table, rows):
    """With their keys, the quickest way."""
    if not rows:
        return
    if connection.vendor == "sqlite":
        marks = ", ".join("?" * len(rows[0]))
        connection.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        return
    with cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {max(row[0] for row in rows)})")
