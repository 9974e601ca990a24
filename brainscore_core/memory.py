"""Memory: sizes as text, the limits of this machine and process, and what is in use."""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

from brainscore_core.errors import UserError

_SHARE = 0.8  # of the total; the rest is for the system and for what a plan cannot foresee
_UNBOUNDED = 1 << 60  # cgroups version 1 write "no limit" as a number near 2**63
_UNITS = {"": 1} | {
    prefix + ending: base**power
    for power, prefix in enumerate("kmgtp", start=1)
    for ending, base in (("", 1000), ("b", 1000), ("ib", 1024))
}
_UNITS["b"] = 1
_NAMES = ("kB", "MB", "GB", "TB")
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_size(size: str | float) -> int:
    """Parse a number of bytes.

    The size is ``"4GB"``, ``"1.5 TB"`` (powers of 1000), ``"4GiB"`` (powers of 1024), or a number of bytes; case does
    not matter. The result is rounded down. Raises UserError if `size` is not written in this way, or is below one byte.

    Examples
    --------
    >>> parse_size("4GB"), parse_size("1.5 KiB"), parse_size(4096)
    (4000000000, 1536, 4096)
    """
    value = math.nan
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        if match and (unit := _UNITS.get(match[2].lower())):
            value = float(match[1]) * unit
    elif not isinstance(size, bool):
        value = float(size)
    if not (math.isfinite(value) and value >= 1):
        raise UserError(f"{size!r} is not a size in bytes", remedy="write it like 4GB, 1.5TB, 800MiB or 4000000000")
    return int(value)


def format_size(count: float) -> str:
    """Format a number of bytes for people, in powers of 1000.

    Examples
    --------
    >>> format_size(4_000_000_000), format_size(1536), format_size(7)
    ('4.0 GB', '1.5 kB', '7 bytes')
    """
    if count < 1000:
        return f"{count:.0f} bytes"
    power = min(int(math.log10(count)) // 3, len(_NAMES))
    if count / 1000**power >= 999.95 and power < len(_NAMES):  # would be rounded to 1000.0
        power += 1
    return f"{count / 1000**power:,.1f} {_NAMES[power - 1]}"


def memory_limit(explicit: str | float | None = None) -> int:
    """Memory that a run may use.

    In bytes: `explicit`, as in :func:`parse_size`, else ``$BRAINSCORE_MAX_MEMORY``, else :func:`machine_limit`. Raises
    UserError if the size is not valid.
    """
    if explicit is not None:
        return parse_size(explicit)
    if named := os.environ.get("BRAINSCORE_MAX_MEMORY"):
        try:
            return parse_size(named)
        except UserError as error:
            raise UserError(f"BRAINSCORE_MAX_MEMORY: {error.message}", remedy=error.remedy) from error
    return machine_limit()


def machine_limit(root: str | os.PathLike[str] = "/") -> int:
    """80 % of the memory that this process may use.

    In bytes: 80 % of the smallest of the machine's memory, the limits of the process's cgroup (version 1 or 2) and of
    its parent groups, and the process's own limits of address space and data. The folder `root` contains ``proc`` and
    ``sys``.
    """
    limits = [limit for folder in _groups(Path(root)) if (limit := _group_limit(folder)) is not None]
    return int(_SHARE * min([_physical(Path(root)), *limits, *_process_limits()]))


def available_memory(root: str | os.PathLike[str] = "/") -> int:
    """Memory that this process can still allocate.

    In bytes: the smaller of what the system can provide without swapping and what is left of each cgroup's limit; a
    cgroup's inactive file cache counts as free.
    """
    base = Path(root)
    free = [_meminfo(base, "MemAvailable") or _physical(base)]
    for folder in _groups(base):
        limit, used = _group_limit(folder), _group_use(folder)
        if limit is not None and used is not None:
            free.append(max(limit - used, 0))
    return min(free)


def resident_memory() -> int:
    """Memory that this process uses now, in bytes; its peak if the system does not report the current value."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon:"):  # pages of mapped files can be freed at any time
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def _physical(root: Path) -> int:
    if total := _meminfo(root, "MemTotal"):
        return total
    if hasattr(os, "sysconf"):
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    return _windows_memory()


def _windows_memory() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((f"bytes{number}", ctypes.c_ulonglong) for number in range(7)),
        )

    status = Status()
    status.length = ctypes.sizeof(status)
    getattr(ctypes, "windll").kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # noqa: B009 - exists on Windows only
    return int(status.bytes0)


def _meminfo(root: Path, name: str) -> int | None:
    try:
        lines = (root / "proc" / "meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), None)


def _process_limits() -> list[int]:
    try:
        import resource
    except ImportError:  # Windows
        return []
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return [limit for limit in limits if 0 < limit < _UNBOUNDED and limit != resource.RLIM_INFINITY]


def _groups(root: Path) -> list[Path]:
    """Folders of this process's memory cgroup and of its parent groups, for both versions of cgroups."""
    try:
        lines = (root / "proc" / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return []
    folders: list[Path] = []
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "sys" / "fs" / "cgroup"
        if controllers:
            top /= "memory"
        # inside a container, the group's path may differ from the path written there
        inside = top.joinpath(*(folder for folder in name.split("/") if folder not in ("", "..")))
        folders += [inside, *(parent for parent in inside.parents if parent == top or top in parent.parents)]
    return list(dict.fromkeys(folders))


def _group_limit(folder: Path) -> int | None:
    limits = [_number(folder / name) for name in ("memory.max", "memory.limit_in_bytes")]
    return next((limit for limit in limits if limit is not None and 0 < limit < _UNBOUNDED), None)


def _group_use(folder: Path) -> int | None:
    used = _number(folder / "memory.current")
    if used is None:
        used = _number(folder / "memory.usage_in_bytes")
    if used is None:
        return None
    try:
        counters = dict(line.split(" ", 1) for line in (folder / "memory.stat").read_text().splitlines())
        files = int(counters.get("total_inactive_file", counters.get("inactive_file", 0)))
    except (OSError, ValueError):
        files = 0
    return max(used - files, 0)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # missing, or "max"
        return None


def system_oom_kills() -> int:
    """Number of processes that the system killed for lack of memory since it started; 0 if it does not report it."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
