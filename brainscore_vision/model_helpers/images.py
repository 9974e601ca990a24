"""Images as arrays, read with Pillow; decoded images can be kept, for further models that see them."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["forget_images", "keep_images", "load_contrast", "load_grey", "load_rgb", "open_image", "read_images"]

_File = tuple[str, int, int]
"""Path, time of modification and size: of an image that has not changed."""

_kept: dict[_File, "Image"] = {}
_read: set[str] | None = None  # paths of images that were decoded since the last call of read_images


def load_rgb(path: str | os.PathLike[str], *, size: int | None = None) -> NDArray[np.uint8]:
    """Red, green and blue levels of an image; transparency is dropped.

    Parameters
    ----------
    path : path
        Image file.
    size : int, optional
        Height and width to which the image is resized (bicubic, the aspect ratio is not kept).

    Returns
    -------
    ndarray of uint8, height × width × 3
        Levels, 0 to 255.

    Raises
    ------
    UserError
        If the file cannot be read as an image.
    """
    return np.asarray(_load(path, "RGB", size))


def load_grey(path: str | os.PathLike[str], *, size: int | None = None) -> NDArray[np.uint8]:
    """Grey levels of an image, weighted as in ITU-R 601 (Pillow's ``L``); transparency is dropped.

    Parameters
    ----------
    path : path
        Image file.
    size : int, optional
        Height and width to which the image is resized (bicubic, the aspect ratio is not kept).

    Returns
    -------
    ndarray of uint8, height × width
        Levels, 0 to 255.

    Raises
    ------
    UserError
        If the file cannot be read as an image.
    """
    return np.asarray(_load(path, "L", size))


def load_contrast(path: str | os.PathLike[str], *, size: int | None = None) -> NDArray[np.float32]:
    """Contrast of an image: (grey level − 128) / 128, so that a grey screen is 0.

    Parameters
    ----------
    path : path
        Image file.
    size : int, optional
        Height and width to which the image is resized (bicubic, the aspect ratio is not kept).

    Returns
    -------
    ndarray of float32, height × width
        In [−1, 1). Grey levels as in :func:`load_grey` count as proportional to luminance.

    Raises
    ------
    UserError
        If the file cannot be read as an image.
    """
    return (load_grey(path, size=size).astype(np.float32) - np.float32(128)) / np.float32(128)


@contextmanager
def open_image(path: str | os.PathLike[str]) -> "Iterator[Image]":
    """Open an image file, or a kept image, which must not be changed.

    Raises
    ------
    OSError
        If the file cannot be read as an image.
    """
    import PIL.Image

    is_path = isinstance(path, str | bytes | os.PathLike)  # Pillow opens streams, too
    kept = _kept.get(_file(path)) if _kept and is_path else None
    if kept is not None:
        yield kept
        return
    if _read is not None and is_path:
        _read.add(os.fsdecode(path))
    with PIL.Image.open(path) as opened:
        yield opened


def read_images() -> list[str]:
    """Paths of the images that were decoded since the last call; the first call returns none."""
    global _read
    paths, _read = _read, set()
    return sorted(paths or ())


def keep_images(paths: Iterable[str], limit: float) -> bool:
    """Decode images for this process and those that are forked from it.

    Parameters
    ----------
    paths : iterable of str
        Image files. An error is left to the model that reads a file.
    limit : float
        Bytes that all kept images may take.

    Returns
    -------
    bool
        Whether there was space for all of them.
    """
    total = sum(_bytes_of(image) for image in _kept.values())
    for path in paths:
        with suppress(Exception), open_image(path) as opened:
            total += _bytes_of(opened)
            if total > limit:
                return False
            image = opened.copy()
            image.load()  # so that threads only read it
            _kept[_file(path)] = image
    return True


def forget_images() -> None:
    """Release all kept images."""
    _kept.clear()


def _bytes_of(image: "Image") -> int:
    return image.width * image.height * (1 if len(image.getbands()) == 1 else 4)  # as Pillow stores channels


def _file(path: str | os.PathLike[str]) -> _File:
    state = os.stat(path)
    return os.fsdecode(path), state.st_mtime_ns, state.st_size


def _load(path: str | os.PathLike[str], mode: str, size: int | None) -> "Image":
    try:
        with open_image(path) as opened:
            image = opened.convert(mode)
    except OSError as error:
        raise UserError(
            f"the stimulus {Path(path)} cannot be read as an image: {error}",
            remedy="check that the file is complete; this model accepts only images",
        ) from error
    return image if size is None or image.size == (size, size) else image.resize((size, size))
