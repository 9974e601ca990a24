"""Sandboxes: whether this machine can make one, what it shows, and what it allows."""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import brainscore_core
from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.isolation.sandbox._groups import Groups
from brainscore_core.memory import format_size
from brainscore_core.plugins.environments.base import base_of

__all__ = ["FOLDERS", "HOME", "Exchange", "Loan", "OpenSandbox", "Sandbox", "Verdict", "bubblewrap", "require_sandbox"]

_INSTALL = "install bubblewrap: apt install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora)"
_UNSHARE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x20000):
    raise SystemExit("a mount namespace: " + os.strerror(ctypes.get_errno()))
"""
_NAMESPACES = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
)


def bubblewrap() -> str:
    """The program.

    Raises
    ------
    UserError
        It is not installed.
    """
    if sys.platform != "linux":
        raise UserError("cages need Linux", remedy="score without a cage, or in a virtual machine with Linux")
    found = shutil.which("bwrap", path=f"{os.environ.get('PATH', '')}:/usr/bin:/usr/local/bin")
    if found is None:
        raise UserError("bubblewrap is not installed; submitted code needs it", remedy=_INSTALL)
    return found


def require_sandbox(*, control_group: bool = False) -> None:
    """Try whether there can be a cage here.

    Parameters
    ----------
    control_group : bool
        Whether its memory must be limited by a control group. Without one it is added up from outside, which misses
        what no process holds open, such as a file in memory whose descriptor is under way in a socket.

    Raises
    ------
    UserError
        What is missing, and the command that mends it.
    """
    _try(bubblewrap(), os.getuid())
    if control_group and not _limits_memory(os.getpid()):
        raise UserError(
            "no control group can be made here, so that the memory of submitted code cannot be limited safely",
            remedy="start the worker by its systemd unit, which has Delegate=yes and DelegateSubgroup=worker (systemd "
            "254 or later), in a scope (systemd-run --user --scope -p Delegate=yes …), or as root",
        )


@cache
def _limits_memory(process: int) -> bool:
    groups = Groups("try", memory=1 << 30, processes=16)
    try:
        return groups.limit_memory
    finally:
        groups.remove()


@cache
def _try(program: str, user: int) -> None:
    command = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    nobody: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": ()} if user == 0 else {}
    done = subprocess.run(  # noqa: S603 - arguments are ours
        [*command, "/bin/true"], capture_output=True, text=True, timeout=60, check=False, cwd="/", **nobody
    )
    if done.returncode == 0 and user == 0:  # root brings things to where an unprivileged user may reach them
        done = subprocess.run(  # noqa: S603 - as above
            [sys.executable, "-I", "-S", "-c", _UNSHARE], capture_output=True, text=True, timeout=60, check=False
        )
    if done.returncode == 0:
        return
    said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    raise UserError(f"bubblewrap cannot make a cage here: {said}", remedy=_remedy())


def _remedy() -> str:
    for name, bad, command in _NAMESPACES:
        try:
            with open(f"/proc/sys/{name}") as file:
                if file.read().strip() == bad:
                    return f"allow user namespaces: {command}"
        except OSError:
            continue
    return (
        "allow user namespaces; in a container, start it so that they are possible, for instance with: "
        "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN"
    )


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Folders of programs and libraries; those that are there."""

ETC = (
    "alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "timezone",
)  # fmt: skip
"""What is shown of ``/etc``."""

_PLATFORM = ("brainio", "brainscore", "brainscore_core", "brainscore_vision")  # not the site


@cache
def platform_folders() -> tuple[Path, ...]:
    """Packages of this platform, where they lie."""
    beside = Path(brainscore_core.__file__).absolute().parent.parent
    return tuple(beside / name for name in _PLATFORM if (beside / name / "__init__.py").is_file())


@cache
def interpreter_folders() -> tuple[Path, ...]:
    """Folders that the running interpreter reads: its own, those of its environment, of installed packages.

    Others on its path are left out: projects that were installed from their folders (``pip install -e``),
    and what ``PYTHONPATH`` names. Of these, :func:`platform_folders` alone is shown.
    """
    base = base_of()
    shown: list[Path] = []
    for folder in sorted({*base.prefixes, base.prefix, *base.sites}):
        if folder != Path("/") and folder.is_dir() and not lies_in(folder, [*map(Path, SYSTEM), *shown]):
            shown.append(folder)
    return tuple(shown)


def lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path lies in one of the folders, or is one."""
    return any(path.is_relative_to(folder) for folder in folders)


def stubs(folder: Path) -> dict[str, Path]:
    """Write what programs look up in ``/etc``, and nothing of this machine; path in the cage → file."""
    texts = {
        "passwd": "cage:x:1000:1000:cage:/tmp/home:/bin/sh\n",
        "group": "cage:x:1000:\n",
        "hosts": "127.0.0.1 localhost cage\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    written = {}
    for name, text in texts.items():
        file = folder / name
        file.write_text(text)
        file.chmod(0o644)
        written[f"/etc/{name}"] = file
    return written


class Exchange:
    """A folder that a cage sees read-only, and into which files are put while they are needed.

    Parameters
    ----------
    folder : Path
        Outside.
    inside : PurePosixPath
        What it is called in the cage.
    """

    def __init__(self, folder: Path, inside: PurePosixPath) -> None:
        self._folder = folder
        self._inside = inside
        self._numbers = count(1)
        self._there: dict[str, tuple[str, int]] = {}  # file → its name there, and how many loans it is part of

    def lend(self, files: Iterable[str | Path]) -> Loan:
        """Show files until they are given back; those that are no files are left out.

        Names there tell nothing but the kind of file.
        """
        lent = {}
        for file in dict.fromkeys(str(one) for one in files):
            name, loans = self._there.get(file, ("", 0))
            if not loans:
                name = self._put(file)
            if name:
                self._there[file] = name, loans + 1
                lent[file] = Path(self._inside / name)
        return Loan(self, lent)

    def take_back(self, files: Iterable[str]) -> None:
        """Remove files of which no loan is left."""
        for file in files:
            name, loans = self._there[file]
            if loans > 1:
                self._there[file] = name, loans - 1
            else:
                del self._there[file]
                (self._folder / name).unlink(missing_ok=True)

    def _put(self, file: str) -> str:
        try:
            source = Path(file).resolve(strict=True)
            status = source.stat()
        except OSError:
            return ""
        if not stat.S_ISREG(status.st_mode):
            return ""
        name = f"{next(self._numbers):08d}{Path(file).suffix}"
        place = self._folder / name
        if status.st_mode & 0o004:  # its rights are the file's, whatever it is called
            try:
                os.link(source, place)
            except OSError:  # on another disk, or of another user
                shutil.copyfile(source, place)
        else:
            shutil.copyfile(source, place)
        if not place.stat().st_mode & 0o004:
            place.chmod(0o644)
        return name


class Loan:
    """Files that are shown until they are given back.

    Attributes
    ----------
    inside : dict
        File → its path in the cage.
    """

    def __init__(self, exchange: Exchange, inside: dict[str, Path]) -> None:
        self._exchange = exchange
        self.inside = inside

    def give_back(self) -> None:
        """Show them no longer; again does nothing."""
        lent, self.inside = self.inside, {}
        self._exchange.take_back(lent)


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
class Sandbox:
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
    def opened(self, *, socket: bool = False) -> Iterator[OpenSandbox]:
        """Make ready what a command in this cage needs; it is gone at the end.

        Parameters
        ----------
        socket : bool
            Whether the last argument of the command is the number of a descriptor that is to be handed on.
        """
        require_sandbox()
        with temporary_folder(FOLDERS) as folder:
            yield OpenSandbox(self, folder, socket=socket)


class OpenSandbox:
    """A cage that is ready for one command; made by `Cage.opened`.

    Attributes
    ----------
    prefix : list of str
        What stands before the command.
    exchange : Exchange
        Files that are shown for a while.
    """

    def __init__(self, cage: Sandbox, folder: Path, *, socket: bool) -> None:
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

    def _arguments(self, cage: Sandbox, shared: Path) -> list[str | int]:
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


def _variables(cage: Sandbox) -> dict[str, str]:
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
