"""The folder of environments: locks, states, and removal of environments that are not used."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, STALE, replacing
from brainscore_core.paths import environments_home
from brainscore_core.plugins.environments.base import installed_in

__all__ = [
    "PATIENCE",
    "Collected",
    "Manifest",
    "StoredEnvironment",
    "collect_garbage",
    "environments",
    "exclusive",
    "folder_of",
    "keys",
    "lease",
    "lease_file",
    "lock_file",
    "move_away",
    "new_part",
    "python_of",
    "read_manifest",
    "release",
    "remove_environment",
    "site_of",
    "state_of",
    "take_alone",
    "touch",
    "unfinished",
    "write_manifest",
]

try:
    import fcntl
except ImportError:  # not on Windows: two processes may build the same twice, and the second's is then dropped
    fcntl = None  # type: ignore[assignment] # Windows


PATIENCE = 1800.0  # seconds; then it is built here, too: a lock only keeps from doing it twice
_PAUSE = 0.05
_logger = logging.getLogger(__name__)


@contextmanager
def exclusive(path: Path, *, waiting: Callable[[str], None], patience: float = PATIENCE) -> Iterator[bool]:
    """Let one process at a time into the block.

    Parameters
    ----------
    path : Path
        File of the lock; says who holds it.
    waiting : callable
        Told once, who holds it, when there is something to wait for.
    patience : float
        Seconds to wait.

    Yields
    ------
    bool
        Whether this process is alone there; not where patience ran out, or there are no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline, told = time.monotonic() + patience, False
    while (descriptor := take_alone(path)) is None and time.monotonic() < deadline:
        if not told:
            waiting(_holder(path))
            told = True
        time.sleep(_PAUSE)
    try:
        if descriptor is not None and descriptor >= 0:
            _say_who(descriptor)
        yield descriptor is not None and descriptor >= 0
    finally:
        if descriptor is not None:
            release(descriptor)


def take_alone(path: Path) -> int | None:
    """Lock a file against everyone else; None while somebody holds it. A negative number where there are no locks."""
    return _take(path, alone=True)


def lease(path: Path) -> int | None:
    """Share a lock on a file with others that use the same; None while somebody removes it."""
    return _take(path, alone=False)


def release(descriptor: int) -> None:
    """Give a lock back."""
    if descriptor >= 0:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _take(path: Path, *, alone: bool) -> int | None:
    if fcntl is None:
        return -1
    while True:
        try:
            descriptor = _opened(path, alone=alone)
        except OSError as error:  # a folder that cannot be written to: nothing is built or removed from here
            _logger.debug("no lock on %s: %s", path, error)
            return -1
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:  # a file system without locks
            _logger.debug("no lock on %s: %s", path, error)
            os.close(descriptor)
            return -1
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)  # it was removed, with what it guards, between opening and locking


def _opened(path: Path, *, alone: bool) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        if alone:
            raise
        return os.open(path, os.O_RDONLY)  # somebody else's folder: whoever may remove there sees the lock


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def _say_who(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {platform.node()}".encode(), 0)


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:200] or "another process"
    except OSError:
        return "another process"


_MANIFEST = "environment.json"
_FILES = "files.json"
_VERSION = 1
_KEY = re.compile(r"[0-9a-f]{12}-[0-9a-f]{12}")
_SETTLED = 600.0  # seconds; without locks, what was used since then counts as in use
State = Literal["good", "base changed", "base missing", "broken"]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What an environment is made of; stands in it as ``environment.json``.

    Attributes
    ----------
    key : str
        Hash of what was asked for, hash of what it became.
    plugin : str
        For which it was made; others that ask for the same share it.
    requirements, options : tuple of str
        What was asked for.
    installed, relied, shadowed : dict
        Versions of what is installed in it; of what requirements take from the base; of what the base has and the
        environment has in another version.
    notes : tuple of str
        What of the base does not work with it.
    base : dict
        Interpreter: ``python``, ``version``, ``prefix``, ``path``, ``mounts``.
    made : float
        When, in seconds since 1970.
    """

    key: str
    plugin: str
    requirements: tuple[str, ...]
    options: tuple[str, ...]
    installed: dict[str, str]
    relied: dict[str, str]
    shadowed: dict[str, str]
    notes: tuple[str, ...]
    base: dict[str, Any]
    made: float


@dataclass(frozen=True)
class StoredEnvironment:
    """An environment of the folder.

    Attributes
    ----------
    key : str
        Its folder's name.
    folder : Path
        The folder.
    manifest : Manifest or None
        None where it cannot be read.
    state : str
        ``'good'``; ``'base changed'``, packages of the base that it relies on have other versions by now;
        ``'base missing'``; ``'broken'``, files are missing.
    used : float
        When it was last used, in seconds since 1970.
    nbytes : int
        Its size.
    in_use : bool
        Whether a running process uses it.
    """

    key: str
    folder: Path
    manifest: Manifest | None
    state: State
    used: float
    nbytes: int
    in_use: bool


def folder_of(root: Path, key: str) -> Path:
    """Folder of an environment."""
    return root / key


def site_of(folder: Path) -> Path:
    """Folder of packages of an environment."""
    found = next(iter(sorted(folder.glob("lib/python*/site-packages"))), None)
    return found or folder / "Lib" / "site-packages"


def python_of(folder: Path) -> Path:
    """Interpreter of an environment."""
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def lock_file(root: Path, request: str) -> Path:
    """File that the builder of what was asked for locks."""
    return root / ".locks" / f"{request}.build"


def lease_file(root: Path, key: str) -> Path:
    """File that the users of an environment share a lock on."""
    return root / ".locks" / f"{key}.use"


def keys(root: Path, request: str = "") -> Iterator[str]:
    """Keys of what lies there, of one request or all."""
    try:
        names = sorted(os.listdir(root))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(
            f"cannot read the environments in {root}: {error.strerror}",
            remedy="set BRAINSCORE_HOME to a folder that you can read",
        ) from error
    yield from (name for name in names if _KEY.fullmatch(name) and name.startswith(request))


def unfinished(root: Path, request: str = "") -> list[Path]:
    """What is being built, or a killed process left."""
    return sorted(root.glob(f".{request or '*'}.*{PART_SUFFIX}"))


def new_part(root: Path, request: str) -> Path:
    """Path for something unfinished."""
    return root / f".{request}.{uuid.uuid4().hex}{PART_SUFFIX}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write what an environment is made of, and which files it has."""
    files = _files(folder)
    with replacing(folder / _FILES) as stream:
        stream.write(json.dumps(files, sort_keys=True).encode())
    document = {"version": _VERSION, **manifest.__dict__}
    with replacing(folder / _MANIFEST) as stream:
        stream.write(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False).encode())
    for name in (_FILES, _MANIFEST):
        (folder / name).chmod(0o644)


def read_manifest(folder: Path) -> Manifest | None:
    """Read what an environment is made of; None where that cannot be read."""
    try:
        content = json.loads((folder / _MANIFEST).read_bytes())
        if content.pop("version") != _VERSION or content["key"] != folder.name:
            return None
        content |= {name: tuple(content[name]) for name in ("requirements", "options", "notes")}
        return Manifest(**content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def state_of(folder: Path, manifest: Manifest | None, present: Mapping[str, str] | None = None) -> State:
    """Whether an environment can be used.

    Parameters
    ----------
    folder : Path
        Its folder.
    manifest : Manifest or None
        As read.
    present : mapping, optional
        Versions of what the base has now, where the caller knows.
    """
    if manifest is None or not _intact(folder):
        return "broken"
    # links are followed: an interpreter that is gone is missing
    if not Path(manifest.base["python"]).exists() or not python_of(folder).exists():
        return "base missing"
    if present is None:
        found = installed_in(map(Path, manifest.base["path"]))
        present = {name: distribution.version for name, distribution in found.items()}
    changed = any(present.get(name) != version for name, version in manifest.relied.items())
    return "base changed" if changed else "good"


def touch(folder: Path) -> None:
    """Note that an environment is used now; where that is not allowed it is not noted."""
    with contextlib.suppress(OSError):
        os.utime(folder / _MANIFEST)


def environments(root: Path | None = None) -> list[StoredEnvironment]:
    """List environments, the most recently used first.

    Parameters
    ----------
    root : Path, optional
        Their folder, by default `environments_home`.
    """
    home = environments_home(root)
    found = [_stored(home, key) for key in keys(home)]
    return sorted((entry for entry in found if entry is not None), key=lambda entry: (-entry.used, entry.key))


def remove_environment(stored: StoredEnvironment) -> bool:
    """Remove an environment, unless a process uses it.

    Returns
    -------
    bool
        Whether it is gone.
    """
    root = stored.folder.parent
    guard = take_alone(lease_file(root, stored.key))
    if guard is None or (guard < 0 and time.time() - stored.used < _SETTLED):
        return False
    try:
        move_away(root, stored.key)
        lease_file(root, stored.key).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot remove {stored.folder}: {error.strerror}", remedy="check who owns it") from error
    finally:
        release(guard)
    return True


def move_away(root: Path, key: str) -> None:
    """Remove an environment's folder: renamed first, so that nobody finds half of it."""
    part = new_part(root, key)
    with contextlib.suppress(FileNotFoundError):
        os.replace(folder_of(root, key), part)
        shutil.rmtree(part, ignore_errors=True)


def _stored(root: Path, key: str) -> StoredEnvironment | None:
    folder = folder_of(root, key)
    manifest = read_manifest(folder)
    try:
        used = (folder / _MANIFEST if manifest else folder).stat().st_mtime
        nbytes = sum(_files(folder).values())
    except FileNotFoundError:  # removed just now
        return None
    return StoredEnvironment(key, folder, manifest, state_of(folder, manifest), used, nbytes, _is_used(root, key))


def _is_used(root: Path, key: str) -> bool:
    if not lease_file(root, key).exists():
        return False
    guard = take_alone(lease_file(root, key))
    if guard is None:
        return True
    release(guard)
    return False


def _intact(folder: Path) -> bool:
    """Whether every file is there, with its size."""
    try:
        expected = json.loads((folder / _FILES).read_bytes())
        found = _files(folder)
    except (OSError, ValueError):
        return False
    return all(found.get(name) == size for name, size in expected.items())


def _files(folder: Path) -> dict[str, int]:
    """Sizes of all files by path in `folder`, links not followed; the two that describe it left out."""
    found: dict[str, int] = {}
    waiting = [str(folder)]
    start = len(str(folder)) + 1
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not entry.is_symlink():
                    found[entry.path[start:]] = entry.stat(follow_symlinks=False).st_size
    found.pop(_MANIFEST, None)
    found.pop(_FILES, None)
    return found


@dataclass(frozen=True)
class Collected:
    """What was removed, or would be.

    Attributes
    ----------
    removed : tuple of StoredEnvironment
        Environments that are gone.
    kept : tuple of StoredEnvironment
        Those that are left.
    remains : tuple of Path
        What killed processes had left.
    """

    removed: tuple[StoredEnvironment, ...]
    kept: tuple[StoredEnvironment, ...]
    remains: tuple[Path, ...]


def collect_garbage(
    root: Path | None = None,
    *,
    older_than: float | None = None,
    max_bytes: int | None = None,
    dry_run: bool = False,
) -> Collected:
    """Remove environments that cannot be used any more, that were not used for long, or that take too much space.

    One that a process uses always stays, where the file system has locks.

    Parameters
    ----------
    root : Path, optional
        Folder of environments, by default `environments_home`.
    older_than : float, optional
        Also remove what was not used for that many seconds.
    max_bytes : int, optional
        Also remove the least recently used ones until the rest takes no more than that.
    dry_run : bool
        Only say what would be removed.

    Returns
    -------
    Collected
        What is gone, and what is left.

    Examples
    --------
    >>> collect_garbage(older_than=30 * 86400).removed
    ()
    """
    home = environments_home(root)
    every = environments(home)
    now = time.time()
    unwanted = {
        entry.key
        for entry in every
        if entry.state != "good" or (older_than is not None and now - entry.used > older_than)
    }
    if max_bytes is not None:
        unwanted |= _beyond([entry for entry in every if entry.key not in unwanted or entry.in_use], max_bytes)
    removed: list[StoredEnvironment] = []
    kept: list[StoredEnvironment] = []
    for entry in every:
        gone = entry.key in unwanted and not entry.in_use and (dry_run or remove_environment(entry))
        (removed if gone else kept).append(entry)
    return Collected(tuple(removed), tuple(kept), tuple(_sweep(home, dry_run=dry_run)))


def _beyond(entries: list[StoredEnvironment], limit: int) -> set[str]:
    """Keys of the least recently used ones that must go; the others, in use or not, take at most `limit` bytes."""
    total = sum(entry.nbytes for entry in entries)
    found = set()
    for entry in reversed(entries):
        if total <= limit:
            break
        if not entry.in_use:
            found.add(entry.key)
            total -= entry.nbytes
    return found


def _sweep(root: Path, *, dry_run: bool) -> list[Path]:
    """Remove what processes that were killed left: nobody holds its lock."""
    swept = []
    for part in unfinished(root):
        guard = take_alone(lock_file(root, part.name.split(".")[1]))
        if guard is None:
            continue
        try:
            with contextlib.suppress(FileNotFoundError):
                if guard < 0 and time.time() - part.stat().st_mtime < STALE:
                    continue  # without locks, only time tells
                swept.append(part)
                if not dry_run:
                    shutil.rmtree(part, ignore_errors=True)
        finally:
            release(guard)
    return swept
