"""Environments of plugins: find one, or build it as a virtual environment over the base's packages."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.utils import canonicalize_name

from brainscore_core.errors import UserError
from brainscore_core.paths import environments_home
from brainscore_core.plugins.environments import folder as _folder
from brainscore_core.plugins.environments import folder as locks
from brainscore_core.plugins.environments.base import (
    Base,
    Installed,
    applies,
    base_of,
    closure,
    installed_in,
    minimal_variables,
    outermost,
    requires,
)
from brainscore_core.plugins.environments.requirements import Wanted, what_is_wanted
from brainscore_core.plugins.environments.wheels import LINK, UMASK, install

_VERSION = 2  # of the build; a new version rebuilds all environments
_DIGITS = 12
_PAUSE = 0.01  # seconds between two checks of a lock
_logger = logging.getLogger(__name__)
_leases: dict[Path, list[int]] = {}  # of this process: descriptor of the lock, number of users
_guard = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Environment:
    """An interpreter with the packages that a plugin requires.

    Attributes
    ----------
    python : Path
        The interpreter. It sees its own packages first, then those of the base, including the platform. Code of wheels
        may run when it starts, so start it only where the plugin may run.
    key : str
        Hash of the request and of the result: the same key means the same versions.
    packages : dict of str
        Versions of the required packages, installed in it or taken from the base.
    folder : Path
        Its folder, to which its use does not write.
    installed, shadowed : dict of str
        Versions of packages installed in it; versions of packages of the base that these hide.
    notes : tuple of str
        Requirements that were left out, with reasons; packages of the base that do not work with it.
    mounts : tuple of Path
        Other folders that it reads, which must be visible in a sandbox.
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
        """Release the environment, once for each `environment_of`; the end of the process releases it as well."""
        _give_back(self.folder)


def environment_of(
    requirements: Sequence[Path],
    *,
    plugin: str,
    base: Path | None = None,
    root: Path | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Environment:
    """Find or build the environment for requirement files.

    It is an overlay of the base interpreter: packages installed there are available, in the same version if the
    requirements allow it, and wheels are installed in front of them for the rest. Nothing is installed into the base,
    and nothing is built from source. If the base meets all requirements, no network is needed.

    Parameters
    ----------
    requirements : sequence of Path
        Requirement files in pip's format, as from `plugin_requirements`. Empty for the packages of the base.
    plugin : str
        Name of the plugin, for messages.
    base : Path, optional
        The base interpreter, by default the running one.
    root : Path, optional
        Folder of environments, by default `environments_home`.
    on_progress : callable, optional
        Called with a line for each step that takes time: waiting, building, installing. By default it is logged.

    Returns
    -------
    Environment
        In use until this process ends or calls its `release`.

    Raises
    ------
    RequirementsError
        If requirements cannot be met; the message contains plugin, file, line, and the message of pip.
    UserError
        If the interpreter or the folder cannot be used.

    Examples
    --------
    >>> environment = environment_of([], plugin="pixels")
    >>> environment.installed
    {}
    """
    home, interpreter = environments_home(root), base_of(base)
    installed = interpreter.installed()
    needs = what_is_wanted(requirements, plugin=plugin, base=interpreter, installed=installed)
    request = _Request(home, plugin, needs, interpreter, installed, on_progress or _logger.info)
    environment = request.find()
    if environment is not None:
        return environment
    try:
        home.mkdir(parents=True, exist_ok=True)
        with locks.exclusive(
            _folder.lock_file(home, request.hash),
            waiting=lambda who: request.say(f"waiting: {who} is building the environment of {plugin}"),
        ) as alone:
            return request.find() or request.make(alone=alone)
    except OSError as error:
        raise UserError(
            f"cannot build the environment of {plugin} in {home}: {error.strerror or error}",
            remedy="set BRAINSCORE_HOME to a folder on a disk with space that you can write to",
        ) from error


def _hash(document: object) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:_DIGITS]


@dataclass(frozen=True)
class _Request:
    """The requirements of a plugin over a base interpreter."""

    root: Path
    plugin: str
    needs: Wanted
    base: Base
    installed: dict[str, Installed]  # in the base
    say: Callable[[str], None]

    @cached_property
    def hash(self) -> str:
        """Hash of the requirements and of the base."""
        base = self.base
        document = {
            "version": _VERSION,
            "python": [base.version, base.tag, base.platform, str(base.interpreter)],
            "base": [str(base.prefix), *map(str, (*base.ahead, *base.sites, *base.extra))],
            **self.needs.document(),
        }
        return _hash(document)

    def find(self) -> Environment | None:
        """Find an intact environment of this request, and protect it from removal."""
        for key in _folder.keys(self.root, self.hash):
            folder = self.root / key
            if not _keep(self.root, key):
                continue
            manifest = self._usable(folder)
            if manifest is not None:
                _folder.touch(folder)
                return Environment(
                    python=_folder.python_of(folder),
                    key=manifest.key,
                    packages=dict(sorted({**manifest.relied, **manifest.installed}.items())),
                    folder=folder,
                    installed=dict(manifest.installed),
                    shadowed=dict(manifest.shadowed),
                    notes=(*self.needs.notes, *manifest.notes),
                    mounts=tuple(map(Path, manifest.base["mounts"])),
                )
            _give_back(folder)
        return None

    def _usable(self, folder: Path) -> _folder.Manifest | None:
        """The manifest of an environment; None if it cannot be used."""
        manifest = _folder.read_manifest(folder)
        present = {name: distribution.version for name, distribution in self.installed.items()}
        return manifest if _folder.state_of(folder, manifest, present) == "good" else None

    def make(self, *, alone: bool) -> Environment:
        """Build an environment under a temporary name and rename it; `alone`: the caller holds the request's lock."""
        if alone:
            for remains in _folder.unfinished(self.root, self.hash):  # of a killed process: a running one has the lock
                shutil.rmtree(remains, ignore_errors=True)
        self.say(f"building the environment of {self.plugin}")
        unfinished = _folder.new_part(self.root, self.hash)
        try:
            manifest = self._build(unfinished)
            content = {"installed": manifest.installed, "relied": manifest.relied}
            target = self.root / f"{self.hash}-{_hash(content)}"
            relocate(unfinished, target)
            _folder.write_manifest(unfinished, dataclasses.replace(manifest, key=target.name))
            while unfinished.exists():
                try:
                    os.rename(unfinished, target)
                except OSError:
                    if not target.exists():
                        raise
                    if self._usable(target):
                        break  # built meanwhile by another process, on a system without locks
                    _folder.move_away(self.root, target.name)
            environment = self.find()
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        if environment is None:
            problem = f"the environment of {self.plugin} was removed from {self.root} while it was built"
            raise UserError(problem, remedy="try again")
        return environment

    def _build(self, part: Path) -> _folder.Manifest:
        """Build an environment in the folder `part`; its final path and key are set later."""
        needs, base, installed = self.needs, self.base, self.installed
        _make_overlay(part, base)
        missing = [item.text for item in needs.items if not item.met_by(installed)]
        if missing or needs.constraints:
            self.say(f"installing {', '.join(missing)}" if missing else "checking versions")
            install(part, needs, base=base, plugin=self.plugin, installed=installed, say=self.say)
        added = installed_in([_folder.site_of(part)])
        visible = {**installed, **added}
        asked = [(item.name, item.requirement.extras) for item in needs.items] + [(name, ()) for name in needs.met]
        reached = closure([*asked, *((name, ()) for name in added)], visible, base.markers)
        shadowed = {name: installed[name].version for name in added if name in installed}
        folders = (*base.prefixes, base.prefix, base.interpreter.parent.parent, *base.everywhere)  # that it reads
        return _folder.Manifest(
            key="",
            plugin=self.plugin,
            requirements=tuple(sorted({item.identity for item in needs.items})),
            options=tuple(line.shown for line in needs.options),
            installed={name: item.version for name, item in added.items()},
            relied={name: version for name, version in reached.items() if name not in added},
            shadowed=shadowed,
            notes=tuple(_broken(visible, added, shadowed, base)),
            base={
                "python": str(base.python),
                "version": base.version,
                "prefix": str(base.prefix),
                "path": [str(folder) for folder in base.everywhere],
                "mounts": [str(folder) for folder in outermost(folder for folder in folders if folder.exists())],
            },
            made=time.time(),
        )


def _keep(root: Path, key: str) -> bool:
    """Take a lease on an environment for this process; False if it has been removed."""
    folder = root / key
    while folder.is_dir():
        with _guard:
            if folder in _leases:
                _leases[folder][1] += 1
                return True
            descriptor = locks.lease(_folder.lease_file(root, key))
            if descriptor is not None and folder.is_dir():
                _leases[folder] = [descriptor, 1]
                return True
        if descriptor is None:  # being removed or checked
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


_APPEND = "import sys; {0} in sys.path or sys.path.append({0})"  # Python may read the file twice
_TRY = "import brainscore_core.errors, numpy"
_SCRIPT_LIMIT = 1_000_000  # bytes; larger ones are programs


def relocate(part: Path, target: Path) -> None:
    """Replace the present path of an environment by its future path in its scripts."""
    before, after = os.fsencode(part), os.fsencode(target)
    scripts = _folder.python_of(part).parent
    for script in scripts.iterdir():
        if script.is_symlink() or not script.is_file() or script.stat().st_size > _SCRIPT_LIMIT:
            continue
        content = script.read_bytes()
        if content.startswith(b"#!") and before in content:
            script.write_bytes(content.replace(before, after))


def _make_overlay(environment: Path, base: Base) -> None:
    try:
        _run_command([str(base.python), "-m", "venv", "--without-pip", str(environment)], environment.parent)
    except subprocess.CalledProcessError as error:
        raise UserError(
            f"{base.python} cannot create an environment in {environment.parent}: {_last(error)}",
            remedy="install Python's venv module (on Debian: apt install python3-venv), and check the free disk space",
        ) from error
    environment.chmod(0o755)
    for script in _folder.python_of(environment).parent.glob("[Aa]ctivate*"):
        script.unlink()  # they contain the temporary path, and are not needed
    (environment / ".gitignore").unlink(missing_ok=True)
    lines = [_APPEND.format(ascii(str(folder))) for folder in base.ahead]
    lines += [f"import site; site.addsitedir({str(folder)!a})" for folder in base.sites]
    lines += [_APPEND.format(ascii(str(folder))) for folder in base.extra]
    (_folder.site_of(environment) / LINK).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    (_folder.site_of(environment) / LINK).chmod(0o644)
    try:
        _run_command([str(_folder.python_of(environment)), "-P", "-B", "-c", _TRY], environment)
    except subprocess.CalledProcessError as error:
        raise UserError(
            f"an environment over {base.python} cannot import brainscore_core: {_last(error)}",
            remedy=f"install Brain-Score there: {base.python} -m pip install brainscore",
        ) from error


def _run_command(command: list[str], folder: Path) -> None:
    subprocess.run(  # noqa: S603 (an interpreter with fixed arguments)
        command,
        check=True,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=minimal_variables(),
        umask=UMASK,
    )


def _last(error: subprocess.CalledProcessError) -> str:
    return ((error.stderr or error.stdout or "").strip().splitlines() or [str(error)])[-1]


def _broken(
    visible: Mapping[str, Installed], added: Mapping[str, Installed], shadowed: Mapping[str, str], base: Base
) -> list[str]:
    """Packages of the base that are incompatible with a version that replaces one of its packages."""
    notes = []
    for name, distribution in visible.items() if shadowed else ():
        if name in added:
            continue
        for requirement in requires(distribution):
            needed = canonicalize_name(requirement.name)
            if needed not in shadowed or not applies(requirement, base.markers):
                continue
            if not requirement.specifier.contains(added[needed].version, prereleases=True):
                notes.append(
                    f"{name} {distribution.version} of the base needs {needed}{requirement.specifier}; "
                    f"the environment has {needed} {added[needed].version}"
                )
    return notes
