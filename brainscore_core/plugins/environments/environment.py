"""Environments of plugins: found by what they are asked for, else made."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_core.paths import environments_home
from brainscore_core.plugins.environments import folder as _folder
from brainscore_core.plugins.environments import folder as locks
from brainscore_core.plugins.environments.base import Base, Installed, base_of
from brainscore_core.plugins.environments.build import build, relocate
from brainscore_core.plugins.environments.requirements import Wanted, what_is_wanted

__all__ = ["Environment", "environment_of"]

_VERSION = 1  # of the way they are made; another one makes all anew
_DIGITS = 12
_PAUSE = 0.01  # seconds between two looks at a lock
_logger = logging.getLogger(__name__)
_leases: dict[Path, list[int]] = {}  # of this process: the lock, and how many use it
_guard = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Environment:
    """An interpreter that has what a plugin requires.

    Attributes
    ----------
    python : Path
        The interpreter. It sees the base's packages, the platform among them, and in front of them its own. Wheels'
        ``.pth`` files run when it starts: start it where the plugin may run.
    key : str
        Hash of what was asked for and of what it became: the same key, the same versions.
    packages : dict of str
        Versions of what requirements lead to, whether installed in it or taken from the base.
    folder : Path
        Where it lies. Nothing is written there when it is used.
    installed, shadowed : dict of str
        Versions of what is installed in it; versions of the base that these hide.
    notes : tuple of str
        Requirements that were left out, and why; packages of the base that do not work with it.
    mounts : tuple of Path
        Folders outside of it that it reads: what a sandbox must show.
    """

    python: Path
    key: str
    packages: dict[str, str]
    folder: Path
    installed: dict[str, str]
    shadowed: dict[str, str]
    notes: tuple[str, ...]
    mounts: tuple[Path, ...]

    def release(self) -> None:
        """Say that it is used no longer, once for each `environment_of`; the end of the process says so, too."""
        _give_back(self.folder)


def environment_of(
    requirements: Sequence[Path],
    *,
    plugin: str,
    base: Path | None = None,
    root: Path | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Environment:
    """Find or make the environment that requirement files ask for.

    It lies over the base interpreter: whatever is installed there is there, in the same version where the
    requirements allow it, and wheels are installed in front of it for the rest. Nothing is installed into the base, and
    nothing is built from source. Where the base has everything, no network is needed.

    Parameters
    ----------
    requirements : sequence of Path
        Requirement files, as pip reads them; `plugin_requirements` names those of a plugin. None: the base as it is.
    plugin : str
        Whose they are, for messages.
    base : Path, optional
        The interpreter to lie over, by default the running one.
    root : Path, optional
        Folder of environments, by default `environments_home`.
    on_progress : callable, optional
        Told in a line each what takes time: waiting, making, installing. By default it is logged.

    Returns
    -------
    Environment
        In use until this process ends or calls its `release`.

    Raises
    ------
    RequirementsError
        Requirements that cannot be met; the message names plugin, file and line, and what pip said.
    UserError
        An interpreter or a folder that cannot be used.

    Examples
    --------
    >>> environment = environment_of([], plugin="pixels")
    >>> environment.installed
    {}
    """
    say = on_progress or _logger.info
    home = environments_home(root)
    interpreter = base_of(base)
    installed = interpreter.installed()
    wanted = what_is_wanted(requirements, plugin=plugin, base=interpreter, installed=installed)
    request = _request(wanted, interpreter)
    found = _find(home, request, installed, wanted)
    if found is not None:
        return found
    try:
        home.mkdir(parents=True, exist_ok=True)
        with locks.exclusive(
            _folder.lock_file(home, request),
            waiting=lambda who: say(f"waiting: {who} is making the environment of {plugin}"),
        ) as alone:
            found = _find(home, request, installed, wanted)
            return found or _make(home, request, wanted, interpreter, installed, plugin, say, alone=alone)
    except OSError as error:
        raise UserError(
            f"cannot make the environment of {plugin} in {home}: {error.strerror or error}",
            remedy="set BRAINSCORE_HOME to a folder on a disk with space that you can write to",
        ) from error


def _request(wanted: Wanted, base: Base) -> str:
    """Hash of what is asked for, and of where."""
    document = {
        "version": _VERSION,
        "python": [base.version, base.tag, base.platform, str(base.interpreter)],
        "base": [str(base.prefix), *map(str, (*base.ahead, *base.sites, *base.extra))],
        **wanted.document(),
    }
    return _hash(document)


def _hash(document: object) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _find(root: Path, request: str, installed: dict[str, Installed], wanted: Wanted) -> Environment | None:
    """Find an environment that was made for this and is whole, and keep it from removal."""
    present = {name: distribution.version for name, distribution in installed.items()}
    for key in _folder.keys(root, request):
        folder = _folder.folder_of(root, key)
        if not _keep(root, key):
            continue
        manifest = _folder.read_manifest(folder)
        if manifest is not None and _folder.state_of(folder, manifest, present) == "good":
            _folder.touch(folder)
            return _environment(folder, manifest, wanted)
        _give_back(folder)
    return None


def _keep(root: Path, key: str) -> bool:
    """Take a lease on an environment, for this process; False where it has been removed."""
    folder = _folder.folder_of(root, key)
    while folder.is_dir():
        with _guard:
            if folder in _leases:
                _leases[folder][1] += 1
                return True
            descriptor = locks.lease(_folder.lease_file(root, key))
            if descriptor is not None and folder.is_dir():
                _leases[folder] = [descriptor, 1]
                return True
        if descriptor is None:  # being removed, or looked at
            time.sleep(_PAUSE)
        else:
            locks.release(descriptor)
    return False


def _give_back(folder: Path) -> None:
    with _guard:
        held = _leases.get(folder)
        if held is None:
            return
        held[1] -= 1
        if held[1] == 0:
            locks.release(held[0])
            del _leases[folder]


def _environment(folder: Path, manifest: _folder.Manifest, wanted: Wanted) -> Environment:
    return Environment(
        python=_folder.python_of(folder),
        key=manifest.key,
        packages=dict(sorted({**manifest.relied, **manifest.installed}.items())),
        folder=folder,
        installed=dict(manifest.installed),
        shadowed=dict(manifest.shadowed),
        notes=(*wanted.notes, *manifest.notes),
        mounts=tuple(map(Path, manifest.base["mounts"])),
    )


def _make(
    root: Path,
    request: str,
    wanted: Wanted,
    base: Base,
    installed: dict[str, Installed],
    plugin: str,
    say: Callable[[str], None],
    *,
    alone: bool,
) -> Environment:
    """Make an environment beside its place and move it there; `alone` says that the caller holds the request's lock."""
    if alone:
        for remains in _folder.unfinished(root, request):
            shutil.rmtree(remains, ignore_errors=True)  # of a process that was killed: it would hold the lock
    say(f"making the environment of {plugin}")
    part = _folder.new_part(root, request)
    try:
        manifest = build(part, wanted, base=base, plugin=plugin, installed=installed, say=say)
        content = {"installed": manifest.installed, "relied": manifest.relied}
        key = f"{request}-{_hash(content)}"
        target = _folder.folder_of(root, key)
        relocate(part, target)
        _folder.write_manifest(part, dataclasses.replace(manifest, key=key))
        while not _moved(part, target):
            if _intact_there(root, key, installed):
                break  # made meanwhile, where there are no locks
            _folder.move_away(root, key)
        found = _find(root, request, installed, wanted)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    if found is None:
        raise UserError(f"the environment of {plugin} was removed from {root} while it was made", remedy="try again")
    return found


def _moved(part: Path, target: Path) -> bool:
    try:
        os.rename(part, target)
    except OSError:
        if target.exists():
            return False
        raise
    return True


def _intact_there(root: Path, key: str, installed: dict[str, Installed]) -> bool:
    folder = _folder.folder_of(root, key)
    present = {name: distribution.version for name, distribution in installed.items()}
    return _folder.state_of(folder, _folder.read_manifest(folder), present) == "good"
