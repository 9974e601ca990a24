"""The database as files: on SQLite a copy of it, on PostgreSQL the rows of each table, all as of one moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.db import connection, transaction

from brainscore_core.errors import UserError

__all__ = ["Files", "Snapshot", "engine", "snapshot"]

_FILES_OF_UPLOADS = """
    SELECT f.bucket, f.key, f.version_id, f.token, f.size, f.sha256, u.state
    FROM uploads_uploadedfile f JOIN uploads_upload u ON u.id = f.upload_id ORDER BY f.id
"""
_PICTURES = "SELECT image FROM leaderboard_stimulussample ORDER BY id"
_MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY id"


class Files(NamedTuple):
    """What the database says is outside of it."""

    published: list[dict[str, Any]]
    """Uploaded files in their place: bucket, key, version_id, size, sha256."""
    arrived: list[str]
    """Tokens of uploaded files that were not published yet."""
    pictures: list[str]
    """Names below the folder of media."""


class Asks(Protocol):
    """Answers a query with its rows."""

    def __call__(self, query: str) -> list[tuple[Any, ...]]: ...


class Snapshot(NamedTuple):
    """The database as of one moment."""

    ask: Asks
    tables: dict[str, int]
    columns: dict[str, list[str]]
    sequences: dict[str, int | None]

    @property
    def migrations(self) -> list[list[str]]:
        """Those that were applied: app and name."""
        return [list(row) for row in self.ask(_MIGRATIONS)]

    @property
    def files(self) -> Files:
        """What it says is outside of it."""
        published, arrived = [], []
        for bucket, key, version_id, token, size, sha256, state in self.ask(_FILES_OF_UPLOADS):
            if state == "accepted" and version_id:
                published.append(
                    {"bucket": bucket, "key": key, "version_id": version_id, "size": size, "sha256": sha256}
                )
            elif state in ("receiving", "checking") and token and size is not None:
                arrived.append(token)
        return Files(published, arrived, [row[0] for row in self.ask(_PICTURES) if row[0]])


def engine() -> str:
    """``'sqlite'`` or ``'postgresql'``."""
    return str(connection.vendor)


@contextmanager
def snapshot(folder: Path) -> Iterator[Snapshot]:
    """Write the database into a folder, while others go on writing to it.

    Parameters
    ----------
    folder : pathlib.Path
        There is nothing in it yet.
    """
    folder.mkdir(parents=True)
    with _of_sqlite(folder) if engine() == "sqlite" else _of_postgresql(folder) as made:
        yield made


@contextmanager
def _of_sqlite(folder: Path) -> Iterator[Snapshot]:
    path = folder / "site.sqlite3"
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, which is whole
        (state,) = copy.execute("PRAGMA integrity_check").fetchone()
        if state != "ok":
            raise UserError(f"the database is damaged: {state}", remedy="restore the last backup that is whole")

        def ask(query: str) -> list[tuple[Any, ...]]:
            return list(copy.execute(query).fetchall())

        names = [
            row[0]
            for row in ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if row[0][:7] != "sqlite_"
        ]
        tables = {name: ask(f'SELECT count(*) FROM "{name}"')[0][0] for name in names}  # noqa: S608 # its own names
        yield Snapshot(ask, tables, {}, {})


@contextmanager
def _of_postgresql(folder: Path) -> Iterator[Snapshot]:
    quote = connection.ops.quote_name
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

        def ask(query: str) -> list[tuple[Any, ...]]:
            cursor.execute(query)
            return list(cursor.fetchall())

        tables, columns = {}, {}
        for name in sorted(connection.introspection.table_names(cursor)):
            columns[name] = [one.name for one in connection.introspection.get_table_description(cursor, name)]
            listed = ", ".join(quote(column) for column in columns[name])
            with (
                (folder / f"{name}.copy").open("wb") as file,
                cursor.cursor.copy(f"COPY {quote(name)} ({listed}) TO STDOUT") as rows,
            ):
                for piece in rows:
                    file.write(piece)
            tables[name] = ask(f"SELECT count(*) FROM {quote(name)}")[0][0]  # noqa: S608 # its own names
        found = ask("SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1")
        yield Snapshot(ask, tables, columns, dict(found))
