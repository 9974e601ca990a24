"""Make a backup while the site goes on."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX
from brainscore_web.operations.backups._database import Files, engine, snapshot
from brainscore_web.operations.backups._manifest import Kept, Manifest, hash_of, settle

__all__ = ["back_up"]

_ATTEMPTS = 4


def back_up(folder: Path, *, incomplete: bool = False, say: Callable[[str], None] = lambda _: None) -> Manifest:
    """Write the whole site into a folder.

    Files are copied before the database and, as far as it names more, after it: what the copy of the database names is
    there, and what was withdrawn meanwhile is in neither. Until all of it is there, the folder has another name.

    Parameters
    ----------
    folder : pathlib.Path
        There is nothing of this name yet.
    incomplete : bool
        Whether files may be missing that the database names.
    say : callable
        Told what happens.

    Returns
    -------
    Manifest
        What is in it.

    Raises
    ------
    UserError
        If there is something already, or it cannot be written.
    """
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is there already", remedy="name a folder that is not there yet")
    part = folder.with_name(f".{folder.name}{PART_SUFFIX}-{secrets.token_hex(4)}")
    try:
        part.mkdir(parents=True, mode=0o700)
        manifest = _written(part, incomplete, say)
        _settle(part)
        os.replace(part, folder)
        settle(folder.parent)
    except OSError as error:
        raise UserError(
            f"the backup cannot be written: {error.strerror or error}", remedy="make room, or name another folder"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return manifest


def _written(part: Path, incomplete: bool, say: Callable[[str], None]) -> Manifest:
    uploads = _local_uploads()
    for attempt in range(_ATTEMPTS):
        _copy_new(uploads, part / "uploads")
        _copy_new(Path(settings.MEDIA_ROOT), part / "media")
        shutil.rmtree(part / "database", ignore_errors=True)
        with snapshot(part / "database") as taken:
            files, migrations = taken.files, taken.migrations
            tables, columns, sequences = taken.tables, taken.columns, taken.sequences
        _copy_new(uploads, part / "uploads")
        _copy_new(Path(settings.MEDIA_ROOT), part / "media")
        wanted = _wanted(files, uploads)
        missing = sorted(path for path in wanted if not (part / path).exists())
        if not missing:
            break
        if attempt < _ATTEMPTS - 1:
            say(
                f"Once more: {len(missing)} files are gone; if they were withdrawn meanwhile, the database says so now."
            )
        elif not incomplete:
            raise UserError(
                f"{len(missing)} files that the database names are not there, the first is {missing[0]}",
                remedy="look after the storage, or make a backup without them: --incomplete",
            )
    _remove_others(part, wanted)
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
        elsewhere=_elsewhere(uploads),
        missing=missing,
        files=[
            Kept(path.relative_to(part).as_posix(), path.stat().st_size, hash_of(path))
            for path in sorted(part.rglob("*"))
            if path.is_file()
        ],
    )
    manifest.write(part)
    return manifest


def _local_uploads() -> Path | None:
    """The folder of uploads; None where they are in a bucket."""
    address = str(settings.UPLOADS["address"])
    return None if "://" in address else Path(address).expanduser().absolute()


def _wanted(files: Files, uploads: Path | None) -> set[str]:
    """Paths in the backup of what the database names."""
    pictures = {f"media/{name}" for name in files.pictures}
    if uploads is None:
        return pictures
    published = {f"uploads/{one['bucket']}/{one['key']}/{one['version_id']}" for one in files.published}
    return pictures | published | {f"uploads/incoming/{token}" for token in files.arrived}


def _elsewhere(uploads: Path | None) -> dict[str, str]:
    found = {
        "receipts": str(settings.SUBMISSIONS["results"]),
        "plugins": "made anew from the database",
        "settings": "the environment of the site",
    }
    if uploads is None:
        found["uploads"] = "the bucket, which keeps versions; its objects are listed here"
    if os.environ.get("BRAINSCORE_SITE_SECRET"):
        found["secret"] = "the environment: BRAINSCORE_SITE_SECRET"  # noqa: S105 # says where it is
    return found


def _copy_new(source: Path | None, target: Path) -> None:
    """Copy what is not there yet: no file changes once it has its name."""
    if source is None or not source.is_dir():
        return
    for path in source.rglob("*"):
        there = target / path.relative_to(source)
        if path.is_symlink() or not path.is_file() or path.name.endswith(PART_SUFFIX) or there.exists():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        half = there.with_name(f"{there.name}{PART_SUFFIX}")
        try:
            shutil.copyfile(path, half)
        except FileNotFoundError:  # withdrawn in this moment
            half.unlink(missing_ok=True)
            continue
        os.replace(half, there)


def _remove_others(part: Path, wanted: set[str]) -> None:
    """Leave out what the database does not name: withdrawn meanwhile, or left behind long ago."""
    for folder in (part / "uploads", part / "media"):
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path.relative_to(part).as_posix() not in wanted:
                path.unlink()


def _settle(folder: Path) -> None:
    """Let it survive a crash of the machine."""
    for path in (*folder.rglob("*"), folder):
        settle(path)
