"""Small pictures of similar stimuli, stored with the audit of benchmarks whose stimuli are public."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError
from brainscore_vision.assessment.duplicates import Pair

PAIRS = 12
"""Number of pairs with pictures, near-duplicates first."""
SIDE = 64
"""Length of the longer side of a picture, in pixels."""
_QUALITY = 75


def has_public_stimuli(benchmark: str) -> bool:
    """Whether the metadata of a registered benchmark say that its data are public.

    Examples
    --------
    >>> has_public_stimuli("Geirhos2021sketch-error_consistency")
    True
    """
    from brainscore_vision.catalogue.contents import catalogue

    (entry,) = catalogue(models=[], benchmarks=[benchmark]).benchmarks
    data = None if entry.metadata is None else entry.metadata.data
    return data is not None and data.access == "public"


def add_thumbnails(result: dict[str, Any], pairs: Sequence[Pair]) -> None:
    """Add ``first_picture`` and ``second_picture`` to the first pairs of an audit, if both can be read.

    `result` has the fields of the audit as JSON types and is changed; `pairs` are the same pairs, with the paths of
    their files.
    """
    both = sorted(zip(result["pairs"], pairs, strict=True), key=lambda each: each[1].equal)
    for entry, pair in both[:PAIRS]:
        try:
            pictures = [thumbnail(path) for path in (pair.first_path, pair.second_path)]
        except UserError:  # equal files need not be pictures
            continue
        entry["first_picture"], entry["second_picture"] = pictures


def thumbnail(path: str | Path) -> str:
    """Make a small JPEG of a picture, as a data URI of at most a few kilobytes.

    A UserError if the file is not a picture.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (640, 480)).save(path := Path(folder, "a.png"))
    ...     thumbnail(path)[:30]
    'data:image/jpeg;base64,/9j/4AA'
    """
    from brainscore_vision.model_helpers.images import load_image

    small = load_image(path)
    small.thumbnail((SIDE, SIDE))
    stream = BytesIO()
    small.save(stream, "JPEG", quality=_QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{b64encode(stream.getvalue()).decode()}"
