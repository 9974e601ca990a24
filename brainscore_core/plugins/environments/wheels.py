"""Wheels: resolve requirements, fetch and examine wheels, and install them with pip.

pip runs three times with the interpreter of a new environment: to resolve, to fetch, and, after every wheel has been
examined, to install. That last run starts before anything is written to the environment, and nothing starts its
interpreter afterwards.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile
from zipfile import Path as ZipPath

from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from brainscore_core import archives
from brainscore_core.errors import UserError
from brainscore_core.memory import format_size
from brainscore_core.plugins.environments import folder as _folder
from brainscore_core.plugins.environments.base import (
    Base,
    Installed,
    declared_limits,
    minimal_variables,
    platform_needs,
)
from brainscore_core.plugins.environments.requirements import (
    Item,
    RequirementsError,
    RequirementsUnavailable,
    Wanted,
)

LINK = "_brainscore_base.pth"
ASKED = "requirements.txt"
UMASK = 0o022 if os.name == "posix" else -1  # readable for other users, such as that of a sandbox
_SETTINGS = "pip.conf"
_RUN = """
import os, runpy, sys

def refuse(event, arguments):
    if event in ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"):
        program = os.path.basename(os.fsdecode(arguments[0])) if arguments else ""
        if program != "keyring":  # passwords of indexes
            raise PermissionError(f"wheels only: pip may not start {program or 'processes'}")

sys.addaudithook(refuse)
sys.path[:0] = [folder for folder in sys.argv.pop(1).split(os.pathsep) if folder]
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
_MAX_SECONDS = 3600.0  # of an installation
_MAX_BYTES = 20 << 30  # of all wheels together, packed or unpacked; PyTorch with CUDA has 7 GB
_MAX_MEMORY = 8 << 30  # of pip, which reads metadata of wheels
_MAX_MEMBERS = 200_000  # of a wheel
_MAX_ENTRY_POINTS = 1 << 20  # bytes
_RATIO = 100  # of the unpacked to the packed size
_LEAST_BOMB = 100 << 20  # bytes
_PAUSE = 0.2  # seconds between two checks of the limits
_PACKAGES = frozenset(
    {"brainio", "brainscore", "brainscore_core", "brainscore_language", "brainscore_vision", "brainscore_web"}
)
_AT_START = frozenset({"sitecustomize", "usercustomize", LINK.partition(".")[0]})
_REMOVED = "distutils-precedence.pth"  # of setuptools, which works without it
_DATA = frozenset({"Library", "etc", "include", "lib", "share"})  # folders beside the packages


class Outcome(NamedTuple):
    """Result of pip: whether it succeeded, its output, and its log."""

    succeeded: bool
    output: str
    log: str

    @property
    def unmatched(self) -> list[str]:
        """Canonical names of packages of which pip found no matching version."""
        return list(dict.fromkeys(canonicalize_name(name) for name in _UNMATCHED.findall(self.output)))


def install(
    folder: Path,
    wanted: Wanted,
    *,
    base: Base,
    plugin: str,
    installed: Mapping[str, Installed],
    say: Callable[[str], None],
) -> None:
    """Install wheels into a new environment, whose interpreter must not be started outside a sandbox afterwards.

    They are resolved with all versions of the base fixed; if that fails, only with those that the platform needs. The
    environment lies over `base`, whose pip is used. `say` is called with each download. Raises RequirementsError if
    requirements cannot be met, a wheel contains what is not allowed, or limits of size or time are exceeded.
    """
    held, declared = platform_needs(base, installed), declared_limits(base, installed)
    versions = {name: item.version for name, item in installed.items() if name not in ("pip", "setuptools", "wheel")}
    work = folder / ".work"
    work.mkdir()
    try:
        run = _Installation(folder, work, wanted, base, plugin, say, time.monotonic() + _MAX_SECONDS)
        with _settings_of(base, folder):
            outcome = run.resolve(versions, declared)
            conflict = "conflict" in outcome.output or any(name in installed for name in outcome.unmatched)
            if not outcome.succeeded and conflict:
                outcome = run.resolve(held, declared)
            locked = run.locked() if outcome.succeeded else []
            if locked:
                outcome = run.fetch(locked)
        if locked and outcome.succeeded:
            run.examine()
            outcome = run.unpack()
        if not outcome.succeeded:
            raise run.explain(outcome, held)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True)
class _Installation:
    """One installation, and its temporary folder."""

    folder: Path
    work: Path
    wanted: Wanted
    base: Base
    plugin: str
    say: Callable[[str], None]
    deadline: float

    def resolve(self, versions: Mapping[str, str], declared: Sequence[str]) -> Outcome:
        """Determine what to install with these versions fixed, and write pip's report."""
        limits = [f"{name}=={version}" for name, version in sorted(versions.items())]
        self._write("constraints.txt", [*limits, *declared, *(item.text for item in self.wanted.constraints)])
        self._write(ASKED, [*(item.identity for item in self.wanted.items), *self._options()])
        arguments = ["--dry-run", "--report", "report.json", "--constraint", "constraints.txt", "--requirement", ASKED]
        return self._run("install", "--no-user", *arguments)

    def locked(self) -> list[str]:
        """Requirements for exactly the wheels of pip's report."""
        lines = []
        for entry in json.loads((self.work / "report.json").read_text(encoding="utf-8"))["install"]:
            name = canonicalize_name(entry["metadata"]["name"])
            items = [item for item in self.wanted.items if item.name == name]
            addresses = [item.text for item in items if item.requirement.url]
            if entry.get("is_direct") and not addresses:
                address = entry["download_info"]["url"]
                raise self._refusal(f"install {name} from an address that only another package names: {address}")
            asked = addresses[0] if addresses else f"{name}==={Version(entry['metadata']['version'])}"
            lines.append(" ".join([asked, *(f"--hash={value}" for item in items for value in item.line.hashes)]))
        return lines

    def fetch(self, locked: Sequence[str]) -> Outcome:
        """Download wheels without installing them."""
        self._write("locked.txt", [*locked, *self._options()])
        return self._run("download", "--no-deps", "--dest", "wheels", "--requirement", "locked.txt")

    def examine(self) -> None:
        """Refuse wheels with members that do not belong into an environment."""
        unpacked = 0
        interpreter = {path.name.casefold() for path in _folder.python_of(self.folder).parent.iterdir()}
        for wheel in sorted((self.work / "wheels").iterdir()):
            size, problem = examine_wheel(wheel, interpreter)
            unpacked += size
            if not problem and unpacked > _MAX_BYTES:
                problem = f"unpack to more than {format_size(_MAX_BYTES)}, up to"
            if problem:
                raise self._refusal(f"{problem} of {wheel.name}", canonicalize_name(wheel.name.partition("-")[0]))

    def unpack(self) -> Outcome:
        """Install the downloaded wheels, and nothing else, without the file that setuptools runs at each start."""
        wheels = sorted((self.work / "wheels").iterdir())
        exact = [f"{name}==={version}" for name, version, *_ in (parse_wheel_filename(path.name) for path in wheels)]
        options = ["--no-index", "--find-links", "wheels", "--no-deps", "--ignore-installed", "--no-user", "--compile"]
        warnings = ["--no-warn-script-location", "--no-warn-conflicts"]
        outcome = self._run("install", *options, *warnings, *exact, sources=False)
        for path in _folder.site_of(self.folder).iterdir():
            if path.name.casefold() == _REMOVED:
                path.unlink()
        return outcome

    def _options(self) -> list[str]:
        return [f"{line.option} {line.text}".strip() for line in self.wanted.options]

    def _write(self, name: str, lines: Sequence[str]) -> None:
        (self.work / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def _run(self, command: str, *arguments: str, sources: bool = True) -> Outcome:
        """Run pip, report its downloads, and stop it at the limits; `sources`: with settings of package sources."""
        environment = {
            "PIP_RETRIES": "2",  # five retries without a reachable index take long
            **{n: v for n, v in minimal_variables().items() if sources or not n.startswith("PIP_")},
            **({} if sources else {"PIP_CONFIG_FILE": os.devnull}),
            **dict.fromkeys(("TEMP", "TMP", "TMPDIR"), str(self.work)),
            "PYTHONIOENCODING": "utf-8",
            "NO_COLOR": "1",
        }
        output, log = self.work / "output.txt", self.work / "pip.log"
        log.unlink(missing_ok=True)
        program = [str(_folder.python_of(self.folder)), "-P", "-c", _RUN, _pip(self.base), command, "--no-input"]
        program += ["--only-binary", ":all:", "--progress-bar", "off", "--disable-pip-version-check", "--log", log.name]
        with (
            output.open("wb") as target,
            output.open(encoding="utf-8", errors="replace") as printed,
            subprocess.Popen(  # noqa: S603 (pip of the base interpreter)
                [*program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=target,
                stderr=subprocess.STDOUT,
                cwd=self.work,
                env=environment,
                umask=UMASK,
            ) as process,
        ):
            try:
                if sys.platform == "linux":
                    import resource

                    with contextlib.suppress(ProcessLookupError):
                        resource.prlimit(process.pid, resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
                ended = False
                while not ended:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_PAUSE)
                    ended = process.returncode is not None
                    for line in printed:
                        if line.strip().startswith("Downloading ") and ".metadata" not in line:
                            self.say(line.strip())
                    if not ended:
                        self._check_limits()
            except BaseException:
                process.kill()
                raise
        texts = [path.read_text(encoding="utf-8", errors="replace") if path.exists() else "" for path in (output, log)]
        return Outcome(process.returncode == 0, *texts)

    def _check_limits(self) -> None:
        """Refuse requirements that take too long or download too much."""
        if time.monotonic() > self.deadline:
            raise self._refusal(
                f"take more than {_MAX_SECONDS / 60:.0f} minutes to install", error=RequirementsUnavailable
            )
        if _size_of(self.work) > _MAX_BYTES:
            raise self._refusal(f"download more than {format_size(_MAX_BYTES)}")

    def explain(self, outcome: Outcome, held: Mapping[str, str]) -> RequirementsError:
        """Make an error from pip's message."""
        texts = {number: item.text for number, item in enumerate(self.wanted.items, start=1)}
        printed = (line.rstrip().removeprefix("ERROR: ") for line in outcome.output.splitlines())
        errors = [line for line in dict.fromkeys(printed) if line and not line.strip().startswith(_PROGRESS)]
        message = _FROM_LINE.sub("", "\n".join(errors[-_MAX_LINES:]))
        text = _LINE.sub(lambda match: texts.get(int(match[1]), match[0]), message)
        named = {canonicalize_name(name.rstrip(".")) for name in re.findall(_NAME, text)}
        items = [item for item in self.wanted.items if item.name in named] or list(self.wanted.items)
        unreachable = _NO_CONNECTION.search(outcome.log) is not None
        stays = {name: version for name, version in _HELD.findall(text) if canonicalize_name(name) in held}
        remedies = [
            *_remedies(outcome, self.base, items, unreachable),
            *(f"{name} stays at {version}, which Brain-Score itself uses here" for name, version in stays.items()),
        ]
        lines = "\n".join(f"  {item.line}" for item in items)
        return (RequirementsUnavailable if unreachable or _NO_SPACE.search(outcome.log) else RequirementsError)(
            f"the requirements of {self.plugin} cannot be met:\n{lines}\npip says:\n{textwrap.indent(text, '  ')}",
            remedy="\n".join(remedies or ["Require versions that work together"]),
        )

    def _refusal(
        self, problem: str, name: str = "", error: type[RequirementsError] = RequirementsError
    ) -> RequirementsError:
        """Make an error about wheels, with the lines that name the package, or all."""
        items = [item for item in self.wanted.items if item.name == name] or self.wanted.items
        lines = "\n".join(f"  {item.line}" for item in items)
        return error(
            f"the requirements of {self.plugin} {problem}:\n{lines}",
            remedy="require packages that comply; or, after you have reviewed them, install them where you score",
        )


def _size_of(folder: Path) -> int:
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # removed just now
                size += os.lstat(os.path.join(parent, name)).st_size
    return size


def examine_wheel(wheel: Path, interpreter: Collection[str]) -> tuple[int, str]:
    """Determine the unpacked size of a wheel, and what does not belong into an environment.

    Returns the size in bytes, and the problem with the name of the member; the problem is empty if everything is
    allowed. No wheel may replace the file names `interpreter` in the folder of scripts, which are in lower case.
    """
    try:
        with ZipFile(wheel) as archive:
            size = sum(member.file_size for member in archive.infolist())
            return size, _problem_of(archive, wheel, size, interpreter)
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        return 0, f"contain what is not a wheel ({error})"


def _problem_of(archive: ZipFile, wheel: Path, size: int, interpreter: Collection[str]) -> str:
    members = archive.infolist()
    if len(members) > _MAX_MEMBERS:
        return f"install more than {_MAX_MEMBERS:,} files"
    for member in members:
        name = archives.stored_name(member)
        if archives.leaves_folder(name) or not name.isprintable():
            return f"write outside of the environment: {name!a}"
        if archives.is_special(member) or archives.is_encrypted(member):
            return f"contain a link, a device or an encrypted file: {name!a}"
        if member.is_dir():
            continue
        problem = _problem_of_target(name, interpreter)
        if problem:
            return f"{problem}: {name!a}"
        if name.endswith("/entry_points.txt") and member.file_size > _MAX_ENTRY_POINTS:
            return f"contain too many entry points: {name!a}"
    clash = archives.find_clash((archives.stored_name(member) for member in members), case=False)
    if clash:
        return f"contain the same file twice: {clash[1]!a}"
    packed = wheel.stat().st_size
    if archives.members_overlap(members) or archives.is_bomb(packed, size, ratio=_RATIO, least=_LEAST_BOMB):
        return f"unpack to {format_size(size)} from {format_size(packed)}"
    for information in {name.partition("/")[0] for name in archive.namelist() if "/" in name}:
        if information.endswith((".dist-info", ".egg-info")):
            for entry in PathDistribution(ZipPath(archive, f"{information}/")).entry_points:
                if entry.group in ("console_scripts", "gui_scripts"):
                    problem = _problem_of_script(entry.name, interpreter)
                    if problem:
                        return f"{problem}: script {entry.name!a}"
    return ""


def _problem_of_target(name: str, interpreter: Collection[str]) -> str:
    """What is not allowed about the path that a member is installed to."""
    top, *path = name.split("/")
    if top.endswith(".data"):
        scheme, *path = path or [""]
        if scheme == "scripts":
            return _problem_of_script("/".join(path), interpreter)
        if scheme == "data":
            if path[:1] == ["pyvenv.cfg"]:
                return "replace files of the interpreter"
            inside = len(path) > 1 and path[0] in _DATA and not path[1].casefold().startswith("python")
            return "" if inside else "write into folders of the environment that are not theirs"
        if scheme == "headers":
            return ""
        if scheme not in ("purelib", "platlib") or not path:
            return "install to a folder that is unknown"
        top, *path = path
    plain = top.casefold()
    stem = plain.partition(".")[0]
    if stem in _PACKAGES:
        return f"install another {stem}"
    if stem in _AT_START or (not path and plain.endswith((".pth", ".start")) and plain != _REMOVED):
        return "run code when Python starts"
    return ""


def _problem_of_script(name: str, interpreter: Collection[str]) -> str:
    if archives.leaves_folder(name) or "/" in name or "\\" in name or not name.isprintable():
        return "write outside of the environment"
    return "replace files of the interpreter" if name.casefold() in interpreter else ""


def _pip(base: Base) -> str:
    """Path to import pip from if it is Python's bundled one; empty if it is the base's pip, which is visible."""
    if any((folder / "pip" / "__main__.py").is_file() for folder in base.everywhere):
        return ""
    for prefix in base.prefixes:
        bundled = sorted(prefix.glob("lib*/python*/ensurepip/_bundled/pip-*.whl"))
        if bundled:
            return str(bundled[-1])
    raise UserError(
        f"{base.python} has no pip, which is needed to install requirements of plugins",
        remedy=f"install it: {base.python} -m ensurepip, or: uv pip install --python {base.python} pip",
    )


@contextmanager
def _settings_of(base: Base, folder: Path) -> Iterator[None]:
    """Copy the base's pip settings (``pip.conf`` in its prefix) into the environment for the duration of the block."""
    try:
        if (base.prefix / _SETTINGS).is_file():
            shutil.copy(base.prefix / _SETTINGS, folder / _SETTINGS)  # with its mode, since it may contain a password
        yield
    finally:
        (folder / _SETTINGS).unlink(missing_ok=True)


_NAME = r"([A-Za-z0-9][A-Za-z0-9._-]*)"
_NO_CONNECTION = re.compile(
    r"Retrying \(Retry\(|Could not fetch URL|Connection(?: to \S+ timed out| refused|Error)|"
    r"NewConnectionError|Name or service not known|Temporary failure in name resolution|Max retries exceeded"
)
_HELD = re.compile(rf"The user requested \(constraint\) {_NAME}==(\S+)")
_LINE = re.compile(rf"-r {re.escape(ASKED)} \(line (\d+)\)")
_FROM_LINE = re.compile(rf" \(from {_LINE.pattern}\)|->{_LINE.pattern}")
_UNMATCHED = re.compile(rf"(?:No matching distribution found for|satisfies the requirement) {_NAME}")
_ONLY_SOURCES = re.compile(r"No sources permitted for ([^\s:]+)")
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")
_PROGRESS = ("Collecting ", "Downloading ", "Looking in ", "Processing ", "Requirement already satisfied", "[notice]")
_MAX_LINES = 12  # of pip's message


def _remedies(outcome: Outcome, base: Base, items: Sequence[Item], unreachable: bool) -> Iterator[str]:
    missing = outcome.unmatched
    sources = {canonicalize_name(name) for name in _ONLY_SOURCES.findall(outcome.log)}.intersection(missing)
    if unreachable:
        files = " ".join(f"-r {shlex.quote(str(file))}" for file in dict.fromkeys(item.line.file for item in items))
        yield (
            "No package index could be reached. Set PIP_INDEX_URL to a reachable one; or, on a machine with one, run "
            f"python -m pip download --only-binary :all: {files} -d wheels, copy the folder here, and set "
            "PIP_FIND_LINKS to it and PIP_NO_INDEX=1"
        )
    elif sources:
        names = " ".join(sorted(sources))
        yield (
            f"{names}: no wheels for {base.tag} on {base.platform}, only sources; nothing is built here. "
            f"Review the code, run python -m pip wheel --no-deps --wheel-dir wheels {names}, "
            "and set PIP_FIND_LINKS to the folder wheels"
        )
    elif missing:
        yield (
            f"Check the spelling; python -m pip index versions {missing[0]} lists the available versions. "
            "Further indexes: PIP_EXTRA_INDEX_URL; folders of wheels: PIP_FIND_LINKS"
        )
