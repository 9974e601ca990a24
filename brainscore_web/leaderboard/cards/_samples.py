"""Which images are handed out to be shown."""

from __future__ import annotations

from typing import IO

__all__ = ["image_type"]

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_type(file: IO[bytes]) -> str | None:
    """What an image is by its first bytes, whatever its name; None if a browser should not show it.

    The file is left at its beginning.

    Examples
    --------
    >>> import io
    >>> image_type(io.BytesIO(bytes.fromhex("89504e470d0a1a0a"))), image_type(io.BytesIO(b"<svg onload=...>"))
    ('image/png', None)
    """
    head = file.read(16)
    file.seek(0)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if head.startswith(start)), None)
