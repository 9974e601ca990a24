"""Backups of the whole site: making, verifying and restoring them."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from brainscore_core.archives import leaves_folder
from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, sync_to_disk
from brainscore_core.paths import site_home
from brainscore_web.jobs.leases import has_ended, process_label
from brainscore_web.jobs.models import Heartbeat
from brainscore_web.processes import serving_lock
from brainscore_web.uploads.storage import BucketStorage

_FILES_OF_UPLOADS = """
    SELECT f.bucket, f.key, f.version_id, f.token, f.size, f.sha256, u.state
    FROM uploads_uploadedfile f JOIN uploads_upload u ON u.id = f.upload_id ORDER BY f.id
"""
_PICTURES = "SELECT image FROM leaderboard_stimulussample ORDER BY id"
_MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY id"


class ReferencedFiles(NamedTuple):
    """Files outside of the database that it refers to."""

    published: list[dict[str, Any]]
    """Published uploaded files: bucket, key, version_id, size, sha256."""
    arrived: list[str]
    """Tokens of uploaded files that are not published yet."""
    pictures: list[str]
    """Names of images below the media folder."""


class Query(Protocol):
    """Runs a query and returns its rows."""

    def __call__(self, query: str) -> list[tuple[Any, ...]]: ...


class Snapshot(NamedTuple):
    """A consistent copy of the database at one time."""

    query: Query
    tables: dict[str, int]
    columns: dict[str, list[str]]
    sequences: dict[str, int | None]

    @property
    def migrations(self) -> list[list[str]]:
        """The applied migrations: app and name."""
        return [list(row) for row in self.query(_MIGRATIONS)]

    @property
    def files(self) -> ReferencedFiles:
        """The files outside of the database that it refers to."""
        published, arrived = [], []
        for bucket, key, version_id, token, size, sha256, state in self.query(_FILES_OF_UPLOADS):
            if state == "accepted" and version_id:
                published.append(
                    {"bucket": bucket, "key": key, "version_id": version_id, "size": size, "sha256": sha256}
                )
            elif state in ("receiving", "checking") and token and size is not None:
                arrived.append(token)
        return ReferencedFiles(published, arrived, [row[0] for row in self.query(_PICTURES) if row[0]])


def engine() -> str:
    """The kind of database: ``'sqlite'`` or ``'postgresql'``."""
    return str(connection.vendor)


@contextmanager
def snapshot(folder: Path) -> Iterator[Snapshot]:
    """Write the database into a folder, while other processes may write to it."""
    folder.mkdir(parents=True)
    with _sqlite_snapshot(folder) if engine() == "sqlite" else _postgresql_snapshot(folder) as database:
        yield database


@contextmanager
def _sqlite_snapshot(folder: Path) -> Iterator[Snapshot]:
    path = folder / "site.sqlite3"
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # a single file without a journal
        (state,) = copy.execute("PRAGMA integrity_check").fetchone()
        if state != "ok":
            raise UserError(f"the database is damaged: {state}", remedy="restore the last complete backup")

        def run(query: str) -> list[tuple[Any, ...]]:
            return list(copy.execute(query).fetchall())

        names = [
            row[0]
            for row in run("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if row[0][:7] != "sqlite_"
        ]
        tables = {name: run(f'SELECT count(*) FROM "{name}"')[0][0] for name in names}  # noqa: S608 # names of its own tables
        yield Snapshot(run, tables, {}, {})


@contextmanager
def _postgresql_snapshot(folder: Path) -> Iterator[Snapshot]:
    quote = connection.ops.quote_name
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

        def run(query: str) -> list[tuple[Any, ...]]:
            cursor.execute(query)
            return list(cursor.fetchall())

        tables, columns = {}, {}
        for name in sorted(connection.introspection.table_names(cursor)):
            columns[name] = [column.name for column in connection.introspection.get_table_description(cursor, name)]
            listed = ", ".join(quote(column) for column in columns[name])
            with (
                (folder / f"{name}.copy").open("wb") as file,
                cursor.cursor.copy(f"COPY {quote(name)} ({listed}) TO STDOUT") as rows,
            ):
                for piece in rows:
                    file.write(piece)
            tables[name] = run(f"SELECT count(*) FROM {quote(name)}")[0][0]  # noqa: S608 # names of its own tables
        sequences = run(
            "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1"
        )
        yield Snapshot(run, tables, columns, dict(sequences))


MANIFEST_NAME = "manifest.json"
_MANIFEST_FORMAT = 1


@dataclass(frozen=True)
class BackupFile:
    """A file of a backup, with its path in the backup."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The content of a backup."""

    made: str  # time of the backup, in UTC
    version: str  # version of the site
    engine: str  # ``'sqlite'`` or ``'postgresql'``
    migrations: list[list[str]]  # the applied migrations
    tables: dict[str, int]  # number of rows of each table
    # columns of each table, in the order of its file; PostgreSQL only
    columns: dict[str, list[str]] = field(default_factory=dict)
    sequences: dict[str, int | None] = field(default_factory=dict)  # last value of each sequence; PostgreSQL only
    # storage of uploaded files: ``'folder'`` (in the backup) or ``'bucket'`` (not in the backup)
    uploads: str = "folder"
    # objects of the bucket that the database refers to: bucket, key, version_id, size, sha256
    objects: list[dict[str, Any]] = field(default_factory=list)
    elsewhere: dict[str, str] = field(default_factory=dict)  # what the backup does not contain, and where it is
    # files that the database refers to and that were missing, if an incomplete backup was requested
    missing: list[str] = field(default_factory=list)
    files: list[BackupFile] = field(default_factory=list)  # all files of the backup except the manifest
    format: int = _MANIFEST_FORMAT

    def write(self, folder: Path) -> None:
        """Write the manifest into a backup."""
        (folder / MANIFEST_NAME).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a backup."""
    try:
        document = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
        if document.get("format") != _MANIFEST_FORMAT:
            raise UserError(
                f"{folder} is a backup in another format", remedy="restore it with the version that made it"
            )
        files = [BackupFile(**file) for file in document.pop("files")]
        manifest = Manifest(**document, files=files)
    except OSError:
        raise UserError(
            f"{folder} is not a complete backup", remedy=f"choose a folder with a {MANIFEST_NAME}"
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UserError(f"the {MANIFEST_NAME} of {folder} cannot be read", remedy="use another backup") from None
    for file in files:
        if leaves_folder(file.path):
            raise UserError(f"the {MANIFEST_NAME} of {folder} names a file outside of it", remedy="use another backup")
    return manifest


def verify(folder: Path, manifest: Manifest) -> None:
    """Compare all files with the manifest."""
    for problem in _problems(folder, manifest):
        raise UserError(f"the backup {folder} is damaged: {problem}", remedy="use another backup")


def _problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    named = {file.path for file in manifest.files} | {MANIFEST_NAME}
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.is_symlink()}
    for missing in sorted(named - present):
        yield f"{missing} is missing"
    for extra in sorted(present - named):
        yield f"{extra} is not in the manifest"
    for file in manifest.files:
        path = folder / file.path
        if path.is_symlink() or path.stat().st_size != file.size or hash_of(path) != file.sha256:
            yield f"{file.path} was changed"


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_BACKUP_ATTEMPTS = 4


def back_up(folder: Path, *, incomplete: bool = False, say: Callable[[str], None] = lambda _: None) -> Manifest:
    """Write the whole site into a folder.

    Files are copied before the database and, if it refers to more, after it, so that the backup has every file in its
    copy of the database, and none withdrawn meanwhile. The folder gets its name only when it is complete.
    """
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} already exists", remedy="choose a folder that does not exist yet")
    temporary = folder.with_name(f".{folder.name}{PART_SUFFIX}-{secrets.token_hex(4)}")
    try:
        temporary.mkdir(parents=True, mode=0o700)
        manifest = _write_backup(temporary, incomplete, say)
        for path in (*temporary.rglob("*"), temporary):
            sync_to_disk(path)
        os.replace(temporary, folder)
        sync_to_disk(folder.parent)
    except OSError as error:
        raise UserError(
            f"the backup cannot be written: {error.strerror or error}",
            remedy="free some space, or choose another folder",
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return manifest


def _write_backup(part: Path, incomplete: bool, say: Callable[[str], None]) -> Manifest:
    uploads = _local_uploads()
    for attempt in range(_BACKUP_ATTEMPTS):
        _copy_new(uploads, part / "uploads")
        _copy_new(Path(settings.MEDIA_ROOT), part / "media")
        shutil.rmtree(part / "database", ignore_errors=True)
        with snapshot(part / "database") as database:
            files, migrations = database.files, database.migrations
            tables, columns, sequences = database.tables, database.columns, database.sequences
        _copy_new(uploads, part / "uploads")
        _copy_new(Path(settings.MEDIA_ROOT), part / "media")
        required = _required_paths(files, uploads)
        missing = sorted(path for path in required if not (part / path).exists())
        if not missing:
            break
        if attempt < _BACKUP_ATTEMPTS - 1:
            say(f"Trying once more: {len(missing)} files are missing; they may have been withdrawn meanwhile.")
        elif not incomplete:
            raise UserError(
                f"{len(missing)} files that the database refers to are missing, the first is {missing[0]}",
                remedy="check the storage, or use --incomplete to make a backup without them",
            )
    _remove_others(part, required)
    secret = Path(settings.SITE_HOME) / "secret"
    if secret.is_file() and not os.environ.get("BRAINSCORE_SITE_SECRET"):
        shutil.copyfile(secret, part / "secret")
        (part / "secret").chmod(0o600)
    manifest = Manifest(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=metadata.version("brainscore"),
        engine=engine(),
        migrations=migrations,
        tables=tables,
        columns=columns,
        sequences=sequences,
        uploads="bucket" if uploads is None else "folder",
        objects=files.published if uploads is None else [],
        elsewhere=_paths_outside_backup(uploads),
        missing=missing,
        files=[
            BackupFile(path.relative_to(part).as_posix(), path.stat().st_size, hash_of(path))
            for path in sorted(part.rglob("*"))
            if path.is_file()
        ],
    )
    manifest.write(part)
    return manifest


def _local_uploads() -> Path | None:
    """The folder of uploads; None if they are in a bucket."""
    address = str(settings.UPLOADS["address"])
    return None if "://" in address else Path(address).expanduser().absolute()


def _required_paths(files: ReferencedFiles, uploads: Path | None) -> set[str]:
    """Paths in the backup of the files that the database refers to."""
    pictures = {f"media/{name}" for name in files.pictures}
    if uploads is None:
        return pictures
    published = {f"uploads/{file['bucket']}/{file['key']}/{file['version_id']}" for file in files.published}
    return pictures | published | {f"uploads/incoming/{token}" for token in files.arrived}


def _paths_outside_backup(uploads: Path | None) -> dict[str, str]:
    outside = {
        "receipts": str(settings.SUBMISSIONS["results"]),
        "plugins": "created again from the database",
        "settings": "the site's environment variables",
    }
    if uploads is None:
        outside["uploads"] = "the bucket, which keeps versions; its objects are listed here"
    if os.environ.get("BRAINSCORE_SITE_SECRET"):
        outside["secret"] = "the environment variable BRAINSCORE_SITE_SECRET"  # noqa: S105 # its location, not the secret
    return outside


def _copy_new(source: Path | None, target: Path) -> None:
    """Copy files that are not in the target yet; files never change once they have their final name."""
    if source is None or not source.is_dir():
        return
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        if path.is_symlink() or not path.is_file() or path.name.endswith(PART_SUFFIX) or copy.exists():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        temporary = copy.with_name(f"{copy.name}{PART_SUFFIX}")
        try:
            shutil.copyfile(path, temporary)
        except FileNotFoundError:  # withdrawn meanwhile
            temporary.unlink(missing_ok=True)
            continue
        os.replace(temporary, copy)


def _remove_others(part: Path, wanted: set[str]) -> None:
    """Remove files that the database does not refer to: withdrawn meanwhile, or earlier leftovers."""
    for folder in (part / "uploads", part / "media"):
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path.relative_to(part).as_posix() not in wanted:
                path.unlink()


_TABLES_WITH_CONTENT = (
    "accounts_user",
    "leaderboard_visionmodel",
    "leaderboard_score",
    "submissions_submission",
    "uploads_upload",
)
"""Tables that have rows as soon as the site has been used."""


_RECENT = timedelta(seconds=60)
"""A worker with a heartbeat within this time counts as running, unless its process is known to have ended."""


def _require_stopped() -> None:
    """Refuse if a server on this machine, or a worker on any machine, uses the site."""
    with serving_lock(site_home(), exclusive=True) as free:
        if not free:
            raise UserError("the server is running", remedy="stop the server and all workers first")
    try:
        names = list(Heartbeat.objects.filter(seen__gte=timezone.now() - _RECENT).values_list("name", flat=True))
    except DatabaseError:  # an empty or damaged database, which is to be replaced
        return
    running = sorted(process_label(name) for name in names if not has_ended(name))
    if running:
        raise UserError(
            f"a worker is running, or ended less than a minute ago: {', '.join(running)}",
            remedy="stop the server and all workers first",
        )


def restore(
    folder: Path,
    *,
    replace: bool = False,
    check_only: bool = False,
    incomplete: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Manifest:
    """Restore the site to its state at the time of a backup. Nothing else may use the site meanwhile.

    Everything is checked before anything is changed. Files are first copied next to their place, then the database is
    replaced as a whole, then the files are moved into place.
    """
    folder = folder.expanduser().absolute()
    manifest = read_manifest(folder)
    verify(folder, manifest)
    if check_only:
        return manifest
    _require_stopped()
    _require_fit(manifest)
    folders = _places(manifest)
    if not replace:
        _require_empty(folders)
    if manifest.uploads == "bucket" and not incomplete:
        _require_objects(manifest)
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    try:
        arriving = {name: _copy_beside(folder / name, target, stamp) for name, target in folders.items()}
        if engine() == "sqlite":
            _restore_sqlite(folder / "database" / "site.sqlite3", stamp, say)
        else:
            _restore_postgresql(folder / "database", manifest)
        for name, target in folders.items():
            if target.exists() and any(target.iterdir()):
                before = target.with_name(f"{target.name}.before-{stamp}")
                os.replace(target, before)
                say(f"The earlier content of {target} is in {before}. Remove it when everything works.")
            elif target.exists():
                target.rmdir()
            os.replace(arriving[name], target)
        _restore_secret(folder, stamp, say)
    except OSError as error:
        raise UserError(
            f"the backup cannot be restored: {error.strerror or error}", remedy="free some space, and try again"
        ) from error
    call_command("migrate", verbosity=0)
    if manifest.uploads == "bucket":
        checked = ", which was not checked" if incomplete else ""
        say(f"{len(manifest.objects)} uploaded objects are in their bucket{checked}.")
    return manifest


def _require_fit(manifest: Manifest) -> None:
    """Refuse a backup that does not fit this site."""
    if manifest.engine != engine():
        raise UserError(
            f"the backup is of a site on {manifest.engine}, and this one is on {engine()}",
            remedy="set DATABASE_URL to a database of the same kind",
        )
    migrations = {tuple(key) for key in MigrationLoader(None).disk_migrations}
    if unknown := [f"{app}.{name}" for app, name in manifest.migrations if (app, name) not in migrations]:
        raise UserError(
            f"the backup is of a later version ({manifest.version}): {unknown[0]} is not known to this version",
            remedy="install that version, or a later one",
        )
    local = "://" not in str(settings.UPLOADS["address"])
    if local != (manifest.uploads == "folder"):
        there, here = (manifest.uploads, "folder" if local else "bucket")
        raise UserError(
            f"the uploads of the backup are in a {there}, and those of this site in a {here}",
            remedy="set BRAINSCORE_SITE_UPLOADS as it was for the backup",
        )


def _require_objects(manifest: Manifest) -> None:
    """Refuse to restore rows of uploaded objects that are not in their bucket."""
    remedy = "use --incomplete to restore the site without checking the bucket"
    try:
        missing = BucketStorage(str(settings.UPLOADS["address"])).missing(manifest.objects)
    except UserError as error:
        raise UserError(
            f"nothing was restored, since uploaded objects cannot be checked: {error.message}",
            remedy=f"try again later, or {remedy}",
        ) from error
    if missing:
        raise UserError(
            f"nothing was restored: {len(missing)} of {len(manifest.objects)} uploaded objects are missing in their "
            f"bucket, the first is {missing[0]}",
            remedy=f"restore the bucket first, or {remedy}",
        )


def _places(manifest: Manifest) -> dict[str, Path]:
    folders = {"media": Path(settings.MEDIA_ROOT)}
    if manifest.uploads == "folder":
        folders["uploads"] = Path(str(settings.UPLOADS["address"])).expanduser().absolute()
    return folders


def _require_empty(places: dict[str, Path]) -> None:
    with connection.cursor() as cursor:
        existing = set(connection.introspection.table_names(cursor))
        for table in existing.intersection(_TABLES_WITH_CONTENT):
            cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")  # noqa: S608 # our own names
            if cursor.fetchone():
                raise UserError("this site is in use", remedy="replace it with --replace")
    for target in places.values():
        if target.exists() and any(path.is_file() for path in target.rglob("*")):
            raise UserError(f"there are files in {target}", remedy="replace them with --replace")


def _copy_beside(source: Path, place: Path, stamp: str) -> Path:
    """Copy files next to their place, so that they can then be moved at once."""
    staged = place.with_name(f"{place.name}.restored-{stamp}")
    staged.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, staged)
    else:
        staged.mkdir()
    return staged


def _restore_sqlite(source: Path, stamp: str, say: Callable[[str], None]) -> None:
    """Replace the database by the copy in one transaction; the earlier database is kept as a file."""
    connection.ensure_connection()
    name = str(connection.settings_dict["NAME"])
    if Path(name).is_file() and not _is_empty():
        before = Path(f"{name}.before-{stamp}")
        with closing(sqlite3.connect(before)) as previous:
            connection.connection.backup(previous)
            previous.execute("PRAGMA journal_mode=DELETE")
        say(f"The earlier database is in {before}. Remove it when everything works.")
    with closing(sqlite3.connect(source.as_uri() + "?mode=ro&immutable=1", uri=True)) as copy:
        copy.backup(connection.connection)


def _is_empty() -> bool:
    with connection.cursor() as cursor:
        return not connection.introspection.table_names(cursor)


def _restore_postgresql(folder: Path, manifest: Manifest) -> None:
    """Restore tables and their rows in one transaction."""
    quote = connection.ops.quote_name
    migrations = {(app, name) for app, name in manifest.migrations}
    with transaction.atomic(durable=True):
        if set(MigrationLoader(connection).applied_migrations) != migrations:
            _create_tables(migrations)
        with connection.cursor() as cursor:
            existing = sorted(connection.introspection.table_names(cursor))
            cursor.execute(f"TRUNCATE {', '.join(map(quote, existing))}")
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


def _create_tables(wanted: set[tuple[str, str]]) -> None:
    """Drop all tables, and create them with the migrations of the backup."""
    with connection.cursor() as cursor:
        if existing := connection.introspection.table_names(cursor):
            dropped = ", ".join(map(connection.ops.quote_name, sorted(existing)))
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
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # checks what migrations wrote before rows are copied
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def _restore_secret(folder: Path, stamp: str, say: Callable[[str], None]) -> None:
    stored, target = folder / "secret", Path(settings.SITE_HOME) / "secret"
    if not stored.is_file():
        return
    if os.environ.get("BRAINSCORE_SITE_SECRET"):
        say("BRAINSCORE_SITE_SECRET is used, not the secret of the backup; second factors work only with the latter.")
        return
    if target.is_file() and target.read_bytes() != stored.read_bytes():
        os.replace(target, target.with_name(f"secret.before-{stamp}"))
    if not target.exists():
        staged = target.with_name(f".secret-{stamp}")
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.touch(mode=0o600)
        staged.write_bytes(stored.read_bytes())
        os.replace(staged, target)
