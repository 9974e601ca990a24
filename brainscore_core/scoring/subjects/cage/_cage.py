"""What a cage shows, and what it allows."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.memory import format_size
from brainscore_core.scoring.subjects.cage._exchange import Exchange
from brainscore_core.scoring.subjects.cage._require import bubblewrap, require_cage
from brainscore_core.scoring.subjects.cage._system import (
    ETC,
    SYSTEM,
    interpreter_folders,
    lies_in,
    platform_folders,
    stubs,
)

__all__ = ["FOLDERS", "HOME", "STIMULI", "Cage", "OpenCage", "Verdict"]

HOME = "/tmp/home"  # noqa: S108 - in a cage, where all of /tmp is its own
STIMULI = PurePosixPath("/stimuli")

FOLDERS = "brainscore-cage-"
"""What the names of the temporary folders of cages begin with."""

_LAUNCHER = Path(__file__).with_name("_launch.py")
_KEPT = ("LANG", "LC_ALL", "TZ", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_ALONE = (
    "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--new-session", "--hostname", "cage", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL",
)  # fmt: skip
_VERDICTS = {
    "memory": "used more than {} of memory",
    "processes": "ran more than {} processes and threads",
    "timeout": "ran longer than {} s",
    "scratch": "wrote more than {}",
    "entries": "made more than {} files and folders",
    "start": "could not be put into a cage: {}",
}


class Verdict(NamedTuple):
    """Why a cage was ended."""

    cause: Literal["memory", "processes", "timeout", "scratch", "entries", "start"]
    message: str


@dataclass(frozen=True, kw_only=True)
class Cage:
    """What a cage shows of this machine, all of it read-only, and how much of it may be used.

    System libraries, the running interpreter with the packages installed for it, and this platform are always there.

    Attributes
    ----------
    folders, files : sequence of Path
        What is shown beyond these, under the same paths.
    writable : sequence of Path
        Files of the machine that may be written, together up to `scratch` bytes. They must be there. The cage can
        neither remove nor replace them, nor make others beside them.
    environment : mapping
        Environment variables beyond the few that are always there; none of this process's come along.
    memory : int
        Bytes for all processes together, with their files in memory.
    processes : int
        Processes and threads, together.
    seconds : float
        From the start to the end.
    file_size : int, optional
        Bytes of a file that is written, large arrays handed over among them; by default as `memory`.
    scratch : int
        Bytes of ``/tmp``, where the home folder lies, and as much of ``/dev/shm``; both are in memory, and count there.
    entries : int
        Files and folders in these, together.
    """

    folders: Sequence[Path] = ()
    files: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    memory: int = 8_000_000_000
    processes: int = 512
    seconds: float = math.inf
    file_size: int | None = None
    scratch: int = 1_000_000_000
    entries: int = 100_000

    def __post_init__(self) -> None:
        for name in ("memory", "processes", "scratch", "entries", "seconds"):
            if not getattr(self, name) > 0:
                raise UserError(f"a cage with {name}={getattr(self, name)}", remedy="give a number above 0")

    @contextmanager
    def opened(self, *, socket: bool = False) -> Iterator[OpenCage]:
        """Make ready what a command in this cage needs; it is gone at the end.

        Parameters
        ----------
        socket : bool
            Whether the last argument of the command is the number of a descriptor that is to be handed on.
        """
        require_cage()
        with temporary_folder(FOLDERS) as folder:
            yield OpenCage(self, folder, socket=socket)


class OpenCage:
    """A cage that is ready for one command; made by `Cage.opened`.

    Attributes
    ----------
    prefix : list of str
        What stands before the command.
    exchange : Exchange
        Files that are shown for a while.
    """

    def __init__(self, cage: Cage, folder: Path, *, socket: bool) -> None:
        self._folder = folder
        self._verdict = folder / "verdict.json"
        self._sources: list[str] = []
        shared = folder / "stimuli"
        for made in (shared, folder / "stage", folder / "etc", folder / "copies"):
            made.mkdir(mode=0o755)
            made.chmod(0o755)
        self.exchange = Exchange(shared, STIMULI)
        plan = {
            "folder": str(folder),
            "verdict": str(self._verdict),
            "bwrap": bubblewrap(),
            "arguments": self._arguments(cage, shared),
            "sources": self._sources,
            "environment": _variables(cage),
            "socket": socket,
            "writable": [str(file.resolve()) for file in cage.writable],
            "memory": cage.memory,
            "data": 2 * cage.memory + (1 << 30),  # of each process; what is reserved is not used yet
            "processes": cage.processes,
            "seconds": None if math.isinf(cage.seconds) else cage.seconds,
            "file_size": cage.memory if cage.file_size is None else cage.file_size,
            "scratch": cage.scratch,
            "entries": cage.entries,
        }
        file = folder / "plan.json"
        file.write_text(json.dumps(plan))
        self.prefix = [sys.executable, "-I", "-S", str(_LAUNCHER), str(file)]

    @property
    def verdict(self) -> Verdict | None:
        """Why it was ended; None where it was not."""
        try:
            told = json.loads(self._verdict.read_text())
        except FileNotFoundError:
            return None
        limit = told["limit"]
        shown = limit if isinstance(limit, str) else f"{limit:,g}"
        if told["cause"] in ("memory", "scratch"):
            shown = format_size(limit)
        return Verdict(told["cause"], _VERDICTS[told["cause"]].format(shown))

    def _arguments(self, cage: Cage, shared: Path) -> list[str | int]:
        """Arguments of bubblewrap; a number stands for one of the sources."""
        arguments: list[str | int] = [*_ALONE, *(["--disable-userns"] if _can_disable() else [])]
        for name in SYSTEM:
            path = Path(name)
            if path.is_symlink():
                arguments += ["--symlink", os.readlink(path), name]
            elif path.is_dir():
                arguments += self._shown(path)
        for name in ETC:
            if (path := Path("/etc", name)).exists():
                arguments += self._shown(path)
        for name, file in stubs(self._folder / "etc").items():
            arguments += self._shown(file, name)
        arguments += ["--dev", "/dev", "--size", str(cage.scratch), "--tmpfs", "/dev/shm"]  # noqa: S108 - the cage's own
        arguments += ["--remount-ro", "/dev", "--proc", "/proc"]
        arguments += ["--size", str(cage.scratch), "--tmpfs", "/tmp"]  # noqa: S108 - the cage's own
        arguments += ["--dir", HOME]
        if (processors := Path("/sys/devices/system/cpu")).is_dir():
            arguments += self._shown(processors)
        for folder in _outermost([*interpreter_folders(), *platform_folders(), *cage.folders]):
            if not folder.is_dir():
                raise UserError(f"there is no folder {folder} to show", remedy="name one that is there")
            self._check_access(folder)
            arguments += self._shown(folder)
        for file in dict.fromkeys(Path(os.path.abspath(one)) for one in cage.files):
            if not file.is_file():
                raise UserError(f"there is no file {file} to show", remedy="name one that is there")
            arguments += self._shown(self._open_to_all(file), str(file))
        arguments += self._shown(shared, str(STIMULI))
        for file in cage.writable:
            if not file.is_file():
                raise UserError(f"there is no file {file} to write", remedy="make it before, empty")
            self._sources.append(str(file.resolve()))
            arguments += ["--bind", len(self._sources) - 1, os.path.abspath(file)]
        return [*arguments, "--remount-ro", "/", "--chdir", HOME]

    def _shown(self, source: Path, name: str | None = None) -> list[str | int]:
        self._sources.append(str(source.resolve()))
        return ["--ro-bind", len(self._sources) - 1, name or str(source)]

    def _open_to_all(self, file: Path) -> Path:
        """The file, or a copy that the unprivileged user of the cage may read."""
        if os.getuid() != 0 or file.stat().st_mode & 0o004:
            return file
        copy = self._folder / "copies" / f"{len(self._sources)}{file.suffix}"
        shutil.copyfile(file, copy)
        copy.chmod(0o644)
        return copy

    def _check_access(self, folder: Path) -> None:
        if os.getuid() == 0 and folder.stat().st_mode & 0o005 != 0o005:
            raise UserError(
                f"the folder {folder} is closed to the unprivileged user that a cage has",
                remedy=f"open it for reading: chmod -R o+rX {folder}",
            )


@cache
def _can_disable() -> bool:
    """Whether it can forbid namespaces within the cage; the filter of system calls forbids most of them anyway."""
    asked = [bubblewrap(), "--help"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=False)  # noqa: S603 - ours
    return "--disable-userns" in done.stdout + done.stderr


def _variables(cage: Cage) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "HOME": HOME,
        "USER": "cage",
        "TMPDIR": "/tmp",  # noqa: S108 - the cage's own
        "PYTHONDONTWRITEBYTECODE": "1",
        "BRAINSCORE_MAX_MEMORY": str(int(0.8 * cage.memory)),
        "BRAINSCORE_ACTIVATIONS": "off",
        **cage.environment,
    }


def _outermost(folders: Sequence[Path]) -> list[Path]:
    """Folders by their absolute names, without those within another of them."""
    kept: list[Path] = []
    for folder in sorted({Path(os.path.abspath(one)) for one in folders}):
        if not lies_in(folder, [*map(Path, SYSTEM), *kept]):
            kept.append(folder)
    return kept
