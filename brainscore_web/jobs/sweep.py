"""The sweep: every worker does regularly what no request and no task does, such as resuming interrupted work.

Apps register their functions in `AppConfig.ready`. Any number of processes may sweep at the same time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class _Entry:
    function: Callable[[], int]
    every: float
    last: float | None = None


_entries: dict[Callable[[], int], _Entry] = {}
_lock = threading.Lock()


def register(function: Callable[[], int], *, every: float = 0.0) -> None:
    """Let the sweep call a function."""
    _entries[function] = _Entry(function, every)


def sweep() -> int:
    """Call all registered functions that are due; return how many things they handled.

    If one of them fails the others are called nevertheless; then the first error is raised.
    """
    handled, errors = 0, []
    for entry in list(_entries.values()):
        try:
            handled += entry.function() if _begins(entry) else 0
        except Exception as error:  # noqa: BLE001 # it is raised below
            errors.append(error)
    if errors:
        raise errors[0]
    return handled


def _begins(entry: _Entry) -> bool:
    with _lock:
        now = time.monotonic()
        if entry.last is not None and now - entry.last < entry.every:
            return False
        entry.last = now
        return True
