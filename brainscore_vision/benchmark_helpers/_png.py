"""PNG files, written and read fast: rows as differences, only runs compressed."""

import struct
import zlib
from typing import IO, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["write_png"]

_COLOUR_TYPES = {"L": 0, "RGB": 2, "LA": 4, "RGBA": 6}
_AS_IT_IS = 0
_UP = 2  # each byte is stored as its difference from the one above


def write_png(image: "Image", stream: IO[bytes], *, even: bool = True) -> None:
    """Write an image losslessly.

    Compression looks for runs only, which large even areas have: about as small as Pillow's fastest, in a third of the
    time. What has no such areas is not compressed: photographs would become smaller by a quarter or so, and every
    model that reads them would take several times as long. Modes other than grey and colour of 8 bits are left to
    Pillow.

    Parameters
    ----------
    image : PIL.Image.Image
        What to write.
    stream : binary stream
        Where to.
    even : bool
        Whether much of the image is even.

    Examples
    --------
    >>> import io
    >>> from PIL import Image
    >>> stream = io.BytesIO()
    >>> write_png(Image.new("RGB", (3, 2), (1, 2, 3)), stream)
    >>> Image.open(stream).getpixel((2, 1))
    (1, 2, 3)
    """
    if image.mode not in _COLOUR_TYPES or not image.width or not image.height:
        image.save(stream, format="PNG", compress_level=1)
        return
    levels = np.asarray(image).reshape(image.height, -1)
    rows = np.empty((levels.shape[0], levels.shape[1] + 1), dtype=np.uint8)
    if even:
        rows[:, 0] = _UP
        rows[0, 1:] = levels[0]
        np.subtract(levels[1:], levels[:-1], out=rows[1:, 1:])
    else:
        rows[:, 0] = _AS_IT_IS
        rows[:, 1:] = levels
    packer = zlib.compressobj(1 if even else 0, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, _COLOUR_TYPES[image.mode], 0, 0, 0)
    stream.write(b"\x89PNG\r\n\x1a\n")
    for kind, content in ((b"IHDR", header), (b"IDAT", packer.compress(rows.data) + packer.flush()), (b"IEND", b"")):
        stream.write(struct.pack(">I", len(content)) + kind + content)
        stream.write(struct.pack(">I", zlib.crc32(content, zlib.crc32(kind))))
