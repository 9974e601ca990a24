"""An image file, resized when it is read."""

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.activations.preprocessing import load_image
from brainscore_vision.model_helpers.activations.temporal.inputs.base import Stimulus
from brainscore_vision.model_helpers.activations.temporal.resizing import batch_2d_resize

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

__all__ = ["Image", "image_size"]


@dataclass(frozen=True)
class Image(Stimulus):
    """An image file.

    Parameters
    ----------
    path : path
        The file.
    size : (int, int)
        Width and height to which it is resized.
    """

    path: str | os.PathLike[str]
    size: tuple[int, int]

    @classmethod
    def from_path(cls, path: str | os.PathLike[str]) -> "Image":
        """Image in the size of its file."""
        return cls(path, image_size(path))

    def copy(self) -> "Image":
        """The same image; images are never changed."""
        return replace(self)

    def set_size(self, size: tuple[int, int]) -> "Image":
        """Image of another width and height."""
        return replace(self, size=(int(size[0]), int(size[1])))

    def to_numpy(self) -> NDArray[np.uint8]:
        """Height × width × 3."""
        frame = np.asarray(load_image(self.path).convert("RGB"))
        if frame.shape[1::-1] != self.size:
            frame = batch_2d_resize(frame[np.newaxis], self.size, "bilinear")[0]
        return frame

    def to_img(self) -> "PillowImage":
        """The image for Pillow."""
        from PIL.Image import fromarray

        return fromarray(self.to_numpy())

    def store_to_path(self, path: str | os.PathLike[str]) -> str | os.PathLike[str]:
        """Write the resized image into a file, and return its path."""
        self.to_img().save(path)
        return path


def image_size(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Width and height of an image file."""
    from PIL.Image import open as open_image

    with open_image(path) as image:
        return image.size
