"""Files without names in which arrays are handed over, and what may be mapped of somebody else's."""

from __future__ import annotations

import mmap
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from brainscore_core.errors import UserError

__all__ = ["Buffer", "FileTooLarge", "WireError", "anonymous_file", "mapped", "seal"]

_ZEROS = bytes(1 << 20)
_SEALS = ("F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_WRITE")

Buffer = bytes | bytearray | memoryview | mmap.mmap


class WireError(Exception):
    """What arrived is no message."""


class FileTooLarge(UserError):
    """An array has no place."""


def anonymous_file(size: int, *, memory: int) -> int:
    """Make a file without a name.

    Parameters
    ----------
    size : int
        Bytes that it will hold.
    memory : int
        Bytes up to which it is made in memory; larger ones lie in the folder for temporary files.

    Returns
    -------
    int
        Its descriptor.

    Raises
    ------
    FileTooLarge
        There is no room.
    """
    if hasattr(os, "memfd_create") and size <= memory:
        return os.memfd_create("brainscore-array", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    folder = tempfile.gettempdir()
    status = os.statvfs(folder)
    if status.f_bavail * status.f_frsize < size:
        raise FileTooLarge(
            f"an array of {size} bytes has no room in the folder {folder}", remedy="set TMPDIR to one with more room"
        )
    with tempfile.TemporaryFile() as stream:
        return os.dup(stream.fileno())


def seal(descriptor: int) -> None:
    """Let nobody change a file in memory any more; what lies on a disk cannot be sealed."""
    import fcntl

    if hasattr(fcntl, "F_ADD_SEALS") and _seals(descriptor) is not None:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, sum(getattr(fcntl, name) for name in _SEALS))


def _seals(descriptor: int) -> int | None:
    """Seals of a file; None for one that cannot have any."""
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except (AttributeError, OSError):
        return None


def _is_sealed(descriptor: int) -> bool:
    import fcntl

    seals = _seals(descriptor)
    return seals is not None and all(seals & getattr(fcntl, name) for name in _SEALS)


def mapped(descriptor: int, size: int, *, trusted: Sequence[Path] = ()) -> Buffer:
    """Map a file, and close its descriptor; what is written to the map stays in this process.

    Parameters
    ----------
    descriptor : int
        The file: one that is sealed, else it is copied first.
    size : int
        Bytes that it must have.
    trusted : sequence of Path
        Folders whose files are mapped although they are not sealed; resolved.

    Raises
    ------
    WireError
        It is no such file.
    """
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            raise WireError(f"what is handed over is no file of {size} bytes")
        if size == 0:
            return b""
        if _is_sealed(descriptor):
            if status.st_blocks * 512 < size:  # reading its holes would take memory that nobody has given
                raise WireError("a file in memory that has holes")
            return mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
        if trusted and _lies_in(descriptor, trusted):
            return mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
        _check_room(size)
        with tempfile.TemporaryFile() as own:
            _copy(descriptor, own.fileno(), size)
            return mmap.mmap(own.fileno(), size, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise WireError(f"a file that was handed over cannot be mapped: {error}") from error
    finally:
        os.close(descriptor)


def _check_room(size: int) -> None:
    """Refuse a copy that would fill the disk for everybody else."""
    folder = tempfile.gettempdir()
    status = os.statvfs(folder)
    if size > status.f_bavail * status.f_frsize // 2:
        raise WireError(f"a file of {size} bytes, more than half of the room in the folder {folder} (set TMPDIR)")


def _copy(source: int, target: int, size: int) -> None:
    """Copy a file; where it has holes, or zeros, the copy has holes."""
    os.ftruncate(target, size)
    done = 0
    while done < size:
        block = os.pread(source, min(size - done, len(_ZEROS)), done)
        if not block:
            raise WireError("a file became shorter while it was read")
        done += len(block) if _ZEROS.startswith(block) else os.pwrite(target, block, done)


def _lies_in(descriptor: int, folders: Sequence[Path]) -> bool:
    """Whether a file lies in one of the folders, by what the system says; not where it says nothing."""
    try:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
    except OSError:
        return False
    return any(path.is_relative_to(folder) for folder in folders)
