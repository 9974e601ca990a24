"""Running pip: its settings and places are handed on, wheels only, into one environment."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.plugins.environments._base import Base, Installed, without_python_settings
from brainscore_core.plugins.environments._wanted import Wanted

__all__ = ["ASKED", "UMASK", "Outcome", "constraint_lines", "install"]

# settings that say what to do or where to put it; those that say where to look are handed on
_OVERRIDDEN = frozenset(
    {"ABI", "BREAK_SYSTEM_PACKAGES", "COMPILE", "CONFIG_SETTINGS", "DRY_RUN", "EDITABLE", "FORCE_REINSTALL"}
    | {"GLOBAL_OPTION", "IGNORE_INSTALLED", "IGNORE_REQUIRES_PYTHON", "IMPLEMENTATION", "LOG", "NO_BINARY"}
    | {"NO_COMPILE", "NO_DEPENDENCIES", "NO_DEPS", "ONLY_BINARY", "PLATFORM", "PREFIX", "PROGRESS_BAR", "PYTHON"}
    | {"PYTHON_VERSION", "QUIET", "REPORT", "REQUIREMENT", "ROOT", "ROOT_USER_ACTION", "SRC", "TARGET", "UPGRADE"}
    | {"UPGRADE_STRATEGY", "USER", "VERBOSE"}
)
ASKED = "requirements.txt"
UMASK = 0o022 if os.name == "posix" else -1  # others, such as a sandbox's user, may read what is made
_SETTINGS = ("pip.conf", "pip.ini")


class Outcome(NamedTuple):
    """What pip did: whether it succeeded, what it said, and all that it noted."""

    succeeded: bool
    said: str
    log: str

    @property
    def in_conflict(self) -> bool:
        """Whether there is something to install, but not all of it together."""
        return "conflict" in self.said


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
        Limits of versions, beside those of the plugin.
    work : Path
        Folder for what pip reads and writes; goes with the build.
    say : callable
        Told what is downloaded.
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
        code, said = _run(command, work, say)
    noted = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return Outcome(code == 0, said, noted)


def _run(command: Sequence[str], folder: Path, say: Callable[[str], None]) -> tuple[int, str]:
    """Run pip, and tell what it downloads; its exit status and all that it said."""
    said = []
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
                said.append(line)
                if line.strip().startswith("Downloading ") and ".metadata" not in line:
                    say(line.strip())
        except BaseException:
            process.kill()
            raise
    return process.returncode, "".join(said)


def requirement_lines(wanted: Wanted) -> list[str]:
    """Write what pip reads: a line for each requirement, in their order, then options."""
    lines = [" ".join([item.text, *(f"--hash={value}" for value in item.line.hashes)]) for item in wanted.items]
    return [*lines, *(f"{line.option} {line.text}".strip() for line in wanted.options)]


def constraint_lines(versions: Mapping[str, str] | Mapping[str, Installed], but: Sequence[str] = ()) -> list[str]:
    """Write ``name==version`` for what is installed."""
    plain = {name: found if isinstance(found, str) else found.version for name, found in versions.items()}
    return [f"{name}=={version}" for name, version in sorted(plain.items()) if name not in but]


def _pip(python: Path, base: Base) -> list[str]:
    """Command that runs pip in the environment: the base's, which is visible there, or the one that Python brings."""
    if any((folder / "pip" / "__main__.py").is_file() for folder in base.everywhere):
        return [str(python), "-P", "-m", "pip"]
    for prefix in base.prefixes:
        bundled = sorted(prefix.glob("lib*/python*/ensurepip/_bundled/pip-*.whl"))
        bundled += sorted(prefix.glob("Lib/ensurepip/_bundled/pip-*.whl"))
        if bundled:
            return [str(python), "-P", str(bundled[-1] / "pip")]
    raise UserError(
        f"{base.python} has no pip, which installs what plugins require",
        remedy=f"install it: {base.python} -m ensurepip, or: uv pip install --python {base.python} pip",
    )


def _environment() -> dict[str, str]:
    variables = without_python_settings()
    for name in _OVERRIDDEN:
        variables.pop(f"PIP_{name}", None)
    variables.setdefault("PIP_RETRIES", "2")  # where no index can be reached, five take long
    variables |= {"PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    return variables


@contextmanager
def _settings_of(base: Base, folder: Path) -> Iterator[None]:
    """Let the environment's pip read the settings of the base's (``pip.conf`` in its prefix); they do not stay."""
    copies = []
    try:
        for name in _SETTINGS:
            if (base.prefix / name).is_file():
                copies.append(folder / name)
                shutil.copy(base.prefix / name, folder / name)  # its mode, too: it may hold a password
        yield
    finally:
        for copy in copies:
            with contextlib.suppress(OSError):
                copy.unlink()
