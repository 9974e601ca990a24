"""Storage in a folder that the site serves, with versions like those of S3."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from brainscore_core.files import PART_SUFFIX
from brainscore_web.uploads.storage.base import Grant, LocalFile, Place, Published, StorageFailure

_BUCKET = "brainscore-storage"
_PREFIX = "brainscore-vision/data"


class FolderStorage:
    """Files below a folder: ``incoming/<token>`` until they are checked, then ``<bucket>/<key>/<version>``.

    The folder is created when the first file arrives.
    """

    origin: str | None = None

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bucket = _BUCKET
        self._incoming = root / "incoming"

    def scratch(self, token: str) -> Path:
        self._incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._incoming / f"{token}{PART_SUFFIX}"

    def take(self, token: str) -> None:
        os.replace(self.scratch(token), self._incoming / token)
        _sync_to_disk(self._incoming)

    def grant(self, token: str, *, name: str, size: int) -> Grant | None:
        return None

    def size(self, token: str) -> int | None:
        try:
            return (self._incoming / token).stat().st_size
        except FileNotFoundError:
            return None

    @contextmanager
    def at_hand(self, token: str, key: str, version_id: str) -> Iterator[LocalFile]:
        path = self._incoming / token
        if version_id and not (token and path.exists()):
            path = self._place(key, version_id)
        if not path.exists():
            raise StorageFailure("an uploaded file is no longer in the storage", remedy="upload it again")
        yield LocalFile(path)

    def new_version(self) -> str:
        return secrets.token_urlsafe(24)

    def key_of(self, place: Place) -> str:
        # private files need no separate place: the site checks permissions for each download
        return f"{_PREFIX}/{place.folder}/{place.name}"

    def publish(self, token: str, place: Place, *, seal: str) -> Published:
        key = self.key_of(place)
        path = self._place(key, place.version_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # it was moved earlier
            os.replace(self._incoming / token, path)
        if not path.exists():
            raise StorageFailure("an uploaded file is no longer in the storage", remedy="upload it again")
        path.chmod(0o400)
        _sync_to_disk(path.parent)
        return Published(self.bucket, key, place.version_id, everybody=False)

    def drop(self, token: str) -> None:
        for path in (self.scratch(token), self._incoming / token):
            path.unlink(missing_ok=True)

    def delete(self, key: str, version_id: str) -> None:
        path = self._place(key, version_id)
        path.unlink(missing_ok=True)
        with suppress(OSError):  # other versions exist
            path.parent.rmdir()

    def path(self, key: str, version_id: str) -> Path | None:
        return self._place(key, version_id)

    def signed(self, key: str, version_id: str) -> str:
        raise NotImplementedError("the site serves these files itself")

    def leftovers(self, older_than: float) -> Iterator[str]:
        limit = time.time() - older_than
        for path in self._incoming.glob("*"):
            with suppress(FileNotFoundError):
                if path.lstat().st_mtime < limit:
                    yield path.name.removesuffix(PART_SUFFIX)

    def _place(self, key: str, version_id: str) -> Path:
        return self.root / self.bucket / key / version_id


def _sync_to_disk(folder: Path) -> None:
    """Write the folder to disk, so that names survive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
