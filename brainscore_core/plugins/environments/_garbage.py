"""Removing environments that nobody needs."""

from __future__ import annotations

import contextlib
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from brainscore_core.files import STALE
from brainscore_core.plugins.environments import _folder, _locks
from brainscore_core.plugins.environments._folder import StoredEnvironment

__all__ = ["Collected", "collect_garbage"]


@dataclass(frozen=True)
class Collected:
    """What was removed, or would be.

    Attributes
    ----------
    removed : tuple of StoredEnvironment
        Environments that are gone.
    kept : tuple of StoredEnvironment
        Those that are left.
    remains : tuple of Path
        What killed processes had left.
    """

    removed: tuple[StoredEnvironment, ...]
    kept: tuple[StoredEnvironment, ...]
    remains: tuple[Path, ...]


def collect_garbage(
    root: Path | None = None,
    *,
    older_than: float | None = None,
    max_bytes: int | None = None,
    dry_run: bool = False,
) -> Collected:
    """Remove environments that cannot be used any more, that were not used for long, or that take too much space.

    One that a process uses always stays, where the file system has locks.

    Parameters
    ----------
    root : Path, optional
        Folder of environments, by default `environments_home`.
    older_than : float, optional
        Also remove what was not used for that many seconds.
    max_bytes : int, optional
        Also remove the least recently used ones until the rest takes no more than that.
    dry_run : bool
        Only say what would be removed.

    Returns
    -------
    Collected
        What is gone, and what is left.

    Examples
    --------
    >>> collect_garbage(older_than=30 * 86400).removed
    ()
    """
    home = _folder.environments_home(root)
    every = _folder.environments(home)
    now = time.time()
    unwanted = {
        entry.key
        for entry in every
        if entry.state != "good" or (older_than is not None and now - entry.used > older_than)
    }
    if max_bytes is not None:
        unwanted |= _beyond([entry for entry in every if entry.key not in unwanted or entry.in_use], max_bytes)
    removed: list[StoredEnvironment] = []
    kept: list[StoredEnvironment] = []
    for entry in every:
        gone = entry.key in unwanted and not entry.in_use and (dry_run or _folder.remove_environment(entry))
        (removed if gone else kept).append(entry)
    return Collected(tuple(removed), tuple(kept), tuple(_sweep(home, dry_run=dry_run)))


def _beyond(entries: list[StoredEnvironment], limit: int) -> set[str]:
    """Keys of the least recently used ones that must go; the others, in use or not, take at most `limit` bytes."""
    total = sum(entry.nbytes for entry in entries)
    found = set()
    for entry in reversed(entries):
        if total <= limit:
            break
        if not entry.in_use:
            found.add(entry.key)
            total -= entry.nbytes
    return found


def _sweep(root: Path, *, dry_run: bool) -> list[Path]:
    """Remove what processes that were killed left: nobody holds its lock."""
    swept = []
    for part in _folder.unfinished(root):
        guard = _locks.take_alone(_folder.lock_file(root, part.name.split(".")[1]))
        if guard is None:
            continue
        try:
            with contextlib.suppress(FileNotFoundError):
                if guard < 0 and time.time() - part.stat().st_mtime < STALE:
                    continue  # without locks, only time tells
                swept.append(part)
                if not dry_run:
                    shutil.rmtree(part, ignore_errors=True)
        finally:
            _locks.release(guard)
    return swept
