"""Build an environment: a virtual environment over the base's packages, with wheels installed by pip."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

from brainscore_core.errors import UserError
from brainscore_core.plugins.environments import folder as _folder
from brainscore_core.plugins.environments.base import (
    Base,
    Installed,
    applies,
    closure,
    installed_in,
    minimal_variables,
    requires,
)
from brainscore_core.plugins.environments.requirements import Wanted
from brainscore_core.plugins.environments.wheels import LINK, UMASK, install

_APPEND = "import sys; {0} in sys.path or sys.path.append({0})"  # Python may read the file twice
_TRY = "import brainscore_core.errors, numpy"
_SCRIPT_LIMIT = 1_000_000  # bytes; larger ones are programs


def build(
    part: Path,
    wanted: Wanted,
    *,
    base: Base,
    plugin: str,
    installed: Mapping[str, Installed],
    say: Callable[[str], None],
) -> _folder.Manifest:
    """Build an environment in the folder `part`; its final path and key are set later.

    Raises RequirementsError if requirements cannot be met. Raises UserError if the interpreter cannot create
    environments, the disk is full, and so on.
    """
    _make_overlay(part, base)
    missing = [item.text for item in wanted.items if not item.met_by(installed)]
    if missing or wanted.constraints:
        say(f"installing {', '.join(missing)}" if missing else "checking versions")
        install(part, wanted, base=base, plugin=plugin, installed=installed, say=say)
    added = installed_in([_folder.site_of(part)])
    visible = {**installed, **added}
    asked = [(item.name, item.requirement.extras) for item in wanted.items] + [(name, ()) for name in wanted.met]
    reached = closure([*asked, *((name, ()) for name in added)], visible, base.markers)
    shadowed = {name: installed[name].version for name in added if name in installed}
    return _folder.Manifest(
        key="",
        plugin=plugin,
        requirements=tuple(sorted({item.identity for item in wanted.items})),
        options=tuple(line.shown for line in wanted.options),
        installed={name: item.version for name, item in added.items()},
        relied={name: version for name, version in reached.items() if name not in added},
        shadowed=shadowed,
        notes=tuple(_broken(visible, added, shadowed, base)),
        base={
            "python": str(base.python),
            "version": base.version,
            "prefix": str(base.prefix),
            "path": [str(folder) for folder in base.everywhere],
            "mounts": [str(folder) for folder in mounts(base)],
        },
        made=time.time(),
    )


def mounts(base: Base) -> list[Path]:
    """Folders that an environment over this interpreter reads, without those inside another one."""
    every = sorted({*base.prefixes, base.prefix, base.interpreter.parent.parent, *base.everywhere})
    outermost: list[Path] = []
    for folder in every:
        if folder.exists() and not any(folder.is_relative_to(outer) for outer in outermost):
            outermost.append(folder)
    return outermost


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
