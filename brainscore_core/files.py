"""Files that are written whole or not at all, and their hashes."""

import hashlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = [
    "PART_SUFFIX",
    "STALE",
    "file_digest",
    "remove_left_folders",
    "replacing",
    "sweep",
    "temporary_folder",
]

PART_SUFFIX = ".part"
STALE = 24 * 3600.0  # seconds after which an unfinished file belongs to nobody any more
_LOCK = "lock"
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


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a folder for as long as the block lasts; its file ``lock`` says that it is in use.

    Parameters
    ----------
    prefix : str
        Of its name. Folders of the same prefix that killed processes left are removed first.

    Yields
    ------
    Path
        The folder, which only this user may open.
    """
    import fcntl

    remove_left_folders(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        with open(folder / _LOCK, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # ends with this process, however that ends
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_left_folders(prefix: str) -> int:
    """Remove what `temporary_folder` made in processes that were killed; say how many there were."""
    import fcntl

    count = 0
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # its process lives, or another process removes it at this moment
            if left.stat().st_uid == os.getuid():
                with open(left / _LOCK) as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
                    count += 1
    return count


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
