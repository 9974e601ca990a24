"""Making an environment: a virtual one that sees the base's packages, and wheels on top."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

from brainscore_core.errors import UserError
from brainscore_core.plugins.environments import _folder
from brainscore_core.plugins.environments._base import (
    Base,
    Installed,
    applies,
    closure,
    installed_in,
    platform_needs,
    requires,
    without_python_settings,
)
from brainscore_core.plugins.environments._errors import RequirementsError
from brainscore_core.plugins.environments._explain import explain, unmatched
from brainscore_core.plugins.environments._pip import UMASK, constraint_lines, install
from brainscore_core.plugins.environments._wanted import Wanted

__all__ = ["build", "relocate"]

_LINK = "_brainscore_base.pth"
_APPEND = "import sys; {0} in sys.path or sys.path.append({0})"  # Python may read the file twice
_TRY = "import brainscore_core.errors, numpy"
_PACKAGES = ("brainio", "brainscore", "brainscore_core", "brainscore_vision")
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
    """Make an environment in the folder `part`, all but its place and its key.

    Raises
    ------
    RequirementsError
        Requirements that cannot be met.
    UserError
        An interpreter that makes no environments, a full disk, and the like.
    """
    _make_overlay(part, base)
    missing = [item.text for item in wanted.items if not item.met_by(installed)]
    if missing or wanted.constraints:
        say(f"installing {', '.join(missing)}" if missing else "checking versions")
        _install(part, wanted, base=base, plugin=plugin, installed=installed, say=say)
    own = installed_in([_folder.site_of(part)])
    _refuse_platform(part, own, wanted, plugin)
    visible = {**installed, **own}
    asked = [(item.name, item.requirement.extras) for item in wanted.items] + [(name, ()) for name in wanted.met]
    reached = closure([*asked, *((name, ()) for name in own)], visible, base.markers)
    shadowed = {name: installed[name].version for name in own if name in installed}
    return _folder.Manifest(
        key="",
        plugin=plugin,
        requirements=tuple(sorted({item.identity for item in wanted.items})),
        options=tuple(line.shown for line in wanted.options),
        installed={name: found.version for name, found in own.items()},
        relied={name: version for name, version in reached.items() if name not in own},
        shadowed=shadowed,
        notes=tuple(_broken(visible, own, shadowed, base)),
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
    """Folders that an environment over this interpreter reads, none within another."""
    every = sorted({*base.prefixes, base.prefix, base.interpreter.parent.parent, *base.everywhere})
    kept: list[Path] = []
    for folder in every:
        if folder.exists() and not any(folder.is_relative_to(outer) for outer in kept):
            kept.append(folder)
    return kept


def relocate(part: Path, target: Path) -> None:
    """Let scripts of an environment that is about to move name the place where it will be."""
    before, after = os.fsencode(part), os.fsencode(target)
    scripts = _folder.python_of(part).parent
    for script in scripts.iterdir():
        if script.is_symlink() or not script.is_file() or script.stat().st_size > _SCRIPT_LIMIT:
            continue
        content = script.read_bytes()
        if content.startswith(b"#!") and before in content:
            script.write_bytes(content.replace(before, after))


def _make_overlay(part: Path, base: Base) -> None:
    try:
        _run([str(base.python), "-m", "venv", "--without-pip", str(part)], part.parent)
    except subprocess.CalledProcessError as error:
        raise UserError(
            f"{base.python} cannot make an environment in {part.parent}: {_last(error)}",
            remedy="Python's venv module is needed (on Debian: apt install python3-venv), and space on the disk",
        ) from error
    part.chmod(0o755)
    for script in _folder.python_of(part).parent.glob("[Aa]ctivate*"):
        script.unlink()  # they name the place where it is built, and nobody needs them
    (part / ".gitignore").unlink(missing_ok=True)
    lines = [_APPEND.format(ascii(str(folder))) for folder in base.ahead]
    lines += [f"import site; site.addsitedir({str(folder)!a})" for folder in base.sites]
    lines += [_APPEND.format(ascii(str(folder))) for folder in base.extra]
    (_folder.site_of(part) / _LINK).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    (_folder.site_of(part) / _LINK).chmod(0o644)
    try:
        _run([str(_folder.python_of(part)), "-P", "-B", "-c", _TRY], part)
    except subprocess.CalledProcessError as error:
        raise UserError(
            f"an environment over {base.python} cannot import brainscore_core: {_last(error)}",
            remedy=f"install Brain-Score there: {base.python} -m pip install brainscore",
        ) from error


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(  # noqa: S603 (an interpreter, with what stands above)
        command,
        check=True,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=without_python_settings(),
        umask=UMASK,
    )


def _last(error: subprocess.CalledProcessError) -> str:
    return ((error.stderr or error.stdout or "").strip().splitlines() or [str(error)])[-1]


def _install(
    part: Path,
    wanted: Wanted,
    *,
    base: Base,
    plugin: str,
    installed: Mapping[str, Installed],
    say: Callable[[str], None],
) -> None:
    """Install wheels: with everything of the base as it is, and where that cannot be, with what the platform needs."""
    held = platform_needs(base, installed)
    work = part / ".work"
    python, declared = _folder.python_of(part), _declared(base, installed)
    limits = [*constraint_lines(installed, but=("pip", "setuptools", "wheel")), *declared]
    outcome = install(python, wanted, base=base, constraints=limits, work=work, say=say)
    if not outcome.succeeded and (outcome.in_conflict or any(name in installed for name in unmatched(outcome))):
        _empty(part)
        limits = [*constraint_lines(held), *declared]
        outcome = install(python, wanted, base=base, constraints=limits, work=work, say=say)
    shutil.rmtree(work, ignore_errors=True)
    if not outcome.succeeded:
        raise explain(outcome, wanted, plugin=plugin, base=base, held=held)


def _empty(part: Path) -> None:
    """Take out what an installation that failed half-way may have left."""
    for entry in _folder.site_of(part).iterdir():
        if entry.name == _LINK:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _declared(base: Base, installed: Mapping[str, Installed]) -> list[str]:
    """Versions of torch that the platform goes with; its extra says so."""
    if "brainscore" not in installed:
        return []
    optional = [
        requirement
        for requirement in requires(installed["brainscore"])
        if not applies(requirement, base.markers) and applies(requirement, base.markers, ["torch"])
    ]
    return [f"{canonicalize_name(item.name)}{item.specifier}" for item in optional if item.specifier]


def _refuse_platform(part: Path, own: Mapping[str, Installed], wanted: Wanted, plugin: str) -> None:
    """Refuse wheels that bring another platform along: the model would answer to that one."""
    brought = [name for name in _PACKAGES if (_folder.site_of(part) / name).exists()]
    if not brought:
        return
    asked = "\n".join(f"  {item.line}" for item in wanted.items if item.name in own)
    raise RequirementsError(
        f"the requirements of {plugin} bring another {' and '.join(brought)} along:\n{asked}",
        remedy="ask for a version that does not require Brain-Score, or install it where you score",
        plugin=plugin,
        places=[(item.line.file, item.line.number) for item in wanted.items if item.name in own],
    )


def _broken(
    visible: Mapping[str, Installed], own: Mapping[str, Installed], shadowed: Mapping[str, str], base: Base
) -> list[str]:
    """Packages of the base that do not go with what shadows another of its packages."""
    notes = []
    for name, distribution in visible.items() if shadowed else ():
        if name in own:
            continue
        for requirement in requires(distribution):
            needed = canonicalize_name(requirement.name)
            if needed not in shadowed or not applies(requirement, base.markers):
                continue
            if not requirement.specifier.contains(own[needed].version, prereleases=True):
                notes.append(
                    f"{name} {distribution.version} of the base needs {needed}{requirement.specifier}; "
                    f"here is {needed} {own[needed].version}"
                )
    return notes
