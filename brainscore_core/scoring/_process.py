"""Which process on which machine, so that others can tell whether it still runs."""

import os
import socket
import uuid
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["is_dead", "this_process"]


def this_process() -> dict[str, Any]:
    """Describe this process in plain JSON types.

    Examples
    --------
    >>> is_dead(this_process())
    False
    """
    pid = os.getpid()
    return {"host": socket.gethostname(), "machine": _machine(), "pid": pid, "started": _start_of(pid)}


def is_dead(described: dict[str, Any]) -> bool:
    """Whether a process that described itself is known to have ended; one of another machine never is.

    Examples
    --------
    >>> is_dead({**this_process(), "machine": "another"})
    False
    """
    pid = described.get("pid")
    if described.get("machine") != _machine() or not isinstance(pid, int) or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # somebody else's
    started = _start_of(pid)
    return started == "ended" or (started is not None and started != described.get("started"))


@lru_cache(maxsize=1)
def _machine() -> str:
    """Tell apart everything in which a process number may mean another process: machines, starts, containers."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        numbering = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:  # not Linux
        start, numbering = str(uuid.getnode()), ""
    return sha256(f"{socket.gethostname()}\n{start}\n{numbering}".encode()).hexdigest()[:16]


def _start_of(pid: int) -> str | None:
    """When a process started, in the system's own unit; None where it does not tell."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # its name comes before, and may hold anything
    return "ended" if fields[0] in ("Z", "X") else fields[19]
