"""Messages between the scoring process and an isolated model: a line of JSON, then arrays."""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import select
import socket
import stat
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from brainscore_core.errors import UserError

try:
    from fcntl import F_ADD_SEALS, F_GET_SEALS, F_SEAL_GROW, F_SEAL_SHRINK, F_SEAL_WRITE, fcntl

    _SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE
except ImportError:  # only Linux has them
    _SEALS = 0

T = TypeVar("T")


def expect(value: Any, kind: type[T]) -> T:
    """Return the value if it is of exactly this type; else raise `WireError`."""
    if type(value) is not kind:
        raise WireError(f"a {type(value).__name__} instead of a {kind.__name__}")
    return value


def parts(value: Any, /, **kinds: type) -> tuple[Any, ...]:
    """Values of a dictionary that has exactly these keys, each of its type (`object`: any); else raise `WireError`."""
    value = expect(value, dict)
    if unknown := sorted(set(value) - set(kinds), key=str):
        raise WireError(f"an unknown part of a value: {str(unknown[0])[:40]!r}")
    if missing := [name for name in kinds if name not in value]:
        raise WireError(f"a value without its part {missing[0]!r}")
    return tuple(value[name] if kind is object else expect(value[name], kind) for name, kind in kinds.items())


DTYPES = frozenset(map(np.dtype, ("?", *"bhilqBHILQ", *"efd", *"FD")))
"""Booleans, and numbers of fixed width."""

REPEATED = 10_000
"""Largest number of times that a transferred array may be repeated."""

_MAX_TEXT = 1 << 30  # bytes of an array of text, in which each item takes as much space as the longest
_MAX_HEADER = 4096
_HEADER = re.compile(  # as NumPy writes it; NumPy's reader evaluates Python literals, which can fail in many ways
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<>|=][a-z][0-9]{1,3})', "
    rb"'fortran_order': (?P<fortran>True|False), 'shape': \((?P<shape>(?:[0-9]{1,15}(?:, ?|(?=\))))*)\), \} *\n",
    re.DOTALL,
)


def read_npy(content: Buffer) -> np.ndarray:
    """Read an array of numbers in memory, without a copy.

    Raises WireError if it is not an array, of a type that is not sent, or of a length that does not match its shape.
    """
    head = bytes(memoryview(content)[:_MAX_HEADER])
    header = _HEADER.match(head)
    if header is None:
        raise WireError("not an array")
    start = header.end()
    try:
        dtype = np.dtype(header["dtype"].decode())
    except TypeError as error:
        raise WireError("an array of invalid type") from error
    shape = tuple(int(size) for size in header["shape"].split(b",") if size.strip())
    if start != 10 + int.from_bytes(head[8:10], "little"):
        raise WireError("an array with a header of wrong length")
    if dtype not in DTYPES or not dtype.isnative:
        raise WireError(f"an array of {dtype}")
    if len(shape) > 32:
        raise WireError("an array of impossible shape")
    count = math.prod(shape)
    if len(content) - start != count * dtype.itemsize:
        raise WireError(f"an array of shape {shape} in {len(content) - start} bytes")
    if count == 0:
        if max(shape) >= 1 << 31:
            raise WireError("an array of impossible shape")
        return np.empty(shape, dtype)
    flat = np.frombuffer(content, dtype, count, start)
    if dtype.kind == "b" and flat.view(np.uint8).max() > 1:
        raise WireError("invalid booleans")
    return flat.reshape(shape, order="F" if header["fortran"] == b"True" else "C")


def repeated(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Repeat an array along axes of length 1, without a copy.

    Raises WireError if the shapes do not match, or there are too many repetitions.
    """
    if array.ndim != len(shape) or any(size not in (1, new) for size, new in zip(array.shape, shape, strict=True)):
        raise WireError(f"an array of shape {array.shape} cannot be repeated to {shape}")
    if math.prod(shape) > REPEATED * array.size:
        raise WireError(f"an array that is repeated more than {REPEATED} times")
    return np.broadcast_to(array, shape)


def too_much_text(items: Sequence[str]) -> bool:
    """Whether an array of these texts, each stored as wide as the longest, exceeds the allowed memory."""
    return 4 * len(items) * max(map(len, items), default=0) > _MAX_TEXT


def text_array(items: Sequence[object]) -> np.ndarray:
    """Make an array of text.

    Raises WireError if an item is not text, or the array would take much more memory than what was sent.
    """
    texts = [item for item in items if type(item) is str]
    if len(texts) != len(items):
        raise WireError("an array of strings has an item that is not a string")
    if too_much_text(texts):
        raise WireError(f"an array of {len(texts)} strings takes more than {_MAX_TEXT} bytes")
    return np.fromiter(texts, dtype=object, count=len(texts)).astype(str)


PROTOCOL = 2

_TICK = 0.25  # seconds between two checks that the other side is alive
_CHUNK = 1 << 18
_MARK = b"F"


class Closed(Exception):
    """The other side has closed the connection."""


@dataclass(frozen=True)
class Limits:
    """Largest sizes of a message."""

    line: int = 8 << 20  # bytes of the line of JSON
    # total bytes of the payloads of each kind
    inline: int = 64 << 20
    files: int = 1 << 42
    # number of payloads, and number of those that are files
    payloads: int = 20_000
    descriptors: int = 250


class Channel:
    """One end of a connection.

    The limits are those of received messages. While
    nothing arrives, `check` is called several times a second; an error that it raises ends the wait.
    """

    def __init__(
        self,
        connection: socket.socket,
        *,
        limits: Limits | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._socket = connection
        self._limits = limits or Limits()
        self._check = check
        self._buffer = bytearray()
        self._files: deque[int] = deque()
        connection.setblocking(False)

    def fileno(self) -> int:
        """Number of the descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close this end, and files that arrived but were not used."""
        self._drop_files()
        self._socket.close()

    # -- sending -------------------------------------------------------------------------------------------------

    def send(self, body: Any, payloads: Sequence[bytes | int] = (), *, deadline: float | None = None) -> None:
        """Send a message.

        The body has plain JSON types. Payloads are bytes, or descriptors of files, which stay open. The deadline is on
        the clock of ``time.monotonic()``. Raises Closed if the other side has closed the connection. Raises
        TimeoutError if the other side does not read before the deadline.
        """
        described = [
            ["inline", len(payload)] if isinstance(payload, bytes) else ["file", os.fstat(payload).st_size]
            for payload in payloads
        ]
        line = json.dumps({"body": body, "payloads": described}, separators=(",", ":"), allow_nan=False)
        self._send(line.encode("ascii") + b"\n", deadline)
        for payload in payloads:
            if isinstance(payload, bytes):
                self._send(payload, deadline)
            else:
                self._send_file(payload, deadline)

    def _send(self, data: bytes, deadline: float | None) -> None:
        remaining = memoryview(data)
        while remaining:
            self._wait(select.POLLOUT, deadline)
            try:
                remaining = remaining[self._socket.send(remaining[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error

    def _send_file(self, descriptor: int, deadline: float | None) -> None:
        while True:
            self._wait(select.POLLOUT, deadline)
            try:
                if socket.send_fds(self._socket, [_MARK], [descriptor]):
                    return
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error

    # -- receiving -----------------------------------------------------------------------------------------------

    def receive(self, *, deadline: float | None = None) -> tuple[Any, list[Buffer]]:
        """Receive a message.

        Returns the body, of plain JSON types that are not checked, and payloads: bytes, or maps of files. Raises Closed
        if the other side has closed the connection. Raises TimeoutError if the message did not arrive completely.
        Raises WireError if the message is invalid.
        """
        try:
            return self._receive(deadline)
        except WireError:
            self._drop_files()
            raise

    def _receive(self, deadline: float | None) -> tuple[Any, list[Buffer]]:
        message = parse(self._line(deadline))
        if not isinstance(message, dict) or set(message) != {"body", "payloads"}:
            raise WireError("a message must have exactly a body and payloads")
        sizes = self._checked_sizes(message["payloads"])
        payloads: list[Buffer] = []
        for kind, size in sizes:
            if kind == "inline":
                payloads.append(self._take(size, deadline))
                continue
            if self._take(1, deadline) != _MARK or not self._files:
                raise WireError("an announced file was not transferred")
            payloads.append(mapped(self._files.popleft(), size))
        if self._files:
            raise WireError("more files were transferred than announced")
        return message["body"], payloads

    def _checked_sizes(self, announced: Any) -> list[tuple[str, int]]:
        if not isinstance(announced, list) or len(announced) > self._limits.payloads:
            raise WireError(f"payloads must be a list of at most {self._limits.payloads}")
        total, files = {"inline": 0, "file": 0}, 0
        for entry in announced:
            if not isinstance(entry, list) or len(entry) != 2 or entry[0] not in ("inline", "file"):
                raise WireError("a payload is neither inline nor a file")
            kind, size = entry
            if type(size) is not int or size < 0:
                raise WireError("the size of a payload is not a number of bytes")
            total[kind] += size
            files += kind == "file"
        if files > self._limits.descriptors:
            raise WireError(f"{files} files, but only {self._limits.descriptors} are allowed")
        for kind, limit in (("inline", self._limits.inline), ("file", self._limits.files)):
            if total[kind] > limit:
                raise WireError(f"payloads of {total[kind]} bytes ({kind}), but only {limit} are allowed")
        return [(kind, size) for kind, size in announced]

    def _line(self, deadline: float | None) -> bytes:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > self._limits.line:
                raise WireError(f"a line of more than {self._limits.line} bytes")
            self._fill(deadline)
        if end > self._limits.line:
            raise WireError(f"a line of more than {self._limits.line} bytes")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _take(self, size: int, deadline: float | None) -> bytearray:
        while len(self._buffer) < size:
            self._fill(deadline)
        block = self._buffer[:size]
        del self._buffer[:size]
        return block

    def _fill(self, deadline: float | None) -> None:
        while True:
            self._wait(select.POLLIN, deadline)
            try:
                data, files, flags, _ = socket.recv_fds(
                    self._socket, _CHUNK, self._limits.descriptors, getattr(socket, "MSG_CMSG_CLOEXEC", 0)
                )
                break
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error
        for descriptor in files:  # on systems without the flag
            os.set_inheritable(descriptor, False)
        self._files.extend(files)
        if flags & getattr(socket, "MSG_CTRUNC", 0) or len(self._files) > self._limits.descriptors:
            raise WireError("too many files at once")
        if not data:
            raise Closed
        self._buffer += data

    def _wait(self, event: int, deadline: float | None) -> None:
        poll = select.poll()
        poll.register(self._socket, event)
        while True:
            seconds = _TICK if deadline is None else min(deadline - time.monotonic(), _TICK)
            if poll.poll(max(seconds, 0) * 1000):
                return
            if seconds <= 0:
                raise TimeoutError
            if self._check is not None:
                self._check()

    def _drop_files(self) -> None:
        while self._files:
            os.close(self._files.popleft())


def parse(text: bytes | bytearray | memoryview | mmap.mmap) -> Any:
    """Read JSON.

    Raises `WireError` if it is not JSON.
    """
    try:
        return json.loads(bytes(text).decode("utf-8", "strict"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {type(error).__name__}") from error


_ZEROS = bytes(1 << 20)

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
    if _SEALS:
        with suppress(OSError):
            fcntl(descriptor, F_ADD_SEALS, _SEALS)


def _is_sealed(descriptor: int) -> bool:
    with suppress(OSError):  # not a file in memory
        return _SEALS != 0 and fcntl(descriptor, F_GET_SEALS) & _SEALS == _SEALS
    return False


def mapped(descriptor: int, size: int) -> Buffer:
    """Map a file and close its descriptor; what is written to the map stays in this process.

    The file, of `size` bytes, is copied first unless it is sealed. Raises WireError if it is not such a file.
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
        folder = tempfile.gettempdir()
        free = os.statvfs(folder)
        if size > free.f_bavail * free.f_frsize // 2:
            needed = f"more than half of the space in the folder {folder} (set TMPDIR)"
            raise WireError(f"a file of {size} bytes needs {needed}")
        with tempfile.TemporaryFile() as copy:
            _copy(descriptor, copy.fileno(), size)
            return mmap.mmap(copy.fileno(), size, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise WireError(f"a transferred file cannot be mapped: {error}") from error
    finally:
        os.close(descriptor)


def _copy(source: int, target: int, size: int) -> None:
    """Copy a file; the copy has holes in place of zeros."""
    os.ftruncate(target, size)
    done = 0
    while done < size:
        block = os.pread(source, min(size - done, len(_ZEROS)), done)
        if not block:
            raise WireError("a file was truncated while it was read")
        done += len(block) if _ZEROS.startswith(block) else os.pwrite(target, block, done)
