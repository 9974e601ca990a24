"""Files that are written whole or not at all (alone or together), locks, and hashes."""

import contextlib
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
except ImportError:  # not on Windows: two processes may then do the same work twice, each under a name of its own
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "PART_SUFFIX",
    "STALE",
    "file_digest",
    "folder_lock",
    "remove_abandoned_folders",
    "replacing",
    "replacing_together",
    "sweep",
    "temporary_folder",
]

PART_SUFFIX = ".part"
STALE = 24 * 3600.0  # seconds after which an unfinished file belongs to nobody any more
_LOCK_FILE = "lock"
_SETTLED = 2.0  # seconds; a file changed more recently may change again within one tick of its time stamp
LOCK_PATIENCE = 600.0  # seconds; afterwards work goes on without the lock, which only guards against doing it twice
_known_digests: dict[tuple[str, int, int, int, str], str] = {}
_logger = logging.getLogger(__name__)


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
    remove_abandoned_folders(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        with open(folder / _LOCK_FILE, "w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)  # ends with this process, however that ends
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned_folders(prefix: str) -> int:
    """Remove what `temporary_folder` made in processes that were killed; say how many there were."""
    count = 0
    if fcntl is None:  # nothing says whether its process lives
        return count
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # its process lives, or another process removes it at this moment
            if left.stat().st_uid == os.getuid():
                with open(left / _LOCK_FILE) as lock:
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


_TOGETHER_PREFIX = ".brainscore-"
_TOGETHER_SUFFIX = ".part"
_KEPT_SUFFIX = ".old"


@contextmanager
def replacing_together(targets: Sequence[Path], *, warning: type[Warning] = UserWarning) -> Iterator[list[Path]]:
    """Write files beside their targets, all in one folder, and move them there together when the block ends.

    If anything fails, the folder is as it was: no part of a file stays, nor a folder that was made, and files that were
    there keep their content. A file that is replaced by another content is named in a warning.

    Parameters
    ----------
    targets : sequence of Path
        All in one folder, which is made where there is none.
    warning : type, optional
        Category of the warning.

    Yields
    ------
    list of Path
        Where to write; one for each target.
    """
    folder = targets[0].parent
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    parts = [_hidden_name(folder, _TOGETHER_SUFFIX) for _ in targets]
    done = False
    try:
        _make_writable_folder(folder)
        _sweep_together(folder)
        yield parts
        for part in parts:
            with part.open("rb+") as stream:
                os.fsync(stream.fileno())
        with folder_lock(folder):  # two processes do not mix their files
            replaced = _move_together(parts, targets)
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
            warning,
            stacklevel=4,
        )


def _hidden_name(folder: Path, suffix: str) -> Path:
    return folder / f"{_TOGETHER_PREFIX}{uuid.uuid4().hex}{suffix}"


def _make_writable_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder} ({error.strerror})", remedy="choose another one") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"cannot write into {folder}", remedy="choose another folder")


def _move_together(parts: Sequence[Path], targets: Sequence[Path]) -> list[tuple[Path, str]]:
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
                kept[target] = old = _hidden_name(target.parent, _KEPT_SUFFIX)
                _keep_copy(target, old)
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


def _keep_copy(target: Path, copy: Path) -> None:
    try:
        os.link(target, copy)
    except OSError:  # not every file system has links
        shutil.copy2(target, copy)


def _sweep_together(folder: Path) -> None:
    """Remove what a process that was killed long ago left here."""
    for left in folder.glob(f"{_TOGETHER_PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):  # another process finished just now
            if left.suffix in (_TOGETHER_SUFFIX, _KEPT_SUFFIX) and time.time() - left.stat().st_mtime > STALE:
                left.unlink()


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # somebody else put something there, or it was never made
            return


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Let one thread of one process at a time work in `folder`.

    The lock is on the folder itself, so no lock file stays behind, and the system releases it when its holder dies.
    It saves work (nobody downloads twice); that a file is whole never depends on it. So where a file system knows no
    locks, and where a lock is held unreasonably long, work goes on without.
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
                _logger.debug("no lock on %s: %s", folder, error)
                break
        yield
    finally:
        os.close(descriptor)
