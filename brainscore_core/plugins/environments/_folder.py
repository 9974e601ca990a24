"""The folder of environments: what lies there, in which state, and how it goes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, replacing
from brainscore_core.plugins.environments import _locks
from brainscore_core.plugins.environments._base import installed_in

__all__ = [
    "Manifest",
    "StoredEnvironment",
    "environments",
    "environments_home",
    "folder_of",
    "keys",
    "lease_file",
    "lock_file",
    "move_away",
    "new_part",
    "python_of",
    "read_manifest",
    "remove_environment",
    "site_of",
    "state_of",
    "touch",
    "unfinished",
    "write_manifest",
]

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


def environments_home(root: Path | None = None) -> Path:
    """Folder of environments: ``$BRAINSCORE_HOME/environments``, by default ``~/.brain-score/environments``.

    Examples
    --------
    >>> environments_home().name
    'environments'
    """
    if root is not None:
        return Path(root).expanduser().absolute()
    return Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser().absolute() / "environments"


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
    guard = _locks.take_alone(lease_file(root, stored.key))
    if guard is None or (guard < 0 and time.time() - stored.used < _SETTLED):
        return False
    try:
        move_away(root, stored.key)
        lease_file(root, stored.key).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot remove {stored.folder}: {error.strerror}", remedy="check who owns it") from error
    finally:
        _locks.release(guard)
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
    guard = _locks.take_alone(lease_file(root, key))
    if guard is None:
        return True
    _locks.release(guard)
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
