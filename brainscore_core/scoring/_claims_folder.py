"""Claims in a folder that several machines may share.

The claim of a pair is a file ``.claim-<number>.json``, and of several the one of the highest number. A new claim is the
next number, made by a hard link to a file that is complete: one of many processes succeeds, and nobody ever sees half a
file. So a claim that ran out is not taken away before there is another, and it does not matter when its taker dies. The
time of the last renewal is the file's, and *now* is the time that the same folder gives a new file: clocks of machines
that differ do no harm.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from brainscore_core.files import PART_SUFFIX
from brainscore_core.scoring._claims import Held, parsed
from brainscore_core.scoring._errors import StoreError

__all__ = ["FolderClaims"]

_NAME = re.compile(r"\.claim-([0-9]{1,9})\.json")


class FolderClaims:
    """Claims below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def found(self, pair: str) -> Held | None:
        """Give the claim of a pair, free or not."""
        folder = self._folder / pair
        with _told(folder):
            for number in sorted(_numbers(folder), reverse=True):
                held = _read(folder, number, _now(folder))
                if held is not None:
                    return held
        return None

    def take(self, pair: str, content: dict[str, Any], over: Held | None) -> int | None:
        """Write the next claim after `over`; None if somebody else was faster."""
        folder = self._folder / pair
        number = 1 if over is None else over.mark + 1
        with _told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not _make(_path(folder, number), json.dumps(content)):
                return None
            # what was found may be of yesterday: others may have come and gone since
            now = _now(folder)
            for other in _numbers(folder) - {number}:
                held = _read(folder, other, now)
                if held is not None and (other > number or not held.is_free):
                    _path(folder, number).unlink(missing_ok=True)
                    return None
            for other in _numbers(folder):
                if other < number:
                    _path(folder, other).unlink(missing_ok=True)
        return number

    def renew(self, pair: str, content: dict[str, Any], mark: int) -> int | None:
        """Set the time of the claim's file; None if it is another's by now."""
        folder = self._folder / pair
        with _told(folder):
            if not _is_own(folder, mark, content):
                return None
            try:
                os.utime(_path(folder, mark))
            except FileNotFoundError:
                return None
            # afterwards: of an owner and a taker at the same moment, one sees the other
            return None if any(other > mark for other in _numbers(folder)) else mark

    def release(self, pair: str, content: dict[str, Any], mark: int) -> None:
        """Remove the claim's file, if it is still the one that was taken."""
        folder = self._folder / pair
        with _told(folder):
            if _is_own(folder, mark, content):
                _path(folder, mark).unlink(missing_ok=True)

    def all(self) -> Iterator[Held]:
        """Go through all claims."""
        if not self._folder.is_dir():
            return
        with _told(self._folder):
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
        except OSError:  # who may only read may know, too, roughly
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
        with _path(folder, number).open("rb") as stream:  # opening asks a file server for the time of now
            return Held(parsed(stream.read()), max(0.0, now - os.fstat(stream.fileno()).st_mtime), number)
    except FileNotFoundError:
        return None


def _is_own(folder: Path, number: int, content: dict[str, Any]) -> bool:
    held = _read(folder, number, 0.0)
    return held is not None and held.content.get("token") == content["token"]


def _now(folder: Path) -> float:
    """The time by the clock that files in this folder get their times from."""
    path = folder / f".{uuid4().hex}{PART_SUFFIX}"
    try:
        with path.open("xb") as stream:
            return os.fstat(stream.fileno()).st_mtime
    finally:
        path.unlink(missing_ok=True)


def _make(path: Path, text: str) -> bool:
    """Write a whole file under a name that nobody else has taken; False if somebody has."""
    part = path.with_name(f".{uuid4().hex}{PART_SUFFIX}")
    try:
        with part.open("x", encoding="utf-8") as stream:
            stream.write(text)
        try:
            os.link(part, path)
        except FileExistsError:
            return part.stat().st_nlink == 2  # a file server may do it, lose its answer, and be asked again
        except OSError:
            return _make_exclusively(path, text)
        return True
    finally:
        part.unlink(missing_ok=True)


def _make_exclusively(path: Path, text: str) -> bool:
    """As `_make` where files have one name only; who reads a claim half-written takes it for one that holds."""
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return False
    return True


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"claims cannot be kept in {folder}: {error.strerror or error}",
            remedy="make the folder of results writable, or name another with --results or BRAINSCORE_RESULTS",
        ) from error
