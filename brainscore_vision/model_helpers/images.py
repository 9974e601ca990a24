"""Images as arrays; `brainscore_core.supported_data_standards.brainio.images` reads the files."""

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio import images
from brainscore_core.supported_data_standards.brainio.images import ImageError
from brainscore_vision.videos import is_video

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["load_contrast", "load_grey", "load_image", "load_rgb"]


def load_rgb(path: str | os.PathLike[str], *, size: int | None = None) -> NDArray[np.uint8]:
    """Red, green and blue levels of an image, by the rules of :func:`load_image`.

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
    return np.asarray(_resized(load_image(path), size))


def load_grey(path: str | os.PathLike[str], *, size: int | None = None) -> NDArray[np.uint8]:
    """Grey levels of an image, weighted as in ITU-R 601 (Pillow's ``L``), by the rules of :func:`load_image`.

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
    return np.asarray(_resized(load_image(path, "L"), size))


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


def load_image(image_filepath: str | os.PathLike[str], mode: str = "RGB") -> "Image":
    """Read an image: its first frame, upright, of 8 bits per channel, on grey where it is transparent.

    Parameters
    ----------
    image_filepath : path
        Image file.
    mode : {'RGB', 'L'}
        ``'RGB'``: grey levels are copied to all channels. ``'L'``: grey levels, weighted as in ITU-R 601.

    Raises
    ------
    UserError
        If the file cannot be read as an image, or its levels are integers of 32 bits or floating-point numbers.
    """
    try:
        return images.load_image(image_filepath, mode)
    except ImageError as error:
        if isinstance(image_filepath, str | os.PathLike) and is_video(image_filepath):
            error.remedy = "show videos to a network that takes clips (frame_rate of brainscore.wrap_model)"
        raise


def _resized(image: "Image", size: int | None) -> "Image":
    return image if size is None or image.size == (size, size) else image.resize((size, size))
