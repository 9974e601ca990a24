"""The folder of environments: locks, states, and removal of unused environments."""

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

try:
    import fcntl
except ImportError:  # Windows: two processes may build the same environment, and the second result is discarded
    fcntl = None  # type: ignore[assignment] # Windows


PATIENCE = 1800.0  # seconds, after which it is built anyway: locks only avoid duplicate work
_PAUSE = 0.05
_logger = logging.getLogger(__name__)


@contextmanager
def exclusive(path: Path, *, waiting: Callable[[str], None], patience: float = PATIENCE) -> Iterator[bool]:
    """Let only one process at a time execute the block.

    The file of the lock contains its holder. `waiting` is called once with the holder if this process has to wait, for
    at most `patience` seconds. Yields whether this process holds the lock: False after `patience`, or without locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline, reported = time.monotonic() + patience, False
    while (descriptor := take_alone(path)) is None and time.monotonic() < deadline:
        if not reported:
            waiting(_holder(path))
            reported = True
        time.sleep(_PAUSE)
    alone = descriptor is not None and descriptor >= 0
    try:
        if descriptor is not None and alone:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"process {os.getpid()} on {platform.node()}".encode(), 0)
        yield alone
    finally:
        if descriptor is not None:
            release(descriptor)


def take_alone(path: Path) -> int | None:
    """Lock a file exclusively; None if it is locked, a negative number without locks."""
    return _take(path, alone=True)


def lease(path: Path) -> int | None:
    """Take a shared lock on a file; None if it is locked exclusively for removal."""
    return _take(path, alone=False)


def release(descriptor: int) -> None:
    """Release a lock."""
    if descriptor >= 0:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _take(path: Path, *, alone: bool) -> int | None:
    if fcntl is None:
        return -1
    while True:
        try:
            descriptor = _opened(path, alone=alone)
        except OSError as error:  # a read-only folder: this process neither builds nor removes there
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
        if _is_current(path, descriptor):
            return descriptor
        os.close(descriptor)  # removed together with the environment between opening and locking


def _opened(path: Path, *, alone: bool) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        if alone:
            raise
        return os.open(path, os.O_RDONLY)  # a folder of another user, who sees the lock


def _is_current(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def _holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:200] or "another process"
    except OSError:
        return "another process"


_MANIFEST = "environment.json"
_FILES = "files.json"
_VERSION = 1
_KEY = re.compile(r"[0-9a-f]{12}-[0-9a-f]{12}")
_IDLE_SECONDS = 600.0  # without locks, an environment used since then counts as in use
State = Literal["good", "base changed", "base missing", "broken"]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Content of an environment, stored in it as ``environment.json``.

    Attributes
    ----------
    key : str
        Hash of the request, and hash of the result.
    plugin : str
        The plugin for which it was built; plugins with the same requirements share it.
    requirements, options : tuple of str
        The request.
    installed, relied, shadowed : dict
        Versions of packages installed in it; of packages used from the base; of packages of the base that it replaces
        by other versions.
    notes : tuple of str
        Packages of the base that do not work with it.
    base : dict
        Interpreter: ``python``, ``version``, ``prefix``, ``path``, ``mounts``.
    made : float
        Time of the build, in seconds since 1970.
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
        None if it cannot be read.
    state : str
        ``'good'``; ``'base changed'``: packages of the base that it uses have other versions now;
        ``'base missing'``; ``'broken'``: files are missing.
    used : float
        Time of the last use, in seconds since 1970.
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


def site_of(folder: Path) -> Path:
    """Folder of packages of an environment."""
    return next(iter(sorted(folder.glob("lib/python*/site-packages"))), folder / "Lib" / "site-packages")


def python_of(folder: Path) -> Path:
    """Interpreter of an environment."""
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def lock_file(root: Path, request: str) -> Path:
    """File that is locked while a request is built."""
    return root / ".locks" / f"{request}.build"


def lease_file(root: Path, key: str) -> Path:
    """File on which users of an environment hold a shared lock."""
    return root / ".locks" / f"{key}.use"


def keys(root: Path, request: str = "") -> Iterator[str]:
    """Keys of the environments in a folder, of one request or all."""
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
    """Unfinished environments, which are being built or left by a killed process."""
    return sorted(root.glob(f".{request or '*'}.*{PART_SUFFIX}"))


def new_part(root: Path, request: str) -> Path:
    """Temporary path for an unfinished environment."""
    return root / f".{request}.{uuid.uuid4().hex}{PART_SUFFIX}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of an environment and the list of its files."""
    files = _files(folder)
    with replacing(folder / _FILES) as stream:
        stream.write(json.dumps(files, sort_keys=True).encode())
    document = {"version": _VERSION, **manifest.__dict__}
    with replacing(folder / _MANIFEST) as stream:
        stream.write(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False).encode())
    for name in (_FILES, _MANIFEST):
        (folder / name).chmod(0o644)


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of an environment; None if it cannot be read."""
    try:
        content = json.loads((folder / _MANIFEST).read_bytes())
        if content.pop("version") != _VERSION or content["key"] != folder.name:
            return None
        content |= {name: tuple(content[name]) for name in ("requirements", "options", "notes")}
        return Manifest(**content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def state_of(folder: Path, manifest: Manifest | None, present: Mapping[str, str] | None = None) -> State:
    """Determine whether an environment can be used.

    `present` are the present versions of the base's packages, if known.
    """
    try:
        expected, sizes = json.loads((folder / _FILES).read_bytes()), _files(folder)
    except (OSError, ValueError):
        return "broken"
    if manifest is None or any(sizes.get(name) != size for name, size in expected.items()):
        return "broken"
    # follows links, so that a removed interpreter is missing
    if not Path(manifest.base["python"]).exists() or not python_of(folder).exists():
        return "base missing"
    if present is None:
        distributions = installed_in(map(Path, manifest.base["path"]))
        present = {name: distribution.version for name, distribution in distributions.items()}
    changed = any(present.get(name) != version for name, version in manifest.relied.items())
    return "base changed" if changed else "good"


def touch(folder: Path) -> None:
    """Record that an environment is used now, if the folder is writable."""
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
    stored = [_stored(home, key) for key in keys(home)]
    return sorted((entry for entry in stored if entry is not None), key=lambda entry: (-entry.used, entry.key))


def remove_environment(stored: StoredEnvironment) -> bool:
    """Remove an environment, unless a process uses it, or has used it since it was listed.

    Returns
    -------
    bool
        Whether it was removed.
    """
    root = stored.folder.parent
    guard = take_alone(lease_file(root, stored.key))
    if guard is None or (guard < 0 and time.time() - stored.used < _IDLE_SECONDS):
        return False
    try:
        if stored.manifest is not None and _last_use(stored.folder) > stored.used:
            return False
        move_away(root, stored.key)
        lease_file(root, stored.key).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot remove {stored.folder}: {error.strerror}", remedy="check who owns it") from error
    finally:
        release(guard)
    return True


def move_away(root: Path, key: str) -> None:
    """Remove an environment's folder, after renaming it so that no process finds it incomplete."""
    temporary = new_part(root, key)
    with contextlib.suppress(FileNotFoundError):
        os.replace(root / key, temporary)
        shutil.rmtree(temporary, ignore_errors=True)


def _stored(root: Path, key: str) -> StoredEnvironment | None:
    folder = root / key
    manifest = read_manifest(folder)
    try:
        used = _last_use(folder) if manifest else folder.stat().st_mtime
        nbytes = sum(_files(folder).values())
    except FileNotFoundError:  # removed just now
        return None
    return StoredEnvironment(key, folder, manifest, state_of(folder, manifest), used, nbytes, _is_used(root, key))


def _last_use(folder: Path) -> float:
    return (folder / _MANIFEST).stat().st_mtime


def _is_used(root: Path, key: str) -> bool:
    if not lease_file(root, key).exists():
        return False
    guard = take_alone(lease_file(root, key))
    if guard is None:
        return True
    release(guard)
    return False


def _files(folder: Path) -> dict[str, int]:
    """Sizes of all files by path in `folder`, without following links and without the two that describe it."""
    sizes: dict[str, int] = {}
    waiting = [str(folder)]
    start = len(str(folder)) + 1
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not entry.is_symlink():
                    sizes[entry.path[start:]] = entry.stat(follow_symlinks=False).st_size
    sizes.pop(_MANIFEST, None)
    sizes.pop(_FILES, None)
    return sizes


@dataclass(frozen=True)
class Collected:
    """Result of a garbage collection.

    Attributes
    ----------
    removed : tuple of StoredEnvironment
        Removed environments, or those that would be removed.
    kept : tuple of StoredEnvironment
        The others.
    remains : tuple of Path
        Remains of killed processes.
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
    """Remove environments that cannot be used, were not used for a long time, or take too much space.

    An environment in use is never removed if the file system supports locks.

    Parameters
    ----------
    root : Path, optional
        Folder of environments, by default `environments_home`.
    older_than : float, optional
        Also remove environments that were not used for that many seconds.
    max_bytes : int, optional
        Also remove the least recently used ones until the others take at most that much space.
    dry_run : bool
        Only determine what would be removed.

    Returns
    -------
    Collected
        Removed and remaining environments.

    Examples
    --------
    >>> collect_garbage(older_than=30 * 86400).removed
    ()
    """
    home = environments_home(root)
    stored = environments(home)
    now = time.time()
    outdated = {
        entry.key
        for entry in stored
        if entry.state != "good" or (older_than is not None and now - entry.used > older_than)
    }
    if max_bytes is not None:
        outdated |= _beyond_limit([entry for entry in stored if entry.key not in outdated or entry.in_use], max_bytes)
    removed: list[StoredEnvironment] = []
    remaining: list[StoredEnvironment] = []
    for entry in stored:
        is_removed = entry.key in outdated and not entry.in_use and (dry_run or remove_environment(entry))
        (removed if is_removed else remaining).append(entry)
    return Collected(tuple(removed), tuple(remaining), tuple(_sweep(home, dry_run=dry_run)))


def _beyond_limit(entries: list[StoredEnvironment], limit: int) -> set[str]:
    """Keys of the least recently used environments to remove so that the others take at most `limit` bytes."""
    total = sum(entry.nbytes for entry in entries)
    excess = set()
    for entry in reversed(entries):
        if total <= limit:
            break
        if not entry.in_use:
            excess.add(entry.key)
            total -= entry.nbytes
    return excess


def _sweep(root: Path, *, dry_run: bool) -> list[Path]:
    """Remove remains of killed processes, whose locks are free."""
    swept = []
    for folder in unfinished(root):
        guard = take_alone(lock_file(root, folder.name.split(".")[1]))
        if guard is None:
            continue
        try:
            with contextlib.suppress(FileNotFoundError):
                if guard < 0 and time.time() - folder.stat().st_mtime < STALE:
                    continue  # without locks, only old ones are removed
                swept.append(folder)
                if not dry_run:
                    shutil.rmtree(folder, ignore_errors=True)
        finally:
            release(guard)
    return swept
