"""Trees of processes: their memory, whether they use a GPU, and how they are ended."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path

_PRIVATE = (b"RssAnon:", b"VmSwap:")
_SHARED = b"RssShmem:"
_GPU_FILES = ("/dev/nvidia", "/dev/kfd")  # open in processes that use a GPU; importing torch does not open them
_PROPORTIONAL = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")


def memory_of(pids: list[int]) -> int:
    """Bytes that processes hold together and that the system cannot reclaim.

    Pages of mapped files, such as stored activations, do not count, as they can be reclaimed at any time. Shared memory
    counts once, but pages that a forked process shares with its parent count twice; see :func:`proportional_memory_of`.
    Processes that have ended count as 0.
    """
    private = shared = 0
    for pid in pids:
        unshared, common = _private_and_shared(pid)
        private += unshared
        shared = max(shared, common)
    return private + shared


def proportional_memory_of(pids: list[int]) -> int:
    """Same as :func:`memory_of`, but pages shared by forked processes count once.

    The time that it takes grows with their memory. If the system does not report shares, the sum over processes.
    """
    return sum(_proportional(pid) for pid in pids)


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        lines = []
    sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith(_PROPORTIONAL)]
    return sum(sizes) if len(sizes) == len(_PROPORTIONAL) else sum(_private_and_shared(pid))


def _private_and_shared(pid: int) -> tuple[int, int]:
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:  # read many times a second: no text, no Path
            status = file.read()
    except OSError:
        return (0, 0) if Path("/proc/self/status").exists() else (_resident(pid), 0)
    return sum(_field(status, name) for name in _PRIVATE), _field(status, _SHARED)


def _field(status: bytes, name: bytes) -> int:
    """Bytes in a field of a process's status; 0 without this field."""
    _, _, value = status.partition(name)
    return int(value[: value.index(b"kB")]) * 1024 if value else 0


def _resident(pid: int) -> int:
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def descendants(pid: int) -> list[int]:
    """All descendants of a process."""
    if not _may_have_children(pid):
        return []
    import psutil

    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


def _may_have_children(pid: int) -> bool:
    """False if Linux reports that a process has no children, which psutil finds by reading all processes."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        return any(Path(f"/proc/{pid}/task/{task}/children").read_bytes() for task in tasks)
    except OSError:  # not Linux, or a thread has ended meanwhile
        return True


def end_all(pids: Iterable[int]) -> None:
    """End processes, all their descendants, and the process groups that they lead, without waiting."""
    roots = list(pids)
    processes = {*roots, *(child for pid in roots for child in descendants(pid))}
    for pid in processes:
        with contextlib.suppress(OSError, AttributeError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def uses_gpu(pid: int) -> bool:
    """Whether a process has files of a GPU open, on Linux."""
    try:
        links = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:  # another system, or the process has ended
        return False
    return any(_target(link).startswith(_GPU_FILES) for link in links)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:  # closed meanwhile, as is the listing of the folder itself
        return ""
