"""PNG files, written fast: an image as it is, the even area around it as next to nothing."""

import struct
import zlib
from typing import IO

import numpy as np
from numpy.typing import NDArray

__all__ = ["write_png"]

_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # of grey, grey and alpha, colour, colour and alpha
_BLOCK = 0xFFFF  # longest block that a zlib stream stores as it is
_BEGINNING = b"\x78\x01"  # of a zlib stream


def write_png(
    levels: NDArray[np.uint8],
    stream: IO[bytes],
    *,
    size: tuple[int, int] | None = None,
    corner: tuple[int, int] = (0, 0),
    around: int = 0,
) -> None:
    """Write an image, on a larger even area if need be, losslessly.

    The image is not compressed: photographs would become smaller by a quarter or so, and writing them and every
    reading by a model would take several times as long. What lies around takes some twenty bytes a row.

    Parameters
    ----------
    levels : array, height × width [× channels]
        What to write: grey, grey and alpha, colour, or colour and alpha.
    stream : binary stream
        Where to.
    size : (int, int), optional
        Height and width of the area; by default those of the image.
    corner : (int, int)
        Row and column of the area where the image begins.
    around : int
        Level of all channels around the image.

    Examples
    --------
    >>> import io
    >>> from PIL import Image
    >>> stream = io.BytesIO()
    >>> write_png(np.full((2, 3, 3), (1, 2, 3), dtype=np.uint8), stream, size=(4, 5), corner=(1, 1), around=128)
    >>> image = Image.open(stream)
    >>> image.size, image.getpixel((3, 2)), image.getpixel((4, 2))
    ((5, 4), (1, 2, 3), (128, 128, 128))
    """
    height, width = size or levels.shape[:2]
    channels = levels.shape[2] if levels.ndim == 3 else 1
    levels = levels.reshape(len(levels), -1)
    top, left = corner[0], 1 + channels * corner[1]  # each row begins with the number of its filter, which is 0: none
    rows = np.full((height, 1 + channels * width), around, dtype=np.uint8)
    rows[:, 0] = 0
    bottom, right = top + levels.shape[0], left + levels.shape[1]
    rows[top:bottom, left:right] = levels
    parts = [b"\x89PNG\r\n\x1a\n"]
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"IDAT", _packed(rows, top, bottom, left, right)), (b"IEND", b"")):
        parts += [struct.pack(">I", len(data)) + kind, data, struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))]
    stream.write(b"".join(parts))


def _packed(rows: NDArray[np.uint8], top: int, bottom: int, left: int, right: int) -> bytes:
    """Pack the rows as a zlib stream in which what is inside the four limits is stored as it is.

    What lies between the image's part of one row and of the next is the same for all rows, and packed once.
    """
    between = np.frombuffer(_even(np.concatenate([rows[top, right:], rows[top, :left]])), dtype=np.uint8)
    columns = [np.broadcast_to(between, (bottom - top, len(between)))]
    for first in range(left, right, _BLOCK):
        inside = rows[top:bottom, first : min(first + _BLOCK, right)]
        header = np.frombuffer(struct.pack("<BHH", 0, inside.shape[1], inside.shape[1] ^ _BLOCK), dtype=np.uint8)
        columns += [np.broadcast_to(header, (bottom - top, len(header))), inside]
    image = np.concatenate(columns, axis=1).ravel()[len(between) :]
    before = np.concatenate([rows[:top].ravel(), rows[top, :left]])
    after = np.concatenate([rows[bottom - 1, right:], rows[bottom:].ravel()])
    parts = [
        _BEGINNING,
        _even(before),
        image.tobytes(),
        _even(after, last=True),
        struct.pack(">I", zlib.adler32(rows.data)),
    ]
    return b"".join(parts)


def _even(content: NDArray[np.uint8], *, last: bool = False) -> bytes:
    """Compress runs, to a whole number of bytes that mean the same after whatever comes before."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    return packer.compress(content.data) + packer.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)
