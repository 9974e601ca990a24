"""Interface of the places where receipts are stored; files are named ``<benchmark>/<model>/<file>``."""

import errno
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from brainscore_core.errors import UserError
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.claims import ClaimPlace

LARGEST = 64_000_000
"""Bytes; a larger file is not a receipt, and is not read."""


def too_large(path: object) -> OSError:
    """Make the error for a file that is too large to be a receipt."""
    return OSError(errno.EFBIG, f"larger than {LARGEST:,} bytes, too large for a receipt", str(path))


@dataclass(frozen=True)
class Problem:
    """A receipt that cannot be read."""

    path: str  # the file, or its address in a bucket
    message: str  # the problem
    remedy: str | None = None  # how to fix it

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class FolderSurvey(NamedTuple):
    """State of a benchmark's folder."""

    name: str  # its name
    folders: list[str]  # folders of models in it
    times: list[int]  # when each of them was modified, in nanoseconds; 0 if unknown
    receipts: Callable[[str], list[str]]  # folder of a model → names of the files of its receipts


def archive_of(name: str) -> str:
    """Name of the archive with a receipt's attachments, given the name of one of its files.

    >>> archive_of("Some2026-pls/pixels/20260114T093012-a1b2.raw.nc")
    'Some2026-pls/pixels/20260114T093012-a1b2.zip'
    """
    folder, _, file = name.rpartition("/")
    return f"{folder}/{file.partition('.')[0]}.zip"


def from_archive(archive: Path, name: str, digest: str) -> Path:
    """Extract a file from an archive into a folder that is removed when this process ends.

    Raises FileNotFoundError if the archive does not exist, is damaged, or does not contain the file.
    """
    if not archive.is_file():
        raise FileNotFoundError(name)
    path = temporary_folder(os.getpid()) / f"{digest}{Path(name).suffix}"
    if not path.is_file():
        partial = path.with_name(f".{uuid4().hex}")
        try:
            with (
                zipfile.ZipFile(archive) as files,
                files.open(name.rpartition("/")[2]) as source,
                partial.open("xb") as to,
            ):
                shutil.copyfileobj(source, to)
            os.replace(partial, path)
        except (KeyError, zipfile.BadZipFile) as error:
            raise FileNotFoundError(name) from error
        finally:
            partial.unlink(missing_ok=True)
    return path


@lru_cache(maxsize=1)
def _temporary(process: int) -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="brainscore-attachments-")


def temporary_folder(process: int) -> Path:
    """Temporary folder of this process, which is removed when it ends."""
    return Path(_temporary(process).name)


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

    def survey(self) -> Iterator[FolderSurvey]:
        """Find out, benchmark by benchmark, when folders were modified."""

    def now(self) -> int:
        """Present time of the clock that sets times of modification, in nanoseconds."""

    def open_index(self, name: str) -> IO[bytes] | None:
        """Open a file of the store itself; None if it does not exist or cannot be read."""

    def write_index(self, name: str, data: memoryview) -> None:
        """Replace a file of the store itself."""

    def scratch(self, pair: str) -> AbstractContextManager[Path]:
        """Make a folder for new files of a pair, which is removed at the end."""

    def store(self, pair: str, files: Mapping[str, Path], name: str, text: str) -> None:
        """Move files from the scratch folder to their names, then write the receipt; after an error there are none."""

    def local_file(self, name: str, digest: str) -> Path:
        """Return a local copy of a file, whose SHA-256 should be `digest`; FileNotFoundError if it does not exist."""

    def remove(self, name: str) -> bool:
        """Remove a file; False if it does not exist."""

    def sweep(self, pair: str) -> None:
        """Remove old remains of killed writers."""


class StoreError(UserError):
    """Receipts cannot be read or written in the store."""


class _WithId(Protocol):
    @property
    def id(self) -> str | None: ...


Entry = TypeVar("Entry", bound=_WithId)


def read_entries(backend: Backend, names: Sequence[str], parse: Callable[[bytes], Entry]) -> Iterator[Entry | Problem]:
    """Read files that are named by the id of their content; a `Problem` stands for one that cannot be read."""
    for name, content in backend.read(names):
        if isinstance(content, FileNotFoundError):
            continue  # removed by another process since it was listed
        if isinstance(content, OSError):
            yield Problem(backend.address_of(name), str(content))
            continue
        try:
            entry = parse(content)
        except ReceiptError as error:
            yield Problem(backend.address_of(name), error.message, error.remedy)
            continue
        if f"{entry.id}.json" == name.rpartition("/")[2]:
            yield entry
        else:
            yield Problem(backend.address_of(name), f"its id is {entry.id}, which is not its name")
