"""Arrays of numbers as ``.npy``, read without a copy and without belief."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from brainscore_core.scoring.subjects._files import Buffer, WireError

__all__ = ["DTYPES", "REPEATED", "read_npy", "read_part", "region_of", "repeated", "text_array", "too_much_text"]

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
