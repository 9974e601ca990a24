"""Bring a backup back; what was there before is left beside."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from brainscore_core.errors import UserError
from brainscore_web.operations.backups._database import engine
from brainscore_web.operations.backups._manifest import Manifest, read_manifest, verify

__all__ = ["restore"]

_PEOPLES = ("accounts_user", "leaderboard_visionmodel", "leaderboard_score", "submissions_submission", "uploads_upload")
"""Tables in which something is as soon as somebody used the site."""


def restore(
    folder: Path, *, replace: bool = False, check_only: bool = False, say: Callable[[str], None] = lambda _: None
) -> Manifest:
    """Make the site what it was when the backup was made. Nothing else may use the site meanwhile.

    Everything is looked at before anything is changed. Files are brought beside their place first, then the database is
    replaced as a whole, then the files move into their place.

    Parameters
    ----------
    folder : pathlib.Path
        The backup.
    replace : bool
        Whether a site that is in use may be replaced. Its files are left beside the new ones.
    check_only : bool
        Whether only to look at the backup.
    say : callable
        Told what happens.

    Returns
    -------
    Manifest
        Of the backup.

    Raises
    ------
    UserError
        If the backup is damaged or of another kind, or the site is in use.
    """
    folder = folder.expanduser().absolute()
    manifest = read_manifest(folder)
    verify(folder, manifest)
    if check_only:
        return manifest
    _require_fit(manifest)
    places = _places(manifest)
    if not replace:
        _require_empty(places)
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    try:
        arriving = {name: _bring_beside(folder / name, place, stamp) for name, place in places.items()}
        if engine() == "sqlite":
            _restore_sqlite(folder / "database" / "site.sqlite3", stamp, say)
        else:
            _restore_postgresql(folder / "database", manifest)
        for name, place in places.items():
            if place.exists() and any(place.iterdir()):
                before = place.with_name(f"{place.name}.before-{stamp}")
                os.replace(place, before)
                say(f"What was in {place} is in {before}: remove it when all is well.")
            elif place.exists():
                place.rmdir()
            os.replace(arriving[name], place)
        _restore_secret(folder, stamp, say)
    except OSError as error:
        raise UserError(
            f"the backup cannot be brought back: {error.strerror or error}", remedy="make room, and do it once more"
        ) from error
    call_command("migrate", verbosity=0)
    if manifest.uploads == "bucket":
        say(f"{len(manifest.objects)} objects of uploads are in their bucket, which was not looked at.")
    return manifest


def _require_fit(manifest: Manifest) -> None:
    """Refuse what this site cannot become."""
    if manifest.engine != engine():
        raise UserError(
            f"the backup is of a site on {manifest.engine}, and this one is on {engine()}",
            remedy="set DATABASE_URL to a database of that kind",
        )
    known = {tuple(key) for key in MigrationLoader(None).disk_migrations}
    if unknown := [f"{app}.{name}" for app, name in manifest.migrations if (app, name) not in known]:
        raise UserError(
            f"the backup is of a later version ({manifest.version}): {unknown[0]} is not known here",
            remedy="install that version, or a later one",
        )
    local = "://" not in str(settings.UPLOADS["address"])
    if local != (manifest.uploads == "folder"):
        there, here = (manifest.uploads, "folder" if local else "bucket")
        raise UserError(
            f"the uploads of the backup are in a {there}, and those of this site in a {here}",
            remedy="set BRAINSCORE_SITE_UPLOADS as it was",
        )


def _places(manifest: Manifest) -> dict[str, Path]:
    found = {"media": Path(settings.MEDIA_ROOT)}
    if manifest.uploads == "folder":
        found["uploads"] = Path(str(settings.UPLOADS["address"])).expanduser().absolute()
    return found


def _require_empty(places: dict[str, Path]) -> None:
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
        for table in there.intersection(_PEOPLES):
            cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")  # noqa: S608 # our own names
            if cursor.fetchone():
                raise UserError("this site is in use", remedy="replace it with --replace")
    for place in places.values():
        if place.exists() and any(path.is_file() for path in place.rglob("*")):
            raise UserError(f"there are files in {place}", remedy="replace them with --replace")


def _bring_beside(source: Path, place: Path, stamp: str) -> Path:
    """Copy files next to where they belong, to be moved there at once."""
    beside = place.with_name(f"{place.name}.restored-{stamp}")
    beside.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, beside)
    else:
        beside.mkdir()
    return beside


def _restore_sqlite(source: Path, stamp: str, say: Callable[[str], None]) -> None:
    """Write the copy over the database, in one transaction of SQLite's; the one before is kept as a file."""
    connection.ensure_connection()
    name = str(connection.settings_dict["NAME"])
    if Path(name).is_file() and not _is_empty():
        before = Path(f"{name}.before-{stamp}")
        with closing(sqlite3.connect(before)) as kept:
            connection.connection.backup(kept)
            kept.execute("PRAGMA journal_mode=DELETE")
        say(f"The database that was there is in {before}: remove it when all is well.")
    with closing(sqlite3.connect(source.as_uri() + "?mode=ro&immutable=1", uri=True)) as copy:
        copy.backup(connection.connection)


def _is_empty() -> bool:
    with connection.cursor() as cursor:
        return not connection.introspection.table_names(cursor)


def _restore_postgresql(folder: Path, manifest: Manifest) -> None:
    """Bring tables to what they were then, and fill them: in one transaction."""
    quote = connection.ops.quote_name
    wanted = {(app, name) for app, name in manifest.migrations}
    with transaction.atomic(durable=True):
        if set(MigrationLoader(connection).applied_migrations) != wanted:
            _tables_as_of(wanted)
        with connection.cursor() as cursor:
            there = sorted(connection.introspection.table_names(cursor))
            cursor.execute(f"TRUNCATE {', '.join(map(quote, there))}")
            for name, columns in manifest.columns.items():
                listed = ", ".join(map(quote, columns))
                with (
                    (folder / f"{name}.copy").open("rb") as file,
                    cursor.cursor.copy(f"COPY {quote(name)} ({listed}) FROM STDIN") as rows,
                ):
                    while piece := file.read(1 << 20):
                        rows.write(piece)
            for sequence, last in manifest.sequences.items():
                cursor.execute("SELECT setval(%s::regclass, %s, %s)", [quote(sequence), last or 1, last is not None])


def _tables_as_of(wanted: set[tuple[str, str]]) -> None:
    """Drop all tables and make them anew, by the migrations that were applied then."""
    with connection.cursor() as cursor:
        if there := connection.introspection.table_names(cursor):
            dropped = ", ".join(map(connection.ops.quote_name, sorted(there)))
            cursor.execute(f"DROP TABLE {dropped} CASCADE")
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    last = [
        key
        for key in wanted
        if key in graph.nodes and not any(child.key in wanted for child in graph.node_map[key].children)
    ]
    executor.migrate(sorted(last))
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what migrations wrote is settled before rows come
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def _restore_secret(folder: Path, stamp: str, say: Callable[[str], None]) -> None:
    kept, place = folder / "secret", Path(settings.SITE_HOME) / "secret"
    if not kept.is_file():
        return
    if os.environ.get("BRAINSCORE_SITE_SECRET"):
        say("The backup has a secret, and BRAINSCORE_SITE_SECRET another: second factors work with the first alone.")
        return
    if place.is_file() and place.read_bytes() != kept.read_bytes():
        os.replace(place, place.with_name(f"secret.before-{stamp}"))
    if not place.exists():
        beside = place.with_name(f".secret-{stamp}")
        place.parent.mkdir(parents=True, exist_ok=True)
        beside.touch(mode=0o600)
        beside.write_bytes(kept.read_bytes())
        os.replace(beside, place)
