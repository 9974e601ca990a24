"""Receipts in a folder that several processes may write and read at once."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from uuid import uuid4

from brainscore_core.files import PART_SUFFIX, STALE, sweep
from brainscore_core.scoring._backend import LARGEST, too_large
from brainscore_core.scoring._claims_folder import FolderClaims
from brainscore_core.scoring._errors import StoreError

__all__ = ["FolderBackend"]


class FolderBackend:
    """Files of receipts below a folder, which is made when the first is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims = FolderClaims(folder)

    @property
    def address(self) -> str:
        """The folder, as a path that does not depend on the working directory."""
        return str(self.folder.absolute())

    def address_of(self, name: str) -> str:
        """Give the path of a file."""
        return str(self.folder / name)

    def require_writable(self) -> None:
        """Make the folder if it is missing, and see whether it can be written."""
        with self._told():
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder):
                pass

    def names(self, benchmark: str | None, model: str | None) -> list[str]:
        """List receipts and attachments, sorted."""
        found = []
        for upper in _folders(self.folder) if benchmark is None else [benchmark]:
            for lower in _folders(self.folder / upper) if model is None else [model]:
                found += [f"{upper}/{lower}/{name}" for name in _listed(self.folder / upper / lower)]
        return sorted(found)

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Read files, in the order of `names`."""
        for name in names:
            content: bytes | OSError
            try:
                with open(os.path.join(self.folder, name), "rb") as stream:  # thousands of times: paths take longer
                    content = stream.read(LARGEST + 1)
                if len(content) > LARGEST:
                    raise too_large(name)
            except OSError as error:
                content = error
            yield name, content

    @contextmanager
    def writing(self, pair: str) -> Iterator["_FolderWriting"]:
        """Write files of a pair; an error or an interrupt before the end leaves nothing."""
        with self._told():
            place = _FolderWriting(self.folder / pair)
            try:
                yield place
            except BaseException:
                place.undo()
                raise

    def local_file(self, name: str, digest: str) -> Path:
        """Give the file itself."""
        path = self.folder / name
        if not path.is_file():
            raise FileNotFoundError(name)
        return path

    def remove(self, name: str) -> bool:
        """Remove a file; False if there is none."""
        with self._told():
            try:
                (self.folder / name).unlink()
            except FileNotFoundError:
                return False
        return True

    def sweep(self, pair: str) -> None:
        """Remove what killed writers left a day ago: unfinished files, and attachments without their receipt."""
        folder = self.folder / pair
        try:
            sweep(folder)
            names = _listed(folder)
            receipts = {name.split(".")[0] for name in names if name.endswith(".json")}
            for name in names:
                if name.split(".")[0] not in receipts and time.time() - (folder / name).stat().st_mtime > STALE:
                    (folder / name).unlink()
        except OSError:
            return  # somebody else's, or somebody else was faster; the next writer tries again

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"receipts cannot be written to {self.folder}: {error.strerror or error}",
                remedy="name another folder with --results or BRAINSCORE_RESULTS, or make this one writable",
            ) from error


class _FolderWriting:
    """Files of one receipt; nothing has its final name before it is on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._receipt: Path | None = None
        self._left: list[Path] = []  # what must go if this is interrupted
        folder.mkdir(parents=True, exist_ok=True)

    def new_file(self) -> Path:
        """Name a file that may be written, in the same folder."""
        path = self._folder / f".{uuid4().hex}{PART_SUFFIX}"
        self._left.append(path)
        return path

    def keep(self, path: Path, name: str) -> None:
        """Give a written file its final name."""
        final = self._folder / name
        self._left.append(final)
        _sync(path)
        os.replace(path, final)

    def finish(self, name: str, text: str) -> None:
        """Write the receipt, once its attachments are on the disk."""
        unfinished = self.new_file()
        unfinished.write_text(text, encoding="utf-8")
        _sync(unfinished)
        _sync(self._folder)
        self._receipt = self._folder / name
        os.replace(unfinished, self._receipt)
        _sync(self._folder)

    def undo(self) -> None:
        # an interrupt may come right after the last step: then the receipt is there, and stays
        if self._receipt is None or not self._receipt.exists():
            for path in self._left:
                path.unlink(missing_ok=True)


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _listed(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if not name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _sync(path: Path) -> None:
    """Make sure that a file or a folder's entries are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
