"""Control groups, where they can be made: limits that nothing outruns. With the standard library alone."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

__all__ = ["Groups"]

_ROOT = Path("/sys/fs/cgroup")


class Groups:
    """Control groups of one cage, versions 1 and 2; none where this process may not make any.

    Parameters
    ----------
    name : str
        Of the cage.
    memory, processes : int
        Limits: bytes, tasks.
    """

    def __init__(self, name: str, *, memory: int, processes: int) -> None:
        self._made: list[Path] = []
        self._events: list[tuple[Path, str]] = []
        name = f"brainscore-{os.getpid()}-{name}"
        for controller, parents in _places():
            wanted = {
                "": {"memory.max": memory, "memory.swap.max": 0, "memory.oom.group": 1, "pids.max": processes + 24},
                "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
                "pids": {"pids.max": processes + 24},
            }[controller]
            for parent in parents:
                if self._make(parent / name, wanted):
                    break

    @property
    def limit_memory(self) -> bool:
        """Whether one of them limits memory."""
        return bool(self._events)

    def _make(self, folder: Path, wanted: dict[str, int]) -> bool:
        if "memory.max" in wanted:
            with contextlib.suppress(OSError):  # not ours to say, or processes of the parent's own prevent it
                (folder.parent / "cgroup.subtree_control").write_text("+memory +pids\n")
        try:
            folder.mkdir()
        except OSError:
            return False
        first, *others = wanted.items()
        try:
            (folder / first[0]).write_text(f"{first[1]}\n")
        except OSError:  # the controller is not handed on to here
            with contextlib.suppress(OSError):
                folder.rmdir()
            return False
        for file, limit in others:
            with contextlib.suppress(OSError):  # no swap, or no pids
                (folder / file).write_text(f"{limit}\n")
        self._made.append(folder)
        events = {"memory.max": "memory.events", "memory.limit_in_bytes": "memory.oom_control"}.get(first[0])
        if events:
            self._events.append((folder / events, "oom_kill"))
        return True

    def join(self) -> None:
        """Put this process, and what will descend from it, into the groups."""
        for folder in self._made:
            with contextlib.suppress(OSError):  # whoever watches adds up, too
                (folder / "cgroup.procs").write_text(f"{os.getpid()}\n")

    def out_of_memory(self) -> bool:
        """Whether the system killed something in them for its memory."""
        for file, word in self._events:
            with contextlib.suppress(OSError):
                for line in file.read_text().splitlines():
                    if line.split()[0] == word and line.split()[1] != "0":
                        return True
        return False

    def remove(self) -> None:
        """Remove them, once the last process in them has gone."""
        until = time.monotonic() + 2
        for folder in self._made:
            while time.monotonic() < until:
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


def _places() -> list[tuple[str, list[Path]]]:
    """For version 2 (``''``) or each controller of version 1: folders in which a group may be possible."""
    own: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            own.update(dict.fromkeys(controllers.split(","), path.lstrip("/")))
    places = []
    for controller in ("memory", "pids"):
        root = _ROOT / controller
        if (root / "cgroup.procs").exists():
            places.append((controller, [root / own.get(controller, ""), root]))
    if (_ROOT / "cgroup.controllers").exists():
        mine = _ROOT / own.get("", "")
        places.append(("", list(dict.fromkeys([mine, mine.parent, _ROOT] if mine != _ROOT else [_ROOT]))))
    return places
