"""Control groups: limits that cannot be exceeded. This module uses only the standard library."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


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
        root = _ROOT / controller
        if (root / "cgroup.procs").exists():
            folders.append((controller, [root / groups.get(controller, ""), root]))
    if (_ROOT / "cgroup.controllers").exists():
        mine = _ROOT / groups.get("", "")
        folders.append(("", list(dict.fromkeys([mine, mine.parent, _ROOT] if mine != _ROOT else [_ROOT]))))
    return folders
