"""Images as arrays, read with Pillow."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["load_contrast", "load_grey", "load_rgb"]


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


def _load(path: str | os.PathLike[str], mode: str, size: int | None) -> "Image":
    import PIL.Image

    try:
        with PIL.Image.open(path) as opened:
            image = opened.convert(mode)
    except OSError as error:
        raise UserError(
            f"the stimulus {Path(path)} cannot be read as an image: {error}",
            remedy="check that the file is complete; this model accepts only images",
        ) from error
    return image if size is None or image.size == (size, size) else image.resize((size, size))
