"""Start a command in a sandbox and watch it. Run by path; uses only the standard library.

``python -I -S _launch.py PLAN COMMAND…``. ``PLAN`` is a file written by `OpenSandbox`. If run as root, it gives
up its privileges before it starts bubblewrap, so that code that breaks out of the sandbox has none. The exit status is
that of the command; the reason why the command was ended is written to the file that the plan names.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import platform
import resource
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

_CLONE_NEWNS, _PR_SET_PDEATHSIG = 0x20000, 1
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 1 << 18
_FIRST_USER, _USERS = 61184, 4336  # the range that systemd uses for dynamic users
_STAGE = "/tmp"  # noqa: S108 - in its own mount namespace, where it hides the real one
_GROUPS_ROOT = Path("/sys/fs/cgroup")


class Groups:
    """Control groups of one sandbox, versions 1 and 2; none if this process may not create any.

    Limits are in bytes and tasks.
    """

    def __init__(self, name: str, *, memory: int, processes: int) -> None:
        self._made: list[Path] = []
        self._events: list[tuple[Path, str]] = []
        name = f"brainscore-{os.getpid()}-{name}"
        for controller, parents in _parent_folders():
            limits = {
                "": {"memory.max": memory, "memory.swap.max": 0, "memory.oom.group": 1, "pids.max": processes + 24},
                "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
                "pids": {"pids.max": processes + 24},
            }[controller]
            for parent in parents:
                if self._make(parent / name, limits):
                    break

    @property
    def limit_memory(self) -> bool:
        """Whether one of them limits memory."""
        return bool(self._events)

    def _make(self, folder: Path, limits: dict[str, int]) -> bool:
        if "memory.max" in limits:
            with contextlib.suppress(OSError):  # no permission, or the parent group has processes of its own
                (folder.parent / "cgroup.subtree_control").write_text("+memory +pids\n")
        try:
            folder.mkdir()
        except OSError:
            return False
        first, *more_limits = limits.items()
        try:
            (folder / first[0]).write_text(f"{first[1]}\n")
        except OSError:  # the controller is not delegated to this group
            with contextlib.suppress(OSError):
                folder.rmdir()
            return False
        for file, limit in more_limits:
            with contextlib.suppress(OSError):  # no accounting of swap, or no controller of pids
                (folder / file).write_text(f"{limit}\n")
        self._made.append(folder)
        events = {"memory.max": "memory.events", "memory.limit_in_bytes": "memory.oom_control"}.get(first[0])
        if events:
            self._events.append((folder / events, "oom_kill"))
        return True

    def join(self) -> None:
        """Put this process and its future descendants into the groups."""
        for folder in self._made:
            with contextlib.suppress(OSError):  # the watching process sums up memory as well
                (folder / "cgroup.procs").write_text(f"{os.getpid()}\n")

    def out_of_memory(self) -> bool:
        """Whether the system killed a process in the groups because of their memory limit."""
        for file, counter in self._events:
            with contextlib.suppress(OSError):
                for line in file.read_text().splitlines():
                    if line.split()[0] == counter and line.split()[1] != "0":
                        return True
        return False

    def remove(self) -> None:
        """Remove the groups once their last process has ended."""
        deadline = time.monotonic() + 2
        for folder in self._made:
            while time.monotonic() < deadline:
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


def _parent_folders() -> list[tuple[str, list[Path]]]:
    """Folders in which a group may be possible, for version 2 (``''``) or each controller of version 1."""
    groups: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            groups.update(dict.fromkeys(controllers.split(","), path.lstrip("/")))
    folders = []
    for controller in ("memory", "pids"):
        root = _GROUPS_ROOT / controller
        if (root / "cgroup.procs").exists():
            folders.append((controller, [root / groups.get(controller, ""), root]))
    if (_GROUPS_ROOT / "cgroup.controllers").exists():
        mine = _GROUPS_ROOT / groups.get("", "")
        folders.append(
            ("", list(dict.fromkeys([mine, mine.parent, _GROUPS_ROOT] if mine != _GROUPS_ROOT else [_GROUPS_ROOT])))
        )
    return folders


def _check(status: int, doing: str) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")


def _stage(plan: dict[str, Any]) -> list[str]:
    """Mount what is visible where any user can reach it, in a mount namespace of this process; return the new paths.

    An unprivileged user cannot pass through a folder such as ``/root``, but can read what is mounted elsewhere.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(_CLONE_NEWNS), "a mount namespace")
    _check(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "private mounts")
    stage = os.path.join(plan["folder"], "stage")
    _check(libc.mount(b"tmpfs", stage.encode(), b"tmpfs", 0, b"mode=755,size=1m"), "a folder for mounts")
    paths = []
    for number, source in enumerate(plan["sources"]):
        target = os.path.join(stage, str(number))
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))
        _check(
            libc.mount(os.fsencode(source), target.encode(), None, _MS_BIND | _MS_REC, None), f"{source} in the sandbox"
        )
        paths.append(os.path.join(_STAGE, str(number)))
    _check(libc.mount(stage.encode(), _STAGE.encode(), None, _MS_BIND | _MS_REC, None), "a folder for mounts")
    return paths


def _limit(plan: dict[str, Any], user: int) -> None:
    running = 0 if os.getuid() == 0 else _tasks_of(user)  # the system counts all tasks of a user
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: plan["data"],
        resource.RLIMIT_FSIZE: plan["file_size"],
        resource.RLIMIT_NOFILE: 4096,
        resource.RLIMIT_NPROC: plan["processes"] + running + _SLACK,
        getattr(resource, "RLIMIT_MSGQUEUE", 12): 0,
    }
    for which, limit in limits.items():
        _, highest = resource.getrlimit(which)
        if highest != resource.RLIM_INFINITY:
            limit = min(limit, highest)
        resource.setrlimit(which, (limit, limit))


def _enter(plan: dict[str, Any], command: list[str], groups: Groups, report: int) -> None:
    """Become bubblewrap, without privileges; never returns. An error is written to the descriptor `report`."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        keep = {0, 1, 2, report, *([int(command[-1])] if plan["socket"] else [])}
        for name in os.listdir("/proc/self/fd"):
            if int(name) not in keep:
                with contextlib.suppress(OSError):
                    os.close(int(name))
        groups.join()
        user = os.getuid()
        paths = plan["sources"]
        if user == 0:
            user = _FIRST_USER + os.getpid() % _USERS
            for file in plan["writable"]:
                os.chown(file, user, user)
            paths = _stage(plan)
        _limit(plan, user)
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        arguments = [paths[item] if isinstance(item, int) else item for item in plan["arguments"]]
        arguments += _filter_arguments()
        os.environ.clear()
        os.execve(plan["bwrap"], [plan["bwrap"], *arguments, "--", *command], plan["environment"])  # noqa: S606 - no shell
    except (OSError, ValueError) as error:
        os.write(report, str(error).encode("utf-8", "replace")[:4000])
    finally:
        os._exit(126)


def _leave(status: int) -> None:
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    time.sleep(1)
    os._exit(128 + number)


_SLACK = 24
"""Tasks that the system allows beyond the limit, so that exceeding the limit can be observed."""

_TICK, _CLOSE_TICK = 0.03, 0.3  # seconds; exact accounting is slow
_PAGE = 1024


class _Used(NamedTuple):
    """Resources used by a sandbox: tasks, bytes of memory, entries of its folders; `closely`: by exact accounting."""

    tasks: int
    memory: int
    entries: int
    closely: bool


def _watch(child: int, plan: dict[str, Any], groups: Groups) -> tuple[int, dict[str, Any]]:
    """Wait for the end of a process; return its wait status, and the verdict if it was ended (else empty)."""
    end = time.monotonic() + plan["seconds"] if plan["seconds"] is not None else None
    verdict: dict[str, Any] = {}
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        now = time.monotonic()
        used = _used(child, plan["memory"])
        if used.memory > plan["memory"]:
            verdict = {"cause": "memory", "limit": plan["memory"]}
        elif used.tasks > plan["processes"]:
            verdict = {"cause": "processes", "limit": plan["processes"]}
        elif used.entries > plan["entries"]:
            verdict = {"cause": "entries", "limit": plan["entries"]}
        elif plan["writable"] and _size_of(plan["writable"]) > plan["scratch"]:
            verdict = {"cause": "scratch", "limit": plan["scratch"]}
        elif end is not None and now > end:
            verdict = {"cause": "timeout", "limit": plan["seconds"]}
        if verdict:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)  # the rest of the sandbox ends with it
            _, status = os.waitpid(child, 0)
            break
        time.sleep(_CLOSE_TICK if used.closely else _TICK)
    if not verdict and status != 0 and groups.out_of_memory():
        verdict = {"cause": "memory", "limit": plan["memory"]}
    return status, verdict


def _tasks_of(user: int) -> int:
    """Number of tasks of a user."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += _fields(f"/proc/{entry.name}/status").get("Threads:", 0)
    return count


def _used(root: int, limit: int) -> _Used:
    """Sum up what a process and all its descendants use."""
    processes = _tree(root)
    tasks = private = shared = 0
    for pid in processes:
        with contextlib.suppress(OSError):
            fields = _fields(f"/proc/{pid}/status")
            tasks += fields.get("Threads:", 0)
            private += (fields.get("RssAnon:", 0) + fields.get("VmSwap:", 0)) * _PAGE
            shared += fields.get("RssShmem:", 0) * _PAGE
    files = _in_memory_files(processes)
    scratch, entries = _scratch(processes)
    memory = private + max(shared, files) + scratch
    closely = memory > limit
    if closely:  # forked processes share pages, and each counts them as its own
        private = shared = 0
        for pid in processes:
            with contextlib.suppress(OSError):
                fields = _fields(f"/proc/{pid}/smaps_rollup")
                private += (fields.get("Pss_Anon:", 0) + fields.get("SwapPss:", 0)) * _PAGE
                shared += fields.get("Pss_Shmem:", 0) * _PAGE
        memory = private + max(shared, files) + scratch
    return _Used(tasks, memory, entries, closely)


def _tree(root: int) -> list[int]:
    pids, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        pids.append(pid)
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):
                    waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return pids


def _in_memory_files(processes: list[int]) -> int:
    """Bytes of anonymous files in memory that a process holds open, mapped or not."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in processes:
        folder = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                with contextlib.suppress(OSError):
                    if os.readlink(f"{folder}/{name}").startswith("/memfd:"):
                        status = os.stat(f"{folder}/{name}")
                        sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(sizes.values())


def _scratch(processes: list[int]) -> tuple[int, int]:
    """Bytes and entries of the sandbox's own folders in memory."""
    total = entries = 0
    for pid in processes[2:3]:  # bubblewrap outside, bubblewrap inside, the command
        for folder in ("tmp", "dev/shm"):
            with contextlib.suppress(OSError):
                status = os.statvfs(f"/proc/{pid}/root/{folder}")
                total += (status.f_blocks - status.f_bfree) * status.f_frsize
                entries += status.f_files - status.f_ffree
    return total, entries


def _size_of(files: list[str]) -> int:
    total = 0
    for file in files:
        with contextlib.suppress(OSError):
            total += os.stat(file).st_blocks * 512
    return total


def _fields(file: str) -> dict[str, int]:
    fields = {}
    for line in Path(file).read_text().splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdigit():
            fields[words[0]] = int(words[1])
    return fields


_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_FAMILIES = (1, 2, 10, 16)  # Unix, IPv4, IPv6, netlink: families that a network namespace isolates; not vsock

_SYSTEMS: dict[str, tuple[int, int, tuple[int, ...]]] = {  # audit number, socket, refused
    "x86_64": (
        0xC000003E,
        41,
        # ptrace, process_vm_readv/writev, process_madvise, pidfd_getfd, kcmp: other processes' memory
        # add_key, request_key, keyctl: keys belong to the user, also outside
        # bpf, perf_event_open, userfaultfd, io_uring_*, kexec, modules, mount family, quotactl, acct, swap, reboot
        # shmget, semget, msgget: memory that no limit counts
        (101, 310, 311, 440, 438, 312, 248, 249, 250, 321, 298, 323, 425, 426, 427, 246, 320, 175, 176, 313, 165, 166,
         155, 167, 168, 169, 179, 163, 272, 308, 428, 429, 430, 431, 432, 433, 442, 29, 64, 68, 304, 303, 134,
         180, 212),
    ),
    "aarch64": (
        0xC00000B7,
        198,
        (117, 270, 271, 440, 438, 272, 217, 218, 219, 280, 241, 282, 425, 426, 427, 104, 294, 105, 106, 273, 40, 39,
         41, 224, 225, 142, 60, 89, 97, 268, 428, 429, 430, 431, 432, 433, 442, 194, 190, 186, 265, 264, 42, 18),
    ),
}  # fmt: skip


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _program(audit: int, socket: int, refused: tuple[int, ...]) -> bytes:
    refuse = _instruction(_RETURN, _REFUSE | errno.EPERM)
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_EQUAL, audit, 1, 0),
        _instruction(_RETURN, _REFUSE | errno.ENOSYS),  # calls of another architecture have other numbers
        _instruction(_LOAD, _NUMBER),
        _instruction(_AT_LEAST, 0x40000000, 0, 1),
        _instruction(_RETURN, _REFUSE | errno.ENOSYS),
    ]
    for number in refused:
        program += [_instruction(_EQUAL, number, 0, 1), refuse]
    program += [_instruction(_EQUAL, socket, 1, 0), _instruction(_RETURN, _ALLOW), _instruction(_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        program += [_instruction(_EQUAL, family, 0, 1), _instruction(_RETURN, _ALLOW)]
    return b"".join([*program, _instruction(_RETURN, _REFUSE | errno.EAFNOSUPPORT)])


def _filter_arguments() -> list[str]:
    """Return the arguments of bubblewrap; none for processors whose system calls are not listed here."""
    numbers = _SYSTEMS.get(platform.machine())
    if numbers is None:
        return []
    reading, writing = os.pipe()
    os.write(writing, _program(*numbers))
    os.close(writing)
    os.set_inheritable(reading, True)
    return ["--seccomp", str(reading)]


def main() -> None:
    """Run the command of the arguments in the sandbox that the plan describes."""
    plan, command = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2:]
    groups = Groups(plan["folder"].rpartition("-")[2], memory=plan["memory"], processes=plan["processes"])
    reading, report = os.pipe()  # closed when bubblewrap starts
    child = os.fork()
    if child == 0:
        _enter(plan, command, groups, report)
    os.close(report)
    with open(reading, "rb") as stream:
        problem = stream.read().decode("utf-8", "replace")
    if plan["socket"]:
        os.close(int(command[-1]))  # so that the other side sees the end when the model's process ends
    try:
        status, verdict = _watch(child, plan, groups)
        if problem:
            verdict = {"cause": "start", "limit": problem}
        if verdict:
            Path(plan["verdict"]).write_text(json.dumps(verdict))
    finally:
        groups.remove()
    _leave(status)


if __name__ == "__main__":
    main()
