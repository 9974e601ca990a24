"""Whether there can be a cage here, and if not, what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.scoring.subjects.cage._groups import Groups

__all__ = ["bubblewrap", "require_cage"]

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


def require_cage(*, control_group: bool = False) -> None:
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
