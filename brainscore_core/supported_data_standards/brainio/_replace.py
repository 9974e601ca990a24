"""Put several files into place together, or none."""

import contextlib
import os
import shutil
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_core.files import STALE, file_digest
from brainscore_core.supported_data_standards.brainio._cache import locked
from brainscore_core.supported_data_standards.brainio._findings import ValidationWarning

__all__ = ["new_files"]

_PREFIX = ".brainscore-"
_PART = ".part"
_OLD = ".old"


@contextmanager
def new_files(targets: Sequence[Path]) -> Iterator[list[Path]]:
    """Write files beside their targets, all in one folder, and move them there together when the block ends.

    If anything fails, the folder is as it was: no part of a file stays, nor a folder that was made, and files that were
    there keep their content. A file that is replaced by another content is named in a warning.

    Yields
    ------
    list of Path
        Where to write; one for each target.
    """
    folder = targets[0].parent
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    parts = [_hidden(folder, _PART) for _ in targets]
    done = False
    try:
        _make(folder)
        _sweep(folder)
        yield parts
        for part in parts:
            with part.open("rb+") as stream:
                os.fsync(stream.fileno())
        with locked(folder):  # two processes do not mix their files
            replaced = _move(parts, targets)
        done = True
    finally:
        for part in parts:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                part.unlink()
        if not done:
            _remove_empty(made)
    for target, before in replaced:
        warnings.warn(
            f"{target} was replaced; it had another content (sha1 {before}): register the new hashes",
            ValidationWarning,
            stacklevel=4,
        )


def _hidden(folder: Path, suffix: str) -> Path:
    return folder / f"{_PREFIX}{uuid.uuid4().hex}{suffix}"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot make the folder {folder} ({error.strerror})", remedy="pass another one as downloads_path"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"cannot write into {folder}", remedy="pass another folder as downloads_path")


def _move(parts: Sequence[Path], targets: Sequence[Path]) -> list[tuple[Path, str]]:
    """Move all or none; returns the targets whose content changed, with the hash they had."""
    for target in targets:
        if target.is_dir():
            raise UserError(f"{target} is a folder, where a file is to be written", remedy="move it away")
    # the target → what it was before, kept under another name until all is done
    kept: dict[Path, Path | None] = {}
    replaced = []
    try:
        for part, target in zip(parts, targets, strict=True):
            if target.exists():
                before = file_digest(target, "sha1")
                if before != file_digest(part, "sha1"):
                    replaced.append((target, before))
                kept[target] = old = _hidden(target.parent, _OLD)
                _duplicate(target, old)
            else:
                kept[target] = None
            os.replace(part, target)
    except BaseException:
        for target, previous in kept.items():
            if previous is None:
                target.unlink(missing_ok=True)
            elif previous.exists():
                os.replace(previous, target)
        raise
    finally:
        for previous in kept.values():
            if previous is not None:
                previous.unlink(missing_ok=True)
    return replaced


def _duplicate(target: Path, copy: Path) -> None:
    try:
        os.link(target, copy)
    except OSError:  # not every file system has links
        shutil.copy2(target, copy)


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed long ago left here."""
    for left in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):  # another process finished just now
            if left.suffix in (_PART, _OLD) and time.time() - left.stat().st_mtime > STALE:
                left.unlink()


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # somebody else put something there, or it was never made
            return
