"""What a backup says of itself: written last, so that a backup without it is none."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from brainscore_core.errors import UserError

__all__ = ["NAME", "Kept", "Manifest", "hash_of", "read_manifest", "settle", "verify"]

NAME = "manifest.json"
_FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """One file of a backup, by its path in it."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What is in a backup.

    Attributes
    ----------
    made : str
        When, in UTC.
    version : str
        Of the site.
    engine : str
        ``'sqlite'`` or ``'postgresql'``.
    migrations : list of [app, name]
        Those that were applied.
    tables : dict
        Rows of each table.
    columns : dict
        Columns of each table, in the order of its file; PostgreSQL only.
    sequences : dict
        The last number that each sequence gave; PostgreSQL only.
    uploads : str
        Where uploaded files lay: ``'folder'`` (they are in the backup) or ``'bucket'`` (they are not).
    objects : list of dict
        Those of a bucket that the database names: bucket, key, version_id, size, sha256.
    elsewhere : dict
        What a site has besides, and where.
    missing : list of str
        Files that the database names and that were not there, where such a backup was asked for.
    files : list of Kept
        All of them, but this one.
    """

    made: str
    version: str
    engine: str
    migrations: list[list[str]]
    tables: dict[str, int]
    columns: dict[str, list[str]] = field(default_factory=dict)
    sequences: dict[str, int | None] = field(default_factory=dict)
    uploads: str = "folder"
    objects: list[dict[str, Any]] = field(default_factory=list)
    elsewhere: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    files: list[Kept] = field(default_factory=list)
    format: int = _FORMAT

    def write(self, folder: Path) -> None:
        """Write it into a backup."""
        (folder / NAME).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read that of a backup.

    Raises
    ------
    UserError
        If the folder holds no whole backup, or one of a later format.
    """
    try:
        read = json.loads((folder / NAME).read_text(encoding="utf-8"))
        if read.get("format") != _FORMAT:
            raise UserError(
                f"{folder} is a backup of another format", remedy="restore it with the version that made it"
            )
        files = [Kept(**one) for one in read.pop("files")]
        made = Manifest(**read, files=files)
    except OSError:
        raise UserError(f"{folder} holds no whole backup", remedy=f"name a folder with a {NAME}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UserError(f"the {NAME} of {folder} cannot be read", remedy="take another backup") from None
    for one in files:
        parts = PurePosixPath(one.path).parts
        if not parts or ".." in parts or one.path.startswith("/"):
            raise UserError(f"the {NAME} of {folder} names a file outside of it", remedy="take another backup")
    return made


def verify(folder: Path, manifest: Manifest) -> None:
    """Compare all files with what the manifest says.

    Raises
    ------
    UserError
        If one is missing, was changed, or is too many.
    """
    for problem in _problems(folder, manifest):
        raise UserError(f"the backup {folder} is damaged: {problem}", remedy="take another backup")


def _problems(folder: Path, manifest: Manifest) -> Iterator[str]:
    named = {one.path for one in manifest.files} | {NAME}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.is_symlink()}
    for missing in sorted(named - there):
        yield f"{missing} is missing"
    for more in sorted(there - named):
        yield f"{more} does not belong to it"
    for one in manifest.files:
        path = folder / one.path
        if path.is_symlink() or path.stat().st_size != one.size or hash_of(path) != one.sha256:
            yield f"{one.path} was changed"


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(path: Path) -> None:
    """Let a file, or the names in a folder, survive a crash of the machine."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
