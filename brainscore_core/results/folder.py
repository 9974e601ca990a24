"""Receipts and claims in a folder that several machines may share."""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any
from uuid import uuid4

from brainscore_core.files import PART_SUFFIX, STALE, replacing, sweep, sync_to_disk
from brainscore_core.results.backend import LARGEST, FolderSurvey, StoreError, archive_of, from_archive, too_large
from brainscore_core.results.claims import Held, parsed

_NAME = re.compile(r"\.claim-([0-9]{1,9})\.json")


class FolderClaims:
    """Claims below a folder."""

    keeps_finished = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, pair: str) -> Held | None:
        """Read the claim of a pair, valid or expired."""
        folder = self._folder / pair
        with _store_errors(folder):
            for number in sorted(_numbers(folder), reverse=True):
                held = _read(folder, number, _now(folder))
                if held is not None:
                    return held
        return None

    def take(self, pair: str, content: dict[str, Any], over: Held | None) -> int | None:
        """Write the next claim after `over`; None if another process was faster."""
        folder = self._folder / pair
        number = 1 if over is None else over.mark + 1
        with _store_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not _make(_path(folder, number), json.dumps(content)):
                return None
            # `over` may be outdated: others may have claimed and released the pair since
            now = _now(folder)
            for later in _numbers(folder) - {number}:
                held = _read(folder, later, now)
                if held is not None and (later > number or not held.is_free):
                    _path(folder, number).unlink(missing_ok=True)
                    return None
            for later in _numbers(folder):
                if later < number:
                    _path(folder, later).unlink(missing_ok=True)
        return number

    def renew(self, pair: str, content: dict[str, Any], mark: int) -> int | None:
        """Update the time of the claim's file; None if another process has taken it over."""
        folder = self._folder / pair
        with _store_errors(folder):
            if not _is_own(folder, mark, content):
                return None
            try:
                os.utime(_path(folder, mark))
            except FileNotFoundError:
                return None
            # after the update: if another process takes it over at the same moment, one of the two notices
            return None if any(later > mark for later in _numbers(folder)) else mark

    def release(self, pair: str, content: dict[str, Any], mark: int) -> None:
        """Remove the claim's file, unless another process has taken it over."""
        folder = self._folder / pair
        with _store_errors(folder):
            if _is_own(folder, mark, content):
                _path(folder, mark).unlink(missing_ok=True)

    def all(self) -> Iterator[Held]:
        """Iterate over all claims."""
        if not self._folder.is_dir():
            return
        with _store_errors(self._folder):
            now = None
            for folder in sorted(self._folder.glob("[!.]*/[!.]*/")):
                for number in sorted(_numbers(folder), reverse=True)[:1]:
                    now = self._now_of_all() if now is None else now
                    held = _read(folder, number, now)
                    if held is not None:
                        yield held

    def _now_of_all(self) -> float:
        try:
            return _now(self._folder)
        except OSError:  # approximate, if the folder is read-only
            return time.time()


def _path(folder: Path, number: int) -> Path:
    return folder / f".claim-{number}.json"


def _numbers(folder: Path) -> set[int]:
    try:
        matches = [_NAME.fullmatch(name) for name in os.listdir(folder)]
    except FileNotFoundError:
        return set()
    return {int(match[1]) for match in matches if match}


def _read(folder: Path, number: int, now: float) -> Held | None:
    try:
        with _path(folder, number).open("rb") as stream:  # opening makes a file server report the current time
            return Held(parsed(stream.read()), max(0.0, now - os.fstat(stream.fileno()).st_mtime), number)
    except FileNotFoundError:
        return None


def _is_own(folder: Path, number: int, content: dict[str, Any]) -> bool:
    held = _read(folder, number, 0.0)
    return held is not None and held.content.get("token") == content["token"]


def _now(folder: Path) -> float:
    """Current time by the clock that sets the times of files in this folder."""
    path = folder / f".{uuid4().hex}{PART_SUFFIX}"
    try:
        with path.open("xb") as stream:
            return os.fstat(stream.fileno()).st_mtime
    finally:
        path.unlink(missing_ok=True)


def _make(path: Path, text: str) -> bool:
    """Write a whole file under a new name; False if the name is taken."""
    partial = path.with_name(f".{uuid4().hex}{PART_SUFFIX}")
    try:
        with partial.open("x", encoding="utf-8") as stream:
            stream.write(text)
        try:
            os.link(partial, path)
        except FileExistsError:
            return partial.stat().st_nlink == 2  # the answer of a file server may be lost
        except OSError:
            return _make_exclusively(path, text)
        return True
    finally:
        partial.unlink(missing_ok=True)


def _make_exclusively(path: Path, text: str) -> bool:
    """Replace `_make` on file systems without hard links; a half-written claim counts as valid."""
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return False
    return True


@contextmanager
def _store_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"claims cannot be written to {folder}: {error.strerror or error}",
            remedy="make the folder of results writable, or use another with --results or BRAINSCORE_RESULTS",
        ) from error


class FolderBackend:
    """Files of receipts below a folder, which is created when the first receipt is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims = FolderClaims(folder)

    @property
    def address(self) -> str:
        """The folder, as an absolute path."""
        return str(self.folder.absolute())

    def address_of(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.folder / name)

    def require_writable(self) -> None:
        """Create the folder if it is missing, and check that it is writable."""
        with self._store_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder):
                pass

    def names(self, benchmark: str | None, model: str | None) -> list[str]:
        """List receipts and attachments, sorted."""
        names = []
        for upper in _folders(self.folder) if benchmark is None else [benchmark]:
            for lower in _folders(self.folder / upper) if model is None else [model]:
                names += [f"{upper}/{lower}/{name}" for name in _listed(self.folder / upper / lower)]
        return sorted(names)

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Read files, in the order of `names`."""
        for name in names:
            content: bytes | OSError
            try:
                with open(
                    os.path.join(self.folder, name), "rb"
                ) as stream:  # os.path is faster than pathlib for thousands of files
                    content = stream.read(LARGEST + 1)
                if len(content) > LARGEST:
                    raise too_large(name)
            except OSError as error:
                content = error
            yield name, content

    def survey(self) -> Iterator[FolderSurvey]:
        """Read times of modification of folders, benchmark by benchmark."""
        is_windows = os.name == "nt"
        for upper in sorted(_folders(self.folder)):
            folder = os.path.join(self.folder, upper)
            survey = FolderSurvey(upper, [], [], partial(_receipts_in, folder))
            try:
                with _scanned(folder) as entries:
                    for entry in entries:
                        name = entry.name
                        if not name.startswith(".") and entry.is_dir():
                            state = entry.stat()
                            modified, changed = state.st_mtime_ns, state.st_ctime_ns
                            # on Windows, the latter is the time of creation; programs cannot set it elsewhere
                            survey.times.append(modified if is_windows or modified > changed else changed)
                            survey.folders.append(name)
            except FileNotFoundError:
                continue  # removed since it was listed
            yield survey

    def now(self) -> int:
        """Present time of the clock of the file system; of this machine, if the folder cannot be written."""
        try:
            return int(_now(self.folder) * 1e9)
        except OSError:
            return time.time_ns()

    def open_index(self, name: str) -> IO[bytes] | None:
        """Open a file in the folder."""
        try:
            return (self.folder / name).open("rb")
        except OSError:
            return None

    def write_index(self, name: str, data: memoryview) -> None:
        """Replace a file in the folder."""
        with replacing(self.folder / name) as stream:
            stream.write(data)
        sweep(self.folder)

    @contextmanager
    def scratch(self, pair: str) -> Iterator[Path]:
        """Make a hidden folder beside the receipts of a pair."""
        with self._store_errors():
            (self.folder / pair).mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=".", suffix=PART_SUFFIX, dir=self.folder / pair) as folder:
                yield Path(folder)

    def store(self, pair: str, files: Mapping[str, Path], name: str, text: str) -> None:
        """Give files their names once they are on the disk, then write the receipt."""
        folder = self.folder / pair
        with self._store_errors():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                for final, path in files.items():
                    sync_to_disk(path)
                    os.replace(path, folder / final)
                sync_to_disk(folder)
                with replacing(folder / name) as stream:
                    stream.write(text.encode())
                sync_to_disk(folder)
            except BaseException:
                if not (folder / name).exists():  # an interrupt may come after the last step
                    for final in files:
                        (folder / final).unlink(missing_ok=True)
                raise

    def local_file(self, name: str, digest: str) -> Path:
        """Return the file itself; if the folder is a copy of a bucket, a copy from the archive of a receipt's files."""
        path = self.folder / name
        if not path.is_file():
            return from_archive(self.folder / archive_of(name), name, digest)
        return path

    def remove(self, name: str) -> bool:
        """Remove a file; False if it does not exist."""
        with self._store_errors():
            try:
                (self.folder / name).unlink()
            except FileNotFoundError:
                return False
        return True

    def sweep(self, pair: str) -> None:
        """Remove day-old remains of killed writers: unfinished files, and attachments without a receipt."""
        folder = self.folder / pair
        try:
            sweep(folder)
            names = _listed(folder)
            receipts = {name.split(".")[0] for name in names if name.endswith(".json")}
            for name in names:
                if name.split(".")[0] not in receipts and time.time() - (folder / name).stat().st_mtime > STALE:
                    (folder / name).unlink()
        except OSError:
            return  # files of another user, or already removed

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"receipts cannot be written to {self.folder}: {error.strerror or error}",
                remedy="use another folder with --results or BRAINSCORE_RESULTS, or make this one writable",
            ) from error


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


@contextmanager
def _scanned(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Entries of a folder; where the system can, their state is read relative to it, without its path each time."""
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as entries:
            yield entries
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def _listed(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if not name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _receipts_in(folder: str, name: str) -> list[str]:
    return [file for file in _listed(Path(folder, name)) if file.endswith(".json")]
