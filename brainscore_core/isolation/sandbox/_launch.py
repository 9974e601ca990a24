"""Start a command in a sandbox and watch it. Run by path; uses only the standard library.

``python -I -S _launch.py PLAN COMMAND…``. ``PLAN`` is a file written by `OpenSandbox`. If run as root, it gives
up its privileges before it starts bubblewrap, so that code that breaks out of the sandbox has none. The exit status is
that of the command; the reason why the command was ended is written to the file that the plan names.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

if __package__:
    from brainscore_core.isolation.sandbox import _groups, _seccomp, _watch
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # isolated mode does not add this folder
    import _groups  # type: ignore[no-redef] # the same module
    import _seccomp  # type: ignore[no-redef] # the same module
    import _watch  # type: ignore[no-redef] # the same module

_CLONE_NEWNS, _PR_SET_PDEATHSIG = 0x20000, 1
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 1 << 18
_FIRST_USER, _USERS = 61184, 4336  # the range that systemd uses for dynamic users
_STAGE = "/tmp"  # noqa: S108 - in its own mount namespace, where it hides the real one


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
    running = 0 if os.getuid() == 0 else _watch.tasks_of(user)  # the system counts all tasks of a user
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: plan["data"],
        resource.RLIMIT_FSIZE: plan["file_size"],
        resource.RLIMIT_NOFILE: 4096,
        resource.RLIMIT_NPROC: plan["processes"] + running + _watch.SLACK,
        getattr(resource, "RLIMIT_MSGQUEUE", 12): 0,
    }
    for which, limit in limits.items():
        _, highest = resource.getrlimit(which)
        if highest != resource.RLIM_INFINITY:
            limit = min(limit, highest)
        resource.setrlimit(which, (limit, limit))


def _enter(plan: dict[str, Any], command: list[str], groups: _groups.Groups, report: int) -> None:
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
        arguments += _seccomp.arguments()
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


def main() -> None:
    """Run the command of the arguments in the sandbox that the plan describes."""
    plan, command = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2:]
    groups = _groups.Groups(plan["folder"].rpartition("-")[2], memory=plan["memory"], processes=plan["processes"])
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
        status, verdict = _watch.watch(child, plan, groups)
        if problem:
            verdict = {"cause": "start", "limit": problem}
        if verdict:
            Path(plan["verdict"]).write_text(json.dumps(verdict))
    finally:
        groups.remove()
    _leave(status)


if __name__ == "__main__":
    main()
