"""Build an environment: a virtual environment over the base's packages, with wheels installed by pip."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

from brainscore_core.errors import UserError
from brainscore_core.plugins.environments import folder as _folder
from brainscore_core.plugins.environments.base import (
    Base,
    Installed,
    applies,
    closure,
    installed_in,
    platform_needs,
    requires,
    without_python_settings,
)
from brainscore_core.plugins.environments.requirements import (
    Item,
    RequirementsError,
    RequirementsUnavailable,
    Wanted,
)

__all__ = ["build", "install", "relocate"]

# settings of actions and targets; settings of package sources are passed on
_OVERRIDDEN = frozenset(
    {"ABI", "BREAK_SYSTEM_PACKAGES", "COMPILE", "CONFIG_SETTINGS", "DRY_RUN", "EDITABLE", "FORCE_REINSTALL"}
    | {"GLOBAL_OPTION", "IGNORE_INSTALLED", "IGNORE_REQUIRES_PYTHON", "IMPLEMENTATION", "LOG", "NO_BINARY"}
    | {"NO_COMPILE", "NO_DEPENDENCIES", "NO_DEPS", "ONLY_BINARY", "PLATFORM", "PREFIX", "PROGRESS_BAR", "PYTHON"}
    | {"PYTHON_VERSION", "QUIET", "REPORT", "REQUIREMENT", "ROOT", "ROOT_USER_ACTION", "SRC", "TARGET", "UPGRADE"}
    | {"UPGRADE_STRATEGY", "USER", "VERBOSE"}
)
ASKED = "requirements.txt"
UMASK = 0o022 if os.name == "posix" else -1  # readable for other users, such as that of a sandbox
_SETTINGS = ("pip.conf", "pip.ini")


class Outcome(NamedTuple):
    """Result of pip: whether it succeeded, its output, and its log."""

    succeeded: bool
    output: str
    log: str

    @property
    def in_conflict(self) -> bool:
        """Whether the packages exist, but conflict with each other."""
        return "conflict" in self.output


def install(
    python: Path,
    wanted: Wanted,
    *,
    base: Base,
    constraints: Sequence[str],
    work: Path,
    say: Callable[[str], None],
) -> Outcome:
    """Install wheels into an environment.

    Parameters
    ----------
    python : Path
        The environment's interpreter.
    wanted : Wanted
        What to install.
    base : Base
        The interpreter that the environment lies over; pip is its own.
    constraints : sequence of str
        Version constraints in addition to those of the plugin.
    work : Path
        Folder of pip's input and log, removed after the build.
    say : callable
        Called with each download.
    """
    work.mkdir(exist_ok=True)
    asked, limits, log = work / ASKED, work / "constraints.txt", work / "pip.log"
    asked.write_text("".join(f"{line}\n" for line in requirement_lines(wanted)), encoding="utf-8")
    own = [item.text for item in wanted.constraints]
    limits.write_text("".join(f"{line}\n" for line in (*constraints, *own)), encoding="utf-8")
    log.unlink(missing_ok=True)
    command = [
        *_pip(python, base),
        *("install", "--no-input", "--no-user", "--only-binary", ":all:", "--compile", "--progress-bar", "off"),
        *("--disable-pip-version-check", "--no-warn-script-location", "--no-warn-conflicts", "--log", log.name),
        *("--constraint", limits.name, "--requirement", asked.name),
    ]
    with _settings_of(base, python.parent.parent):
        code, output = _run_pip(command, work, say)
    logged = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return Outcome(code == 0, output, logged)


def _run_pip(command: Sequence[str], folder: Path, say: Callable[[str], None]) -> tuple[int, str]:
    """Run pip and report its downloads; return exit status and output."""
    lines = []
    with subprocess.Popen(  # noqa: S603 (pip of the base interpreter)
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        cwd=folder,
        env=_environment(),
        umask=UMASK,
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line)
                if line.strip().startswith("Downloading ") and ".metadata" not in line:
                    say(line.strip())
        except BaseException:
            process.kill()
            raise
    return process.returncode, "".join(lines)


def requirement_lines(wanted: Wanted) -> list[str]:
    """Format a requirement file: one line per requirement, in their order, then options."""
    lines = [" ".join([item.text, *(f"--hash={value}" for value in item.line.hashes)]) for item in wanted.items]
    return [*lines, *(f"{line.option} {line.text}".strip() for line in wanted.options)]


def constraint_lines(versions: Mapping[str, str] | Mapping[str, Installed], but: Sequence[str] = ()) -> list[str]:
    """Format installed versions as ``name==version``."""
    plain = {name: item if isinstance(item, str) else item.version for name, item in versions.items()}
    return [f"{name}=={version}" for name, version in sorted(plain.items()) if name not in but]


def _pip(python: Path, base: Base) -> list[str]:
    """Command that runs pip in the environment: the base's pip, which is visible there, or Python's bundled one."""
    if any((folder / "pip" / "__main__.py").is_file() for folder in base.everywhere):
        return [str(python), "-P", "-m", "pip"]
    for prefix in base.prefixes:
        bundled = sorted(prefix.glob("lib*/python*/ensurepip/_bundled/pip-*.whl"))
        bundled += sorted(prefix.glob("Lib/ensurepip/_bundled/pip-*.whl"))
        if bundled:
            return [str(python), "-P", str(bundled[-1] / "pip")]
    raise UserError(
        f"{base.python} has no pip, which is needed to install requirements of plugins",
        remedy=f"install it: {base.python} -m ensurepip, or: uv pip install --python {base.python} pip",
    )


def _environment() -> dict[str, str]:
    variables = without_python_settings()
    for name in _OVERRIDDEN:
        variables.pop(f"PIP_{name}", None)
    variables.setdefault("PIP_RETRIES", "2")  # five retries without a reachable index take long
    variables |= {"PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    return variables


@contextmanager
def _settings_of(base: Base, folder: Path) -> Iterator[None]:
    """Copy the base's pip settings (``pip.conf`` in its prefix) into the environment for the duration of the block."""
    copies = []
    try:
        for name in _SETTINGS:
            if (base.prefix / name).is_file():
                copies.append(folder / name)
                shutil.copy(base.prefix / name, folder / name)  # with its mode, since it may contain a password
        yield
    finally:
        for copy in copies:
            with contextlib.suppress(OSError):
                copy.unlink()


_NAME = r"([A-Za-z0-9][A-Za-z0-9._-]*)"
_NO_CONNECTION = re.compile(
    r"Retrying \(Retry\(|Could not fetch URL|Connection(?: to \S+ timed out| refused|Error)|"
    r"NewConnectionError|Name or service not known|Temporary failure in name resolution|Max retries exceeded"
)
_ASKED = re.compile(rf"The user requested (?!\(constraint\)){_NAME}")
_HELD = re.compile(rf"The user requested \(constraint\) {_NAME}==(\S+)")
_LINE = re.compile(rf"-r {re.escape(ASKED)} \(line (\d+)\)")
_FROM_LINE = re.compile(rf" \(from {_LINE.pattern}\)|->{_LINE.pattern}")
_UNMATCHED = re.compile(rf"(?:No matching distribution found for|satisfies the requirement) {_NAME}")
_ONLY_SOURCES = re.compile(r"No sources permitted for ([^\s:]+)")
_REQUIRED_BY = re.compile(rf"\(from {_NAME}")
_MAX_LINES = 12  # of pip's message


class _Reading(NamedTuple):
    """Parsed message of pip."""

    items: list[Item]
    text: str
    missing: Sequence[str]
    held: Mapping[str, str]
    only_sources: list[str]


def explain(outcome: Outcome, wanted: Wanted, *, plugin: str, base: Base, held: Mapping[str, str]) -> RequirementsError:
    """Make an error from pip's message.

    Parameters
    ----------
    outcome : Outcome
        Result of pip.
    wanted : Wanted
        The requirements.
    plugin : str
        Name of the plugin.
    base : Base
        The interpreter.
    held : mapping
        Fixed versions.
    """
    reading = _read(outcome, wanted, held)
    items = reading.items or list(wanted.items)
    lines = "\n".join(f"  {item.line}" for item in items)
    here = _unreachable(outcome) or _NO_SPACE.search(outcome.log)
    return (RequirementsUnavailable if here else RequirementsError)(
        f"the requirements of {plugin} cannot be met:\n{lines}\npip says:\n{_indented(reading.text)}",
        remedy="\n".join(_remedies(reading, outcome, base, items)),
        plugin=plugin,
        places=[(item.line.file, item.line.number) for item in items],
        resolver=reading.text,
    )


_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")


def _unreachable(outcome: Outcome) -> bool:
    """Whether a package index could not be reached."""
    return bool(_NO_CONNECTION.search(outcome.log))


def unmatched(outcome: Outcome) -> list[str]:
    """Canonical names of packages of which pip found no matching version."""
    return list(dict.fromkeys(canonicalize_name(name) for name in _UNMATCHED.findall(outcome.output)))


def _read(outcome: Outcome, wanted: Wanted, held: Mapping[str, str]) -> _Reading:
    full = _in_short(outcome.output)
    texts = {number: item.text for number, item in enumerate(wanted.items, start=1)}
    text = _LINE.sub(lambda match: texts.get(int(match[1]), match[0]), _FROM_LINE.sub("", full))
    missing = unmatched(outcome)
    sources = {canonicalize_name(name) for name in _ONLY_SOURCES.findall(outcome.log)}
    limited = {str(canonicalize_name(name)): version for name, version in _HELD.findall(text)}
    limits = {name: version for name, version in limited.items() if name in held}
    return _Reading(
        _items(full, text, missing, wanted), text, missing, limits, [name for name in missing if name in sources]
    )


def _items(full: str, text: str, missing: Sequence[str], wanted: Wanted) -> list[Item]:
    """Requirements that pip's message names, in their order."""
    named: set[str] = {canonicalize_name(name) for pattern in (_ASKED, _REQUIRED_BY) for name in pattern.findall(text)}
    numbers = {int(number) for number in _LINE.findall(full)}
    named |= set(missing)
    head = re.search(r"Cannot install (.+?) because", full, re.DOTALL)
    if head:
        named |= {canonicalize_name(name) for name in re.findall(_NAME, _LINE.sub("", head[1]))}
    return [item for number, item in enumerate(wanted.items, start=1) if item.name in named or number in numbers]


def _in_short(output: str) -> str:
    """Pip's errors and its description of the conflict, without progress and general advice."""
    kept = []
    inside = False
    for line in output.splitlines():
        plain = line.rstrip()
        if plain.startswith(("To fix this you could", "[notice]", "For further information", "hint:")):
            inside = False
        elif plain.startswith("ERROR: ResolutionImpossible"):
            continue
        elif plain.startswith("ERROR:"):
            kept.append(plain.removeprefix("ERROR:").strip())
            inside = True
        elif plain.startswith("The conflict is caused by"):
            kept.append(plain)
            inside = True
        elif inside and plain.startswith(("    ", "\t")):
            kept.append(plain)
        elif plain:
            inside = False
    kept = list(dict.fromkeys(kept)) or [line.strip() for line in output.splitlines()[-3:] if line.strip()]
    more = len(kept) - _MAX_LINES
    return "\n".join(kept[:_MAX_LINES] + ([f"… and {more} more lines"] if more > 0 else []))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _remedies(reading: _Reading, outcome: Outcome, base: Base, items: Sequence[Item]) -> list[str]:
    remedies = []
    if _unreachable(outcome):
        files = " ".join(f"-r {shlex.quote(str(file))}" for file in dict.fromkeys(item.line.file for item in items))
        remedies.append(
            "No package index could be reached. Set PIP_INDEX_URL to a reachable one; or, on a machine with one, run "
            f"python -m pip download --only-binary :all: {files} -d wheels, copy the folder here, and set "
            "PIP_FIND_LINKS to it and PIP_NO_INDEX=1"
        )
    elif reading.only_sources:
        names = " ".join(reading.only_sources)
        remedies.append(
            f"{names}: no wheels for {base.tag} on {base.platform}, only sources; nothing is built here. "
            f"Review the code, run python -m pip wheel --no-deps --wheel-dir wheels {names}, "
            "and set PIP_FIND_LINKS to the folder wheels"
        )
    elif reading.missing:
        remedies.append(
            f"Check the spelling; python -m pip index versions {reading.missing[0]} lists the available versions.  "
            "Further indexes: PIP_EXTRA_INDEX_URL; folders of wheels: PIP_FIND_LINKS"
        )
    for name, version in reading.held.items():
        remedies.append(
            f"{name} stays at {version}, which Brain-Score itself uses here: require versions that work with it"
        )
    if not remedies:
        remedies.append("Require versions that work together")
    return remedies


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
    """Build an environment in the folder `part`; its final path and key are set later.

    Raises
    ------
    RequirementsError
        If requirements cannot be met.
    UserError
        If the interpreter cannot create environments, the disk is full, and so on.
    """
    _make_overlay(part, base)
    missing = [item.text for item in wanted.items if not item.met_by(installed)]
    if missing or wanted.constraints:
        say(f"installing {', '.join(missing)}" if missing else "checking versions")
        before = _interpreter_files(part)
        _install(part, wanted, base=base, plugin=plugin, installed=installed, say=say)
        _refuse_changed_interpreter(part, before, wanted, plugin)
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
        installed={name: item.version for name, item in own.items()},
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
    """Folders that an environment over this interpreter reads, without those inside another one."""
    every = sorted({*base.prefixes, base.prefix, base.interpreter.parent.parent, *base.everywhere})
    kept: list[Path] = []
    for folder in every:
        if folder.exists() and not any(folder.is_relative_to(outer) for outer in kept):
            kept.append(folder)
    return kept


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


def _make_overlay(part: Path, base: Base) -> None:
    try:
        _run_command([str(base.python), "-m", "venv", "--without-pip", str(part)], part.parent)
    except subprocess.CalledProcessError as error:
        raise UserError(
            f"{base.python} cannot create an environment in {part.parent}: {_last(error)}",
            remedy="install Python's venv module (on Debian: apt install python3-venv), and check the free disk space",
        ) from error
    part.chmod(0o755)
    for script in _folder.python_of(part).parent.glob("[Aa]ctivate*"):
        script.unlink()  # they contain the temporary path, and are not needed
    (part / ".gitignore").unlink(missing_ok=True)
    lines = [_APPEND.format(ascii(str(folder))) for folder in base.ahead]
    lines += [f"import site; site.addsitedir({str(folder)!a})" for folder in base.sites]
    lines += [_APPEND.format(ascii(str(folder))) for folder in base.extra]
    (_folder.site_of(part) / _LINK).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    (_folder.site_of(part) / _LINK).chmod(0o644)
    try:
        _run_command([str(_folder.python_of(part)), "-P", "-B", "-c", _TRY], part)
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
    """Install wheels: first with all versions of the base fixed; if that fails, only those the platform needs."""
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
    """Remove remains of a failed installation."""
    for entry in _folder.site_of(part).iterdir():
        if entry.name == _LINK:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _declared(base: Base, installed: Mapping[str, Installed]) -> list[str]:
    """Version constraints of the platform's extra ``torch``."""
    if "brainscore" not in installed:
        return []
    optional = [
        requirement
        for requirement in requires(installed["brainscore"])
        if not applies(requirement, base.markers) and applies(requirement, base.markers, ["torch"])
    ]
    return [f"{canonicalize_name(item.name)}{item.specifier}" for item in optional if item.specifier]


def _interpreter_files(part: Path) -> dict[Path, bytes]:
    """Read what starts the interpreter of an environment: its links, its settings, and the link to the base."""
    folder = _folder.python_of(part).parent
    files = [*folder.iterdir(), part / "pyvenv.cfg", _folder.site_of(part) / _LINK]
    return {path: os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes() for path in files}


def _refuse_changed_interpreter(part: Path, before: Mapping[Path, bytes], wanted: Wanted, plugin: str) -> None:
    """Refuse wheels that replace the interpreter, which other plugins with the same requirements would start."""
    after = {path: content for path, content in _interpreter_files(part).items() if path in before}
    changed = sorted(str(path.relative_to(part)) for path in before if after.get(path) != before[path])
    if changed:
        raise RequirementsError(
            f"the requirements of {plugin} replace files of the interpreter: {', '.join(changed)}",
            remedy="require packages that install no file of this name",
            plugin=plugin,
            places=[(item.line.file, item.line.number) for item in wanted.items],
        )


def _refuse_platform(part: Path, own: Mapping[str, Installed], wanted: Wanted, plugin: str) -> None:
    """Refuse wheels that install another copy of the platform, which the model would use."""
    brought = [name for name in _PACKAGES if (_folder.site_of(part) / name).exists()]
    if not brought:
        return
    asked = "\n".join(f"  {item.line}" for item in wanted.items if item.name in own)
    raise RequirementsError(
        f"the requirements of {plugin} install another {' and '.join(brought)}:\n{asked}",
        remedy="require a version that does not depend on Brain-Score, or install it where you score",
        plugin=plugin,
        places=[(item.line.file, item.line.number) for item in wanted.items if item.name in own],
    )


def _broken(
    visible: Mapping[str, Installed], own: Mapping[str, Installed], shadowed: Mapping[str, str], base: Base
) -> list[str]:
    """Packages of the base that are incompatible with a version that replaces one of its packages."""
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
                    f"the environment has {needed} {own[needed].version}"
                )
    return notes
