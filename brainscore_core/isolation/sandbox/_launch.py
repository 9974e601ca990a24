"""Starts a command in a cage and watches over it. Run by path, with the standard library alone.

``python -I -S _launch.py PLAN COMMAND…``. ``PLAN`` is a file that `OpenCage` has written. As root it gives up its
rights before bubblewrap begins: whatever breaks out of the cage is nobody. The exit status is the command's; why the
command was ended is written into the file that the plan names.
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
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # isolated mode leaves it out
    import _groups  # type: ignore[no-redef] # the same module
    import _seccomp  # type: ignore[no-redef] # the same module
    import _watch  # type: ignore[no-redef] # the same module

_CLONE_NEWNS, _PR_SET_PDEATHSIG = 0x20000, 1
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 1 << 18
_FIRST_USER, _USERS = 61184, 4336  # those that systemd, too, gives to services without a user of their own
_STAGE = "/tmp"  # noqa: S108 - of a mount namespace of its own, in which it hides the real one


def _check(status: int, doing: str) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")


def _stage(plan: dict[str, Any]) -> list[str]:
    """Bring what is shown to where anybody may reach it, in a mount namespace of this process; the new places.

    A user without rights cannot pass through a folder such as ``/root``, but may read what was mounted elsewhere.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(_CLONE_NEWNS), "a mount namespace")
    _check(libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mounts of its own")
    stage = os.path.join(plan["folder"], "stage")
    _check(libc.mount(b"tmpfs", stage.encode(), b"tmpfs", 0, b"mode=755,size=1m"), "a place for mounts")
    places = []
    for number, source in enumerate(plan["sources"]):
        place = os.path.join(stage, str(number))
        if os.path.isdir(source):
            os.mkdir(place)
        else:
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT, 0o644))
        _check(libc.mount(os.fsencode(source), place.encode(), None, _MS_BIND | _MS_REC, None), f"{source} in the cage")
        places.append(os.path.join(_STAGE, str(number)))
    _check(libc.mount(stage.encode(), _STAGE.encode(), None, _MS_BIND | _MS_REC, None), "a place for mounts")
    return places


def _limit(plan: dict[str, Any], user: int) -> None:
    others = 0 if os.getuid() == 0 else _watch.tasks_of(user)  # the system counts all that a user runs
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: plan["data"],
        resource.RLIMIT_FSIZE: plan["file_size"],
        resource.RLIMIT_NOFILE: 4096,
        resource.RLIMIT_NPROC: plan["processes"] + others + _watch.SLACK,
        getattr(resource, "RLIMIT_MSGQUEUE", 12): 0,
    }
    for which, limit in limits.items():
        _, highest = resource.getrlimit(which)
        if highest != resource.RLIM_INFINITY:
            limit = min(limit, highest)
        resource.setrlimit(which, (limit, limit))


def _enter(plan: dict[str, Any], command: list[str], groups: _groups.Groups, telling: int) -> None:
    """Become bubblewrap, as nobody; never returns. What prevents it is written to a descriptor."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        keep = {0, 1, 2, telling, *([int(command[-1])] if plan["socket"] else [])}
        for name in os.listdir("/proc/self/fd"):
            if int(name) not in keep:
                with contextlib.suppress(OSError):
                    os.close(int(name))
        groups.join()
        user = os.getuid()
        places = plan["sources"]
        if user == 0:
            user = _FIRST_USER + os.getpid() % _USERS
            for file in plan["writable"]:
                os.chown(file, user, user)
            places = _stage(plan)
        _limit(plan, user)
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        arguments = [places[one] if isinstance(one, int) else one for one in plan["arguments"]]
        arguments += _seccomp.arguments()
        os.environ.clear()
        os.execve(plan["bwrap"], [plan["bwrap"], *arguments, "--", *command], plan["environment"])  # noqa: S606 - no shell
    except (OSError, ValueError) as error:
        os.write(telling, str(error).encode("utf-8", "replace")[:4000])
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
    """Run the command that the arguments name in the cage that the plan describes."""
    plan, command = json.loads(Path(sys.argv[1]).read_text()), sys.argv[2:]
    groups = _groups.Groups(plan["folder"].rpartition("-")[2], memory=plan["memory"], processes=plan["processes"])
    hearing, telling = os.pipe()  # closed when bubblewrap begins
    child = os.fork()
    if child == 0:
        _enter(plan, command, groups, telling)
    os.close(telling)
    with open(hearing, "rb") as stream:
        prevented = stream.read().decode("utf-8", "replace")
    if plan["socket"]:
        os.close(int(command[-1]))  # its end must be seen when the subject has gone
    try:
        status, verdict = _watch.watch(child, plan, groups)
        if prevented:
            verdict = {"cause": "start", "limit": prevented}
        if verdict:
            Path(plan["verdict"]).write_text(json.dumps(verdict))
    finally:
        groups.remove()
    _leave(status)


if __name__ == "__main__":
    main()
