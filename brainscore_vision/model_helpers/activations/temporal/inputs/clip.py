"""An image that is shown for a while."""

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.activations.preprocessing import load_image

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Clip"]

_ROUNDING = 1e-9  # of milliseconds to frames


@dataclass(frozen=True)
class Clip:
    """A still image as a clip; preprocessing functions of networks over time get it.

    Parameters
    ----------
    path : path
        Image file.
    fps : float
        Frames per second.
    duration : float
        In milliseconds.
    frame_size : (int, int), optional
        Width and height of the frames; by default the image's own.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from PIL import Image
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wide.png"
    >>> Image.new("RGB", (6, 2)).save(path)
    >>> Clip(path, fps=10, duration=300).to_numpy().shape
    (3, 2, 6, 3)
    """

    path: str | os.PathLike[str]
    fps: float
    duration: float
    frame_size: tuple[int, int] | None = None

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return int(self.duration * self.fps / 1000 + _ROUNDING)

    def set_size(self, size: tuple[int, int]) -> "Clip":
        """Clip with frames of this width and height."""
        return replace(self, frame_size=(int(size[0]), int(size[1])))

    def to_pil_imgs(self) -> "list[Image]":
        """Frames as Pillow images."""
        image = load_image(self.path)
        if self.frame_size is not None and image.size != self.frame_size:
            from PIL.Image import Resampling

            image = image.resize(self.frame_size, Resampling.BILINEAR)
        return [image] * self.num_frames

    def to_frames(self) -> list[NDArray[np.uint8]]:
        """Frames as arrays, height × width × 3."""
        return list(self.to_numpy())

    def to_numpy(self) -> NDArray[np.uint8]:
        """Frames × height × width × 3; one frame, repeated without being copied."""
        frame = np.asarray(self.to_pil_imgs()[0])
        return np.broadcast_to(frame, (self.num_frames, *frame.shape))
