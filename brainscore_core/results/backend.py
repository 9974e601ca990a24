"""Interface of the places where receipts are stored; files are named ``<benchmark>/<model>/<file>``."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from brainscore_core.errors import UserError
from brainscore_core.results.claims import ClaimPlace

__all__ = ["LARGEST", "Backend", "StoreError", "Writing", "too_large"]

LARGEST = 64_000_000
"""Bytes; a larger file is not a receipt, and is not read."""


def too_large(path: object) -> OSError:
    """Make the error for a file that is too large to be a receipt."""
    return OSError(errno.EFBIG, f"larger than {LARGEST:,} bytes, too large for a receipt", str(path))


class Writing(Protocol):
    """Files of one receipt, each of which appears whole under its final name, the receipt last."""

    def new_file(self) -> Path:
        """Return a path to write to, with a temporary name."""

    def keep(self, path: Path, name: str) -> None:
        """Give a written file its final name."""

    def finish(self, name: str, text: str) -> None:
        """Write the receipt, which makes the kept files permanent."""


class Backend(Protocol):
    """A folder or a part of a bucket."""

    @property
    def address(self) -> str:
        """Its address, valid in any process."""

    @property
    def claims(self) -> ClaimPlace:
        """Where claims of pairs are kept."""

    def address_of(self, name: str) -> str:
        """Return the address of a file."""

    def require_writable(self) -> None:
        """Raise a StoreError if nothing can be written."""

    def names(self, benchmark: str | None, model: str | None) -> list[str]:
        """List receipts and attachments, sorted; all, or those in the folders of a benchmark and a model."""

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Read files, in the order of `names`; FileNotFoundError stands for a file that no longer exists."""

    def writing(self, pair: str) -> AbstractContextManager[Writing]:
        """Write files of a pair; an error or interrupt before the end leaves no file."""

    def local_file(self, name: str, digest: str) -> Path:
        """Return a local copy of a file, whose SHA-256 should be `digest`; FileNotFoundError if it does not exist."""

    def remove(self, name: str) -> bool:
        """Remove a file; False if it does not exist."""

    def sweep(self, pair: str) -> None:
        """Remove old remains of killed writers."""


class StoreError(UserError):
    """Receipts cannot be read or written in the store."""
