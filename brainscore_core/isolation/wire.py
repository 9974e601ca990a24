"""Messages between the scoring process and an isolated model: a line of JSON, then arrays."""

from __future__ import annotations

import array
import json
import math
import mmap
import os
import re
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from brainscore_core.isolation.shared_files import Buffer, WireError, mapped

__all__ = [
    "DTYPES",
    "PROTOCOL",
    "REPEATED",
    "Channel",
    "Closed",
    "Limits",
    "expect",
    "only",
    "parse",
    "read_npy",
    "read_part",
    "region_of",
    "repeated",
    "text_array",
    "too_much_text",
]

T = TypeVar("T")


def expect(value: Any, kind: type[T]) -> T:
    """The value, if it is of just this type; else `WireError`."""
    if type(value) is not kind:
        raise WireError(f"a {type(value).__name__} where a {kind.__name__} should be")
    return value


def only(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """The dictionary, if it has no other keys; else `WireError`."""
    if unknown := set(value) - set(names):
        raise WireError(f"an unknown part of a value: {sorted(unknown)[0][:40]!r}")
    return _Parts(value)


class _Parts(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise WireError(f"a value without its part {key!r}")


DTYPES = frozenset(map(np.dtype, ("?", *"bhilqBHILQ", *"efd", *"FD")))
"""Truth values, and numbers of fixed width."""

REPEATED = 10_000
"""How many times an array may be repeated that is stored once."""

_MOST_TEXT = 1 << 30  # bytes of an array of text, in which each takes the room of the longest
_LONGEST_HEADER = 4096
_HEADER = re.compile(  # as NumPy writes it; its own reader evaluates Python's literals, and has many ways to fail
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<>|=][a-z][0-9]{1,3})', "
    rb"'fortran_order': (?P<fortran>True|False), 'shape': \((?P<shape>(?:[0-9]{1,15}(?:, ?|(?=\))))*)\), \} *\n",
    re.DOTALL,
)


def read_npy(content: Buffer) -> np.ndarray:
    """Read an array of numbers that lies in memory, without a copy.

    Raises
    ------
    WireError
        It is none, of a type that is not sent, or of another length than its shape asks for.
    """
    head = bytes(memoryview(content)[:_LONGEST_HEADER])
    found = _HEADER.match(head)
    if found is None:
        raise WireError("no array")
    start = found.end()
    try:
        dtype = np.dtype(found["dtype"].decode())
    except TypeError as error:
        raise WireError("an array of no type") from error
    shape = tuple(int(size) for size in found["shape"].split(b",") if size.strip())
    if start != 10 + int.from_bytes(head[8:10], "little"):
        raise WireError("an array whose header is longer or shorter than it says")
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
        raise WireError("truth values that are none")
    return flat.reshape(shape, order="F" if found["fortran"] == b"True" else "C")


def read_part(content: Buffer, start: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Read an array of numbers that begins somewhere in a file, without a copy.

    Raises
    ------
    WireError
        It does not lie there, or is of a type that is not sent.
    """
    if dtype not in DTYPES or dtype.kind == "b":
        raise WireError(f"an array of {dtype} in a file")
    count = math.prod(shape)
    if count == 0 or start < 0 or start + count * dtype.itemsize > len(content):
        raise WireError("an array that does not lie in its file")
    return np.frombuffer(content, dtype, count, start).reshape(shape)


def region_of(array: np.ndarray) -> tuple[Path, int] | None:
    """Where the values of an array lie in a file that it maps and nobody writes to through this map.

    Parameters
    ----------
    array : ndarray
        Contiguous.

    Returns
    -------
    tuple of (Path, int) or None
        The file, by its present name, and the first byte; None for memory of any other kind, and off Linux.
    """
    if array.flags.writeable:
        return None
    address = array.__array_interface__["data"][0]
    try:
        maps = Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    for line in maps:
        span, access, offset, _, _, *path = line.split(maxsplit=5)
        begin, end = (int(one, 16) for one in span.split("-"))
        if begin <= address < end:
            whole = access == "r--s" and address + array.nbytes <= end
            return (Path(path[0]), int(offset, 16) + address - begin) if whole and path else None
    return None


def repeated(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array repeated along axes of length 1, without a copy.

    Raises
    ------
    WireError
        The shape is another one, or the repetitions are too many.
    """
    if array.ndim != len(shape) or any(have not in (1, want) for have, want in zip(array.shape, shape, strict=True)):
        raise WireError(f"an array of shape {array.shape} cannot be repeated to {shape}")
    if math.prod(shape) > REPEATED * array.size:
        raise WireError(f"an array that is repeated more than {REPEATED} times")
    return np.broadcast_to(array, shape)


def too_much_text(items: Sequence[str]) -> bool:
    """Whether an array of these texts, each as wide as the longest, takes more memory than one may."""
    return 4 * len(items) * max(map(len, items), default=0) > _MOST_TEXT


def text_array(items: Sequence[object]) -> np.ndarray:
    """Make an array of text.

    Raises
    ------
    WireError
        Something in it is no text, or it would take very much more memory than what was sent.
    """
    texts = [one for one in items if type(one) is str]
    if len(texts) != len(items):
        raise WireError("text that is none")
    if too_much_text(texts):
        raise WireError(f"{len(texts)} texts that take more than {_MOST_TEXT} bytes as an array")
    return np.fromiter(texts, dtype=object, count=len(texts)).astype(str)


PROTOCOL = 1

_TICK = 0.25  # seconds between two looks at whether the other side lives
_CHUNK = 1 << 18
_MARK = b"F"


class Closed(Exception):
    """The other side has gone."""


@dataclass(frozen=True)
class Limits:
    """What a message may hold at most, in bytes and in number.

    Attributes
    ----------
    line : int
        Bytes of the line of JSON.
    inline, files : int
        Bytes of all payloads of either kind together.
    payloads, descriptors : int
        How many payloads, and how many of them files.
    """

    line: int = 8 << 20
    inline: int = 64 << 20
    files: int = 1 << 42
    payloads: int = 20_000
    descriptors: int = 250


class Channel:
    """One end.

    Parameters
    ----------
    connection : socket.socket
        Of a Unix socket pair.
    limits : Limits
        Of what is received.
    trusted : sequence of Path
        Folders whose files are mapped although they are not sealed.
    check : callable, optional
        Called several times a second while nothing arrives; raises what ends the wait.
    """

    def __init__(
        self,
        connection: socket.socket,
        *,
        limits: Limits | None = None,
        trusted: Sequence[Path] = (),
        check: Callable[[], None] | None = None,
    ) -> None:
        self._socket = connection
        self._limits = limits or Limits()
        self._trusted = [folder.resolve() for folder in trusted]
        self._check = check
        self._buffer = bytearray()
        self._files: deque[int] = deque()
        connection.setblocking(False)

    def fileno(self) -> int:
        """Number of the descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close this end, and what arrived but was not taken."""
        self._drop_files()
        self._socket.close()

    # -- sending -------------------------------------------------------------------------------------------------

    def send(self, body: Any, payloads: Sequence[bytes | int] = (), *, deadline: float | None = None) -> None:
        """Send a message.

        Parameters
        ----------
        body : object
            Plain JSON types.
        payloads : sequence of bytes or int
            Bytes, or descriptors of files, which stay open.
        deadline : float, optional
            By ``time.monotonic()``.

        Raises
        ------
        Closed
            The other side has gone.
        TimeoutError
            It takes nothing.
        """
        described = [
            ["inline", len(one)] if isinstance(one, bytes) else ["file", os.fstat(one).st_size] for one in payloads
        ]
        line = json.dumps({"body": body, "payloads": described}, separators=(",", ":"), allow_nan=False)
        self._send(line.encode("ascii") + b"\n", deadline)
        for payload in payloads:
            if isinstance(payload, bytes):
                self._send(payload, deadline)
            else:
                self._send_file(payload, deadline)

    def _send(self, data: bytes, deadline: float | None) -> None:
        left = memoryview(data)
        while left:
            self._wait(select.POLLOUT, deadline)
            try:
                left = left[self._socket.send(left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error

    def _send_file(self, descriptor: int, deadline: float | None) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        while True:
            self._wait(select.POLLOUT, deadline)
            try:
                if self._socket.sendmsg([_MARK], ancillary):
                    return
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error

    # -- receiving -----------------------------------------------------------------------------------------------

    def receive(self, *, deadline: float | None = None) -> tuple[Any, list[Buffer]]:
        """Receive a message.

        Parameters
        ----------
        deadline : float, optional
            By ``time.monotonic()``.

        Returns
        -------
        body : object
            Plain JSON types; not looked at.
        payloads : list
            Bytes, or maps of files.

        Raises
        ------
        Closed
            The other side has gone.
        TimeoutError
            Nothing arrived, or not all of it.
        WireError
            It is no message.
        """
        try:
            return self._receive(deadline)
        except WireError:
            self._drop_files()
            raise

    def _receive(self, deadline: float | None) -> tuple[Any, list[Buffer]]:
        message = parse(self._line(deadline))
        if not isinstance(message, dict) or set(message) != {"body", "payloads"}:
            raise WireError("a message without body or payloads")
        sizes = self._checked_sizes(message["payloads"])
        payloads: list[Buffer] = []
        for kind, size in sizes:
            if kind == "inline":
                payloads.append(self._take(size, deadline))
                continue
            if self._take(1, deadline) != _MARK or not self._files:
                raise WireError("a file is announced but not handed over")
            payloads.append(mapped(self._files.popleft(), size, trusted=self._trusted))
        if self._files:
            raise WireError("more files are handed over than announced")
        return message["body"], payloads

    def _checked_sizes(self, announced: Any) -> list[tuple[str, int]]:
        if not isinstance(announced, list) or len(announced) > self._limits.payloads:
            raise WireError(f"payloads must be a list of at most {self._limits.payloads}")
        total, files = {"inline": 0, "file": 0}, 0
        for one in announced:
            if not isinstance(one, list) or len(one) != 2 or one[0] not in ("inline", "file"):
                raise WireError("a payload is neither inline nor a file")
            if type(one[1]) is not int or one[1] < 0:
                raise WireError("the size of a payload is no number of bytes")
            total[one[0]] += one[1]
            files += one[0] == "file"
        if files > self._limits.descriptors:
            raise WireError(f"{files} files, where {self._limits.descriptors} are allowed")
        for kind, limit in (("inline", self._limits.inline), ("file", self._limits.files)):
            if total[kind] > limit:
                raise WireError(f"payloads of {total[kind]} bytes ({kind}), where {limit} are allowed")
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
        taken = self._buffer[:size]
        del self._buffer[:size]
        return taken

    def _fill(self, deadline: float | None) -> None:
        room = self._limits.descriptors * array.array("i").itemsize
        while True:
            self._wait(select.POLLIN, deadline)
            try:
                data, ancillary, flags, _ = self._socket.recvmsg(
                    _CHUNK, socket.CMSG_SPACE(room), getattr(socket, "MSG_CMSG_CLOEXEC", 0)
                )
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error
            break
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                files = array.array("i")
                files.frombytes(content[: len(content) - len(content) % files.itemsize])
                for one in files:  # where the flag is not known
                    os.set_inheritable(one, False)
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
            left = _TICK if deadline is None else min(deadline - time.monotonic(), _TICK)
            if poll.poll(max(left, 0) * 1000):
                return
            if left <= 0:
                raise TimeoutError
            if self._check is not None:
                self._check()

    def _drop_files(self) -> None:
        while self._files:
            os.close(self._files.popleft())


def parse(text: bytes | bytearray | memoryview | mmap.mmap) -> Any:
    """Read JSON.

    Raises
    ------
    WireError
        It is none.
    """
    try:
        return json.loads(bytes(text).decode("utf-8", "strict"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {type(error).__name__}") from error
