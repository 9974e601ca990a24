"""Sum up what a sandbox uses, and end it if a limit is exceeded. Uses only the standard library, for `_launch`."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any, NamedTuple

SLACK = 24
"""Tasks that the system allows beyond the limit, so that exceeding the limit can be observed."""

_TICK, _CLOSE_TICK = 0.03, 0.3  # seconds; exact accounting is slow
_PAGE = 1024


class Used(NamedTuple):
    """Resources used by a sandbox: tasks, bytes of memory, entries of its folders; `closely`: by exact accounting."""

    tasks: int
    memory: int
    entries: int
    closely: bool


def watch(child: int, plan: dict[str, Any], groups: Any) -> tuple[int, dict[str, Any]]:
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


def tasks_of(user: int) -> int:
    """Number of tasks of a user."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += _fields(f"/proc/{entry.name}/status").get("Threads:", 0)
    return count


def _used(root: int, limit: int) -> Used:
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
    return Used(tasks, memory, entries, closely)


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
