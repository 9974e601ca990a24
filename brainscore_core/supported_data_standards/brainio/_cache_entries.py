"""What the cache of fetched files holds: list, check, remove."""

import os
import shutil
import zipfile
from pathlib import Path
from typing import Literal, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, file_digest

from ._cache import Digest, cache_home, is_digest
from ._unzip import is_unpacked

__all__ = ["CacheEntry", "CheckedEntry", "cache_entries", "remove_entry", "verify_entry"]


class CacheEntry(NamedTuple):
    """One thing in the cache: a fetched file, the folder unpacked from one, or what a killed process left."""

    name: str
    kind: Literal["file", "folder", "unfinished"]
    bytes: int
    digest: Digest
    path: Path


class CheckedEntry(NamedTuple):
    """`state` is 'good', 'wrong', or 'unknown' where there is nothing to compare with; `found` says what is wrong."""

    entry: CacheEntry
    state: Literal["good", "wrong", "unknown"]
    found: str


def cache_entries(home: Path | None = None) -> list[CacheEntry]:
    """List the cache, by name. Whatever else lies in that folder is not part of it, and left alone.

    Examples
    --------
    >>> import tempfile
    >>> cache_entries(Path(tempfile.mkdtemp()))
    []
    """
    home = cache_home() if home is None else home
    found: list[CacheEntry] = []
    try:
        folders = sorted(home.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cannot read the cache {home}: {error.strerror}", remedy="check BRAINIO_HOME") from error
    for folder in folders:
        algorithm = next((name for name in ("sha1", "sha256") if is_digest(folder.name, name)), None)
        if algorithm is None or folder.is_symlink() or not folder.is_dir():
            continue
        digest = Digest(algorithm, folder.name)
        found += [CacheEntry(path.name, _kind(path), _size(path), digest, path) for path in sorted(folder.iterdir())]
    return sorted(found, key=lambda entry: (entry.name, entry.digest))


def verify_entry(entry: CacheEntry) -> CheckedEntry:
    """Compare a file with its hash, an unpacked folder with the checksums in its archive."""
    if entry.kind == "unfinished":
        return CheckedEntry(entry, "unknown", "unfinished")
    if entry.kind == "file":
        found = Digest(entry.digest.algorithm, file_digest(entry.path, entry.digest.algorithm))
        return CheckedEntry(entry, "good" if found == entry.digest else "wrong", str(found))
    archives = [path for path in entry.path.parent.glob("*.zip") if path.stem == entry.name]
    if not archives:
        return CheckedEntry(entry, "unknown", "its archive is not in the cache")
    try:
        whole = is_unpacked(archives[0], entry.path)
    except (UserError, OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        return CheckedEntry(entry, "unknown", f"its archive cannot be read: {error}")
    return CheckedEntry(entry, "good" if whole else "wrong", "" if whole else "differs from its archive")


def remove_entry(entry: CacheEntry) -> None:
    """Remove an entry, and the folder of its hash once that is empty; links are removed, never followed."""
    try:
        if entry.path.is_dir() and not entry.path.is_symlink():
            shutil.rmtree(entry.path)
        else:
            entry.path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot remove {entry.path}: {error.strerror}", remedy="check who owns it") from error
    try:
        entry.path.parent.rmdir()
    except OSError:
        return  # there is more in it


def _kind(path: Path) -> Literal["file", "folder", "unfinished"]:
    if path.name.startswith(".") and path.name.endswith(PART_SUFFIX):
        return "unfinished"
    return "folder" if path.is_dir() else "file"


def _size(path: Path) -> int:
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size
    return sum((Path(folder) / name).lstat().st_size for folder, _, names in os.walk(path) for name in names)
