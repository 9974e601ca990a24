"""Sandboxes: what they need of this machine, what is visible in them, their limits, and commands in them.

Code runs without network access, sees only what it is given, and has limited resources. Bubblewrap creates sandboxes
from namespaces of Linux. If started as root, the code runs as an unprivileged user.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from brainscore_core.domain_names import PACKAGES
from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.isolation.children import Output, end, ender, ending_text, guarded
from brainscore_core.memory import format_size
from brainscore_core.plugins.environments.base import base_of, outermost

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
    """Return the path of bubblewrap.

    Raises UserError if it is not installed.
    """
    if sys.platform != "linux":
        raise UserError(
            "a sandbox requires Linux", remedy="score without a sandbox, or in a virtual machine with Linux"
        )
    program = shutil.which("bwrap", path=f"{os.environ.get('PATH', '')}:/usr/bin:/usr/local/bin")
    if program is None:
        raise UserError("bubblewrap is not installed; submitted code needs it", remedy=_INSTALL)
    return program


def require_sandbox(*, control_group: bool = False) -> None:
    """Check whether this machine can run a sandbox.

    `control_group`: whether a control group must limit its memory. Without one, memory is summed up from outside, which
    misses what no process holds open, such as a file in memory whose descriptor is in transit in a socket. Raises
    `UserError` if something is missing; the remedy is the command that fixes it.
    """
    _try(bubblewrap(), os.getuid())
    if control_group and not _limits_memory(os.getpid()):
        raise UserError(
            "no control group can be created here, so the memory of submitted code cannot be limited safely",
            remedy="start the worker with its systemd unit (Delegate=yes and DelegateSubgroup=worker; systemd "
            "254 or later), in a scope (systemd-run --user --scope -p Delegate=yes …), or as root",
        )


@cache
def _limits_memory(process: int) -> bool:
    from brainscore_core.isolation._launch import Groups  # only on Linux

    groups = Groups("try", memory=1 << 30, processes=16)
    try:
        return groups.limit_memory
    finally:
        groups.remove()


@cache
def _try(program: str, user: int) -> None:
    command = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    unprivileged: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": ()} if user == 0 else {}
    done = subprocess.run(  # noqa: S603 - arguments are ours
        [*command, "/bin/true"], capture_output=True, text=True, timeout=60, check=False, cwd="/", **unprivileged
    )
    if done.returncode == 0 and user == 0:  # root mounts files where users can reach them
        done = subprocess.run(  # noqa: S603 - as above
            [sys.executable, "-I", "-S", "-c", _UNSHARE], capture_output=True, text=True, timeout=60, check=False
        )
    if done.returncode == 0:
        return
    message = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    raise UserError(f"bubblewrap cannot create a sandbox here: {message}", remedy=_remedy())


def _remedy() -> str:
    for name, bad, command in _NAMESPACES:
        try:
            with open(f"/proc/sys/{name}") as file:
                if file.read().strip() == bad:
                    return f"allow user namespaces: {command}"
        except OSError:
            continue
    return (
        "allow user namespaces; start a container with options that permit them, for instance: "
        "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN"
    )


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Folders of programs and libraries, as far as they exist."""

ETC = (
    "alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "timezone",
)  # fmt: skip
"""Entries of ``/etc`` that are visible."""

_PLATFORM = ("brainio", "brainscore", "brainscore_core", *PACKAGES)  # not the site


@cache
def platform_folders() -> tuple[Path, ...]:
    """Folders of this platform's packages."""
    root = Path(__file__).absolute().parents[2]
    return tuple(root / name for name in _PLATFORM if (root / name / "__init__.py").is_file())


@cache
def interpreter_folders() -> tuple[Path, ...]:
    """Folders that the running interpreter reads: its own, its environment, and installed packages.

    Other folders on its path are left out: projects installed in place (``pip install -e``) and the folders in
    ``PYTHONPATH``. Of these, only :func:`platform_folders` are visible.
    """
    base = base_of()
    folders = (*base.prefixes, base.prefix, *base.sites)
    return tuple(
        outermost((folder for folder in folders if folder != Path("/") and folder.is_dir()), map(Path, SYSTEM))
    )


def stubs(folder: Path) -> dict[str, Path]:
    """Write replacements of files that programs read in ``/etc``; return the file of each path in the sandbox."""
    texts = {
        "passwd": "sandbox:x:1000:1000:sandbox:/tmp/home:/bin/sh\n",
        "group": "sandbox:x:1000:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    written = {}
    for name, text in texts.items():
        file = folder / name
        file.write_text(text)
        file.chmod(0o644)
        written[f"/etc/{name}"] = file
    return written


HOME = "/tmp/home"  # noqa: S108 - in a sandbox, which has its own /tmp
STIMULI = PurePosixPath("/stimuli")

FOLDERS = "brainscore-sandbox-"
"""Prefix of the names of temporary folders of sandboxes."""

_LAUNCHER = Path(__file__).with_name("_launch.py")
_KEPT = ("LANG", "LC_ALL", "TZ", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_ISOLATION = (
    "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--new-session", "--hostname", "sandbox", "--uid", "1000", "--gid", "1000",
    "--cap-drop", "ALL",
)  # fmt: skip
_VERDICTS = {
    "memory": "used more than {} of memory",
    "processes": "ran more than {} processes and threads",
    "timeout": "ran longer than {} s",
    "scratch": "wrote more than {}",
    "entries": "made more than {} files and folders",
    "start": "could not be put into a sandbox: {}",
}


class Verdict(NamedTuple):
    """Why a sandbox was ended."""

    cause: Literal["memory", "processes", "timeout", "scratch", "entries", "start"]
    message: str


@dataclass(frozen=True, kw_only=True)
class Sandbox:
    """What is visible in a sandbox, read-only, and the limits of its resources.

    System libraries, the running interpreter with its installed packages, and this platform are always visible.

    - `folders`, `files`: what else is visible, under the same paths.
    - `writable`: existing files of the machine that may be written, together up to `scratch` bytes. The sandbox can
      neither remove nor replace them, nor create others beside them.
    - `environment`: environment variables in addition to the few that are always set; those of this process are not
      passed on.
    - `memory`: bytes for all processes together, including files in memory.
    - `processes`: processes and threads, together.
    - `seconds`: from the start to the end.
    - `file_size`: bytes of one written file, including large arrays that are transferred; by default as `memory`.
    - `scratch`: bytes of ``/tmp``, which contains the home folder, and the same for ``/dev/shm``; both count as memory.
    - `entries`: number of files and folders in both together.
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
                raise UserError(f"a sandbox cannot have {name}={getattr(self, name)}", remedy="give a number above 0")

    @contextmanager
    def opened(self, *, socket: bool = False) -> Iterator[OpenSandbox]:
        """Prepare this sandbox for a command; everything is removed at the end.

        `socket`: whether the last argument of the command is the number of a descriptor that the command inherits.
        """
        require_sandbox()
        with temporary_folder(FOLDERS) as folder:
            yield OpenSandbox(self, folder, socket=socket)


class OpenSandbox:
    """A sandbox that is ready for one command; made by `Sandbox.opened`.

    `prefix`: start of the command line, before the command.
    """

    def __init__(self, sandbox: Sandbox, folder: Path, *, socket: bool) -> None:
        self._folder = folder
        self._verdict = folder / "verdict.json"
        self._sources: list[str] = []
        shared = folder / "stimuli"
        for created in (shared, folder / "stage", folder / "etc", folder / "copies"):
            created.mkdir(mode=0o755)
            created.chmod(0o755)
        self._shared = shared
        plan = {
            "folder": str(folder),
            "verdict": str(self._verdict),
            "bwrap": bubblewrap(),
            "arguments": self._arguments(sandbox, shared),
            "sources": self._sources,
            "environment": _variables(sandbox),
            "socket": socket,
            "writable": [str(file.resolve()) for file in sandbox.writable],
            **{name: getattr(sandbox, name) for name in ("memory", "processes", "scratch", "entries")},
            "data": 2 * sandbox.memory + (1 << 30),  # of each process; reserved memory need not be used
            "seconds": None if math.isinf(sandbox.seconds) else sandbox.seconds,
            "file_size": sandbox.memory if sandbox.file_size is None else sandbox.file_size,
        }
        file = folder / "plan.json"
        file.write_text(json.dumps(plan))
        self.prefix = [sys.executable, "-I", "-S", str(_LAUNCHER), str(file)]

    @contextmanager
    def lend(self, files: Iterable[str | Path]) -> Iterator[dict[str, Path]]:
        """Make files visible during the block; yields file → its path in the sandbox, without what is not a file.

        Their names in the sandbox reveal only the type of file.
        """
        lent: dict[str, Path] = {}
        try:
            for file in dict.fromkeys(map(str, files)):
                name = f"{uuid.uuid4().hex}{Path(file).suffix}"
                if _copy(Path(file), self._shared / name):
                    lent[file] = Path(STIMULI / name)
            yield lent
        finally:
            for path in lent.values():
                (self._shared / path.name).unlink(missing_ok=True)

    @property
    def verdict(self) -> Verdict | None:
        """Why the sandbox was ended; None if it was not."""
        try:
            verdict = json.loads(self._verdict.read_text())
        except FileNotFoundError:
            return None
        cause, limit = verdict["cause"], verdict["limit"]
        text = limit if isinstance(limit, str) else f"{limit:,g}"
        if cause in ("memory", "scratch"):
            text = format_size(limit)
        return Verdict(cause, _VERDICTS[cause].format(text))

    def _arguments(self, sandbox: Sandbox, shared: Path) -> list[str | int]:
        """Return the arguments of bubblewrap; a number is an index of `_sources`."""
        arguments: list[str | int] = [*_ISOLATION, *(["--disable-userns"] if _can_forbid_namespaces() else [])]
        for name in SYSTEM:
            path = Path(name)
            if path.is_symlink():
                arguments += ["--symlink", os.readlink(path), name]
            elif path.is_dir():
                arguments += self._bind(path)
        for name in ETC:
            if (path := Path("/etc", name)).exists():
                arguments += self._bind(path)
        for name, file in stubs(self._folder / "etc").items():
            arguments += self._bind(file, name)
        arguments += ["--dev", "/dev", "--size", str(sandbox.scratch), "--tmpfs", "/dev/shm"]  # noqa: S108 - the sandbox's own
        arguments += ["--remount-ro", "/dev", "--proc", "/proc"]
        arguments += ["--size", str(sandbox.scratch), "--tmpfs", "/tmp"]  # noqa: S108 - the sandbox's own
        arguments += ["--dir", HOME]
        if (processors := Path("/sys/devices/system/cpu")).is_dir():
            arguments += self._bind(processors)
        folders = map(os.path.abspath, (*interpreter_folders(), *platform_folders(), *sandbox.folders))
        for folder in outermost(map(Path, folders), map(Path, SYSTEM)):
            if not folder.is_dir():
                raise UserError(f"the folder {folder} does not exist", remedy="make existing folders visible")
            self._check_access(folder)
            arguments += self._bind(folder)
        for file in dict.fromkeys(Path(os.path.abspath(path)) for path in sandbox.files):
            if not file.is_file():
                raise UserError(f"the file {file} does not exist", remedy="make existing files visible")
            arguments += self._bind(self._readable_file(file), str(file))
        arguments += self._bind(shared, str(STIMULI))
        for file in sandbox.writable:
            if not file.is_file():
                raise UserError(
                    f"the file {file}, which is to be written, does not exist", remedy="create it beforehand, empty"
                )
            self._sources.append(str(file.resolve()))
            arguments += ["--bind", len(self._sources) - 1, os.path.abspath(file)]
        return [*arguments, "--remount-ro", "/", "--chdir", HOME]

    def _bind(self, source: Path, name: str | None = None) -> list[str | int]:
        self._sources.append(str(source.resolve()))
        return ["--ro-bind", len(self._sources) - 1, name or str(source)]

    def _readable_file(self, file: Path) -> Path:
        """Return the file, or a copy that the sandbox's unprivileged user can read."""
        if os.getuid() != 0 or file.stat().st_mode & 0o004:
            return file
        copy = self._folder / "copies" / f"{len(self._sources)}{file.suffix}"
        shutil.copyfile(file, copy)
        copy.chmod(0o644)
        return copy

    def _check_access(self, folder: Path) -> None:
        if os.getuid() == 0 and folder.stat().st_mode & 0o005 != 0o005:
            raise UserError(
                f"the sandbox's unprivileged user cannot read the folder {folder}",
                remedy=f"make it readable: chmod -R o+rX {folder}",
            )


def _copy(file: Path, target: Path) -> bool:
    """Make a file that all users can read, by a link if possible; return whether it is a file."""
    try:
        source = file.resolve(strict=True)
        status = source.stat()
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode):
        return False
    if status.st_mode & 0o004:  # a link has the permissions of the file
        with suppress(OSError):  # another disk or another owner
            os.link(source, target)
            return True
    shutil.copyfile(source, target)
    target.chmod(0o644)
    return True


@cache
def _can_forbid_namespaces() -> bool:
    """Whether bubblewrap can forbid namespaces; the filter of system calls forbids most of them anyway."""
    command = [bubblewrap(), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)  # noqa: S603 - ours
    return "--disable-userns" in done.stdout + done.stderr


def _variables(sandbox: Sandbox) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "HOME": HOME,
        "USER": "sandbox",
        "TMPDIR": "/tmp",  # noqa: S108 - the sandbox's own
        "PYTHONDONTWRITEBYTECODE": "1",
        "BRAINSCORE_MAX_MEMORY": str(int(0.8 * sandbox.memory)),
        "BRAINSCORE_ACTIVATIONS": "off",
        **sandbox.environment,
    }


Cause = Literal["", "exit", "crash", "timeout", "memory", "processes", "scratch", "entries", "output", "stopped"]

_TICK = 0.1


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a command ended.

    - `cause`: empty for exit status 0; ``'exit'`` for another one; ``'crash'`` for a signal; ``'stopped'``; or the
      limit that was exceeded: ``'timeout'``, ``'memory'``, ``'processes'``, ``'scratch'``, ``'entries'``, ``'output'``.
    - `status`: exit status; negative for a signal.
    - `message`: description of the cause; empty for exit status 0.
    - `output`: what it printed; if that is very long, the beginning and the end.
    - `seconds`: run time.
    """

    cause: Cause
    status: int
    message: str
    output: str
    seconds: float


def run_in_sandbox(
    command: Sequence[str],
    sandbox: Sandbox,
    *,
    timeout: float,
    max_output: int = 16 << 20,
    on_output: Callable[[str], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Ended:
    """Run a command in a sandbox until it ends.

    `command`: program, by its path in the sandbox, and arguments. `sandbox`: what the command sees and may use.
    `timeout`: seconds after which it is killed. `max_output`: bytes that it may print before it is killed. `on_output`:
    called, from another thread, with each piece of text that it prints. `stopped`: called several times a second;
    returns whether to end the command. Returns how it ended. Raises `UserError` if this machine cannot run a sandbox.
    """
    with sandbox.opened() as opened:
        ended = run_guarded(
            [*opened.prefix, *command], timeout=timeout, max_output=max_output, on_output=on_output, stopped=stopped
        )
        verdict = opened.verdict
    if verdict is None:
        return ended
    if verdict.cause == "start":
        raise UserError(
            f"the command {verdict.message}", remedy="see docs/operators/sandbox.md for what a sandbox requires"
        )
    known = ended.cause not in ("", "exit", "crash")
    return ended if known else replace(ended, cause=verdict.cause, message=verdict.message)


def run_guarded(
    command: Sequence[str],
    *,
    timeout: float,
    max_output: int = 16 << 20,
    environment: Mapping[str, str] | None = None,
    on_output: Callable[[str], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Ended:
    """Run a command of this platform without a sandbox; it ends with this process. See :func:`run_in_sandbox`."""
    started = time.monotonic()
    process = guarded(command, environment=environment)
    assert process.stdout is not None
    output = Output(os.dup(process.stdout.fileno()), limit=max_output, on_flood=ender(process), on_text=on_output)
    process.stdout.close()
    try:
        reason = _wait(process, started + timeout, stopped)
    finally:
        status = end(process, os.getpid())
        output.finish(2.0)
    seconds = time.monotonic() - started
    cause, message = _cause(status)
    if output.flooded:
        cause, message = "output", f"printed more than {format_size(max_output)}"
    elif reason == "timeout":
        cause, message = "timeout", f"ran longer than {timeout:,g} s"
    elif reason == "stopped":
        cause, message = "stopped", "was stopped"
    return Ended(cause=cause, status=status, message=message, output=output.text, seconds=seconds)


def _wait(process: subprocess.Popen[bytes], deadline: float, stopped: Callable[[], bool] | None) -> Cause:
    while True:
        try:
            process.wait(_TICK)
            return ""
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                return "timeout"
            if stopped is not None and stopped():
                return "stopped"


def _cause(status: int) -> tuple[Cause, str]:
    if status == 0:
        return "", ""
    signalled = status < 0 or 128 < status <= 192
    return ("crash" if signalled else "exit"), ending_text(status)
