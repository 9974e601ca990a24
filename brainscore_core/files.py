"""Files that are written whole or not at all, and their hashes."""

import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["PART_SUFFIX", "STALE", "file_digest", "replacing", "sweep"]

PART_SUFFIX = ".part"
STALE = 24 * 3600.0  # seconds after which an unfinished file belongs to nobody any more
_SETTLED = 2.0  # seconds; a file changed more recently may change again within one tick of its time stamp
_known_digests: dict[tuple[str, int, int, int, str], str] = {}


@contextmanager
def replacing(target: Path, *, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file beside `target` and move it there when the block ends without an error; otherwise remove it.

    Parameters
    ----------
    target : Path
        Is replaced; its folder is made where there is none.
    mode : int, optional
        Permissions, less those that the process's mask takes away.

    Yields
    ------
    file
        Open for writing bytes.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
    try:
        with open(part, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove unfinished files and folders that a process killed long ago left in `folder`."""
    for part in folder.glob(f".*{PART_SUFFIX}"):
        try:
            age = time.time() - part.lstat().st_mtime
        except FileNotFoundError:  # its process finished it just now
            continue
        if age <= STALE:
            continue
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def file_digest(path: Path, algorithm: str) -> str:
    """Hexadecimal hash of a file, remembered in this process while the file stays untouched."""
    with path.open("rb") as stream:
        status = os.fstat(stream.fileno())
        key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns, algorithm)
        if key not in _known_digests:
            value = hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()
            if time.time() - status.st_mtime < _SETTLED:
                return value
            _known_digests[key] = value
    return _known_digests[key]
