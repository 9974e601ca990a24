"""Names of processes, by which others on the same machine can tell whether a process has ended."""

from __future__ import annotations

from brainscore_core.results.claims import has_ended as _has_ended
from brainscore_core.results.claims import this_process

__all__ = ["has_ended", "process_label", "process_name"]


def process_name() -> str:
    """Name this process: its host, machine, number and start.

    Examples
    --------
    >>> has_ended(process_name())
    False
    """
    known = this_process()
    return f"{known['host'][:100]} {known['machine']} {known['pid']} {known['started'] or '-'}"


def has_ended(name: str) -> bool:
    """Whether the process with this name is known to have ended; False for processes of other machines."""
    parts = name.split(" ")
    if len(parts) != 4 or not parts[2].isdecimal():
        return False
    started = None if parts[3] == "-" else parts[3]
    return _has_ended({"host": parts[0], "machine": parts[1], "pid": int(parts[2]), "started": started})


def process_label(name: str) -> str:
    """The host and number of a process, for display.

    Examples
    --------
    >>> process_label("here 3f2a 17 1234"), process_label("")
    ('here:17', '')
    """
    host, _, pid = (*name.split(" "), "", "")[:3]
    return f"{host}:{pid}" if host else ""
