"""Atomic writes of one file or of several files together, locks, and hashes."""

import hashlib
import logging
import os
import shutil
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from brainscore_core.errors import UserError

try:
    import fcntl
except ImportError:  # Windows has no fcntl: two processes may then do the same work, under different file names
    fcntl = None  # type: ignore[assignment] # no fcntl

PART_SUFFIX = ".part"
STALE = 24 * 3600.0  # seconds after which an unfinished file counts as abandoned
_LOCK_FILE = "lock"
_SETTLED = 2.0  # seconds; a file changed more recently may change again within one tick of its time stamp
LOCK_PATIENCE = 600.0  # seconds to wait for a lock; then continue without it, as it only avoids duplicate work
_known_digests: dict[tuple[str, int, int, int, str], str] = {}
_logger = logging.getLogger(__name__)


@contextmanager
def replacing(target: Path, *, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Write a file beside `target` and move it there when the block ends without an error; otherwise remove it.

    Parameters
    ----------
    target : Path
        The file to replace; its folder is created if it does not exist.
    mode : int, optional
        Permissions, reduced by the process's umask.

    Yields
    ------
    file
        A file object, open for writing bytes.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
    try:
        with open(unfinished, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Create a folder that is removed when the block ends; its file ``lock`` shows that it is in use.

    Only the current user may open it. Folders with this prefix that killed processes left behind are removed first.
    """
    remove_abandoned_folders(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        with open(folder / _LOCK_FILE, "w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)  # the system releases it when this process ends, even if it is killed
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned_folders(prefix: str) -> int:
    """Remove folders that `temporary_folder` created in processes that were killed; return their number."""
    count = 0
    if fcntl is None:  # without locks, a folder in use cannot be recognized
        return count
    for abandoned in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # its process is still running, or another process is removing it
            if abandoned.stat().st_uid == os.getuid():
                with open(abandoned / _LOCK_FILE) as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(abandoned, ignore_errors=True)
                    count += 1
    return count


def sweep(folder: Path, prefix: str = ".") -> None:
    """Remove unfinished files and folders that have been left in `folder` for longer than `STALE`."""
    for unfinished in folder.glob(f"{prefix}*{PART_SUFFIX}"):
        try:
            age = time.time() - unfinished.lstat().st_mtime
        except FileNotFoundError:  # its process has just finished it
            continue
        if age <= STALE:
            continue
        if unfinished.is_dir() and not unfinished.is_symlink():
            shutil.rmtree(unfinished, ignore_errors=True)
        else:
            unfinished.unlink(missing_ok=True)


def file_digest(path: Path, algorithm: str) -> str:
    """Hexadecimal hash of a file, cached in this process until the file changes."""
    with path.open("rb") as stream:
        status = os.fstat(stream.fileno())
        key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns, algorithm)
        if key not in _known_digests:
            value = hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()
            if time.time() - status.st_mtime < _SETTLED:
                return value
            _known_digests[key] = value
    return _known_digests[key]


def sync_to_disk(path: Path) -> None:
    """Ensure that a file, or the names in a folder, are on the disk, so that they survive a crash of the machine."""
    if os.name == "nt" and path.is_dir():
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows writes what is open for writing
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_PACKAGES_PREFIX = ".brainscore-"  # of unfinished files in a folder that other programs use, too


@contextmanager
def replacing_together(targets: Sequence[Path], *, warning: type[Warning] = UserWarning) -> Iterator[list[Path]]:
    """Write several files beside their targets, and move them there together when the block ends.

    If the block fails, the folder stays as it was. A warning names each existing file whose content was replaced. The
    targets are in one folder, which is created if it does not exist. Yields the paths to write to, one for each target.
    """
    folder = targets[0].parent
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    unfinished = [folder / f"{_PACKAGES_PREFIX}{uuid.uuid4().hex}{PART_SUFFIX}" for _ in targets]
    try:
        _make_writable_folder(folder)
        sweep(folder, _PACKAGES_PREFIX)
        yield unfinished
        for target in targets:
            if target.is_dir():
                raise UserError(
                    f"{target} is a folder, but a file must be written there", remedy="move the folder away"
                )
        for path in unfinished:
            sync_to_disk(path)
        with folder_lock(folder):  # otherwise two processes could mix their files
            before = {target: file_digest(target, "sha1") for target in targets if target.exists()}
            for path, target in zip(unfinished, targets, strict=True):
                os.replace(path, target)
    except BaseException:
        for path in unfinished:
            with suppress(FileNotFoundError, NotADirectoryError):
                path.unlink()
        with suppress(OSError):  # another process wrote into it, or it was never created
            for path in created:
                path.rmdir()
        raise
    for target, digest in before.items():
        if digest != file_digest(target, "sha1"):
            warnings.warn(
                f"{target} was replaced; its content was different (sha1 {digest}): register the new hashes",
                warning,
                stacklevel=4,
            )


def _make_writable_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create the folder {folder} ({error.strerror})", remedy="choose another one") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"cannot write into {folder}", remedy="choose another folder")


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock `folder`, so that one thread of one process at a time works in it.

    The lock is on the folder itself, so no lock file stays behind, and the system releases it when its process ends.
    It only avoids duplicate work such as a second download; complete files do not depend on it. Therefore work
    continues without the lock if the file system does not support locks or another process holds it for too long.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + LOCK_PATIENCE
        while time.monotonic() < deadline:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.05)
            except OSError as error:
                _logger.debug("cannot lock %s: %s", folder, error)
                break
        yield
    finally:
        os.close(descriptor)
