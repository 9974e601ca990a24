"""What a place for receipts must be able to do; files are named ``<benchmark>/<model>/<file>``."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from brainscore_core.errors import UserError
from brainscore_core.results.claims import ClaimPlace

__all__ = ["LARGEST", "Backend", "StoreError", "Writing", "too_large"]

LARGEST = 64_000_000
"""Bytes; what is larger is no receipt, and is not read."""


def too_large(path: object) -> OSError:
    """Say that a file is no receipt."""
    return OSError(errno.EFBIG, f"larger than {LARGEST:,} bytes, which no receipt is", str(path))


class Writing(Protocol):
    """Files of one receipt that appear whole: each under its final name, the receipt last."""

    def new_file(self) -> Path:
        """Name a file that may be written, under a name that is not final."""

    def keep(self, path: Path, name: str) -> None:
        """Give a written file its final name."""

    def finish(self, name: str, text: str) -> None:
        """Write the receipt; what was kept now stays."""


class Backend(Protocol):
    """A folder or a part of a bucket."""

    @property
    def address(self) -> str:
        """Where it is, also for another process."""

    @property
    def claims(self) -> ClaimPlace:
        """Where claims of pairs are kept."""

    def address_of(self, name: str) -> str:
        """Say where a file is."""

    def require_writable(self) -> None:
        """Raise a StoreError if nothing can be written."""

    def names(self, benchmark: str | None, model: str | None) -> list[str]:
        """List receipts and attachments, sorted; of all, or of folders of a benchmark and a model."""

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Read files, in the order of `names`; FileNotFoundError stands for one that is gone."""

    def writing(self, pair: str) -> AbstractContextManager[Writing]:
        """Write files of a pair; an error or an interrupt before the end leaves nothing."""

    def local_file(self, name: str, digest: str) -> Path:
        """Give a file on this machine, whose SHA-256 should be `digest`; FileNotFoundError if there is none."""

    def remove(self, name: str) -> bool:
        """Remove a file; False if there is none."""

    def sweep(self, pair: str) -> None:
        """Remove what killed writers left long ago."""


class StoreError(UserError):
    """Receipts cannot be read or written where they are."""
