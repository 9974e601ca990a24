"""Anonymous files in which arrays are transferred, and which received files may be mapped."""

from __future__ import annotations

import mmap
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from brainscore_core.errors import UserError

_ZEROS = bytes(1 << 20)
_SEALS = ("F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_WRITE")

Buffer = bytes | bytearray | memoryview | mmap.mmap


class WireError(Exception):
    """A received message is invalid."""


class FileTooLarge(UserError):
    """There is no space for an array."""


def anonymous_file(size: int, *, memory: int) -> int:
    """Create an anonymous file.

    Returns its descriptor. A file of more than `memory` bytes is in the folder for temporary files, a smaller one in
    memory. Raises FileTooLarge if there is no space.
    """
    if hasattr(os, "memfd_create") and size <= memory:
        return os.memfd_create("brainscore-array", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    folder = tempfile.gettempdir()
    status = os.statvfs(folder)
    if status.f_bavail * status.f_frsize < size:
        raise FileTooLarge(
            f"there is no space for an array of {size} bytes in the folder {folder}",
            remedy="set TMPDIR to a folder with more space",
        )
    with tempfile.TemporaryFile() as stream:
        return os.dup(stream.fileno())


def seal(descriptor: int) -> None:
    """Make a file in memory immutable; files on a disk cannot be sealed."""
    import fcntl

    if hasattr(fcntl, "F_ADD_SEALS") and _seals(descriptor) is not None:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, sum(getattr(fcntl, name) for name in _SEALS))


def _seals(descriptor: int) -> int | None:
    """Seals of a file; None if it cannot have any."""
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
    """Map a file and close its descriptor; what is written to the map stays in this process.

    The file, of `size` bytes, is copied first unless it is sealed, or in one of the folders `trusted`, which are
    resolved paths. Raises WireError if it is not such a file.
    """
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            raise WireError(f"the transferred descriptor is not a file of {size} bytes")
        if size == 0:
            return b""
        if _is_sealed(descriptor):
            if status.st_blocks * 512 < size:  # reading the holes would allocate memory
                raise WireError("a file in memory has holes")
            return mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
        if trusted and _lies_in(descriptor, trusted):
            return mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
        _check_space(size)
        with tempfile.TemporaryFile() as copy:
            _copy(descriptor, copy.fileno(), size)
            return mmap.mmap(copy.fileno(), size, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise WireError(f"a transferred file cannot be mapped: {error}") from error
    finally:
        os.close(descriptor)


def _check_space(size: int) -> None:
    """Refuse a copy that would take more than half of the free disk space."""
    folder = tempfile.gettempdir()
    status = os.statvfs(folder)
    if size > status.f_bavail * status.f_frsize // 2:
        raise WireError(f"a file of {size} bytes needs more than half of the space in the folder {folder} (set TMPDIR)")


def _copy(source: int, target: int, size: int) -> None:
    """Copy a file; the copy has holes in place of zeros."""
    os.ftruncate(target, size)
    done = 0
    while done < size:
        block = os.pread(source, min(size - done, len(_ZEROS)), done)
        if not block:
            raise WireError("a file was truncated while it was read")
        done += len(block) if _ZEROS.startswith(block) else os.pwrite(target, block, done)


def _lies_in(descriptor: int, folders: Sequence[Path]) -> bool:
    """Whether a file is in one of the folders, according to the system; False if it does not say."""
    try:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
    except OSError:
        return False
    return any(path.is_relative_to(folder) for folder in folders)
