"""What storages have in common: their interface, and what they take and return."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from brainscore_core.errors import UserError


class StorageFailure(UserError):
    """The storage is unreachable, refuses, or is full; no partial file remains."""


@dataclass(frozen=True)
class Grant:
    """Permission for a browser to send a file: address, form fields to send before the file, and duration."""

    url: str
    fields: dict[str, str] = field(default_factory=dict)
    lasts: timedelta = timedelta(0)


@dataclass(frozen=True)
class Place:
    """The final place of a file below the storage's prefix, with a version from `new_version`."""

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
    """A file on this machine; `seal` changes if another file is sent with its token."""

    path: Path
    seal: str = ""


class Storage(Protocol):
    """The interface of storages. A file arrives under a token, is checked, and is then published under a key."""

    bucket: str

    @property
    def origin(self) -> str | None:
        """The origin to which browsers send files directly; None if they send them to this site."""

    def scratch(self, token: str) -> Path:
        """A file on this machine for the body of a request; `take` moves it."""

    def take(self, token: str) -> None:
        """Store the complete file that was written to `scratch`."""

    def grant(self, token: str, *, name: str, size: int) -> Grant | None:
        """Let a browser send exactly `size` bytes directly to the storage; None if that is not possible."""

    def size(self, token: str) -> int | None:
        """The size of the file that arrived under a token; None if none did."""

    def at_hand(self, token: str, key: str, version_id: str) -> AbstractContextManager[LocalFile]:
        """Provide the file of a token on this machine, even if it is already published."""

    def new_version(self) -> str:
        """A version id for publishing; empty if the storage creates version ids itself."""

    def key_of(self, place: Place) -> str:
        """The key of a place."""

    def publish(self, token: str, place: Place, *, seal: str) -> Published:
        """Move a file to its place if it still has this seal; repeating this changes nothing."""

    def drop(self, token: str) -> None:
        """Remove all files of a token."""

    def delete(self, key: str, version_id: str) -> None:
        """Remove a published file."""

    def path(self, key: str, version_id: str) -> Path | None:
        """The path of a published file; None if it is not on this machine."""

    def signed(self, key: str, version_id: str) -> str:
        """A signed address of a published file, valid for some minutes."""

    def leftovers(self, older_than: float) -> Iterator[str]:
        """Tokens of unpublished files that arrived at least this many seconds ago."""
