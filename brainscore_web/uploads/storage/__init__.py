"""Where uploaded files lie: a folder that the site serves itself, or a bucket of S3."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from django.conf import settings

from brainscore_core.errors import UserError

__all__ = ["Grant", "LocalFile", "Place", "Published", "Storage", "StorageFailure", "storage"]


class StorageFailure(UserError):
    """The storage does not answer, refuses, or is full; nothing half-written was kept."""


@dataclass(frozen=True)
class Grant:
    """Where a browser may send a file, with which fields in front of it, for how long."""

    url: str
    fields: dict[str, str] = field(default_factory=dict)
    lasts: timedelta = timedelta(0)


@dataclass(frozen=True)
class Place:
    """Where a file shall lie: below the storage's prefix, in a version that `new_version` gave."""

    folder: str
    name: str
    version_id: str
    private: bool


@dataclass(frozen=True)
class Published:
    """A file in its final place."""

    bucket: str
    key: str
    version_id: str
    everybody: bool


@dataclass(frozen=True)
class LocalFile:
    """A file on this machine; `seal` is the same as long as nobody sends another one under its token."""

    path: Path
    seal: str = ""


class Storage(Protocol):
    """What a place for files does. A file arrives under a token, is checked, and is then published under a key."""

    bucket: str

    @property
    def origin(self) -> str | None:
        """Where browsers send files directly; None: to this site."""

    def scratch(self, token: str) -> Path:
        """A file on this machine to write a body into; `take` moves it."""

    def take(self, token: str) -> None:
        """Keep what was written into `scratch`, whole."""

    def grant(self, token: str, *, name: str, size: int) -> Grant | None:
        """Let a browser send exactly so many bytes to the storage itself; None where that is not possible."""

    def size(self, token: str) -> int | None:
        """How many bytes arrived under a token; None where nothing did."""

    def at_hand(self, token: str, key: str, version_id: str) -> AbstractContextManager[LocalFile]:
        """The file of a token on this machine, also if it was published already."""

    def new_version(self) -> str:
        """A version id that is known before publishing; empty where the storage makes them."""

    def key_of(self, place: Place) -> str:
        """Key of a place."""

    def publish(self, token: str, place: Place, *, seal: str) -> Published:
        """Move a file into its place, if it still has this seal; a second time changes nothing."""

    def drop(self, token: str) -> None:
        """Remove whatever there is of a token."""

    def delete(self, key: str, version_id: str) -> None:
        """Remove a published file."""

    def path(self, key: str, version_id: str) -> Path | None:
        """The published file on this machine; None where it lies elsewhere."""

    def signed(self, key: str, version_id: str) -> str:
        """An address of a published file that works for some minutes."""

    def leftovers(self, older_than: float) -> Iterator[str]:
        """Tokens of what arrived so many seconds ago and was not published."""


def storage() -> Storage:
    """The storage that the settings name.

    Raises
    ------
    UserError
        If the address cannot be read.
    """
    return _made(str(settings.UPLOADS["address"]))


@functools.lru_cache(maxsize=8)
def _made(address: str) -> Storage:
    if address.startswith("s3://"):
        from brainscore_web.uploads.storage.bucket import BucketStorage

        return BucketStorage(address)
    if "://" in address:
        raise UserError(
            f"BRAINSCORE_SITE_UPLOADS is {address!r}", remedy="set it to a folder, or to s3://bucket/prefix"
        )
    from brainscore_web.uploads.storage.folder import FolderStorage

    return FolderStorage(Path(address).expanduser().absolute())
