"""A film, or an image that is shown for a while: frames at the rate, in the window and of the size that are set."""

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.temporal.inputs._decoding import decoded, facts_of
from brainscore_vision.model_helpers.activations.temporal.inputs.base import Stimulus
from brainscore_vision.model_helpers.activations.temporal.inputs.image import Image, image_size
from brainscore_vision.model_helpers.activations.temporal.resizing import batch_2d_resize

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

__all__ = ["Clip", "Video", "VideoFromImage"]

_ROUNDING = 1e-9  # of milliseconds to frames


@dataclass(frozen=True)
class _Original:
    """What the file has: frames per second, number of frames, width and height."""

    fps: float
    num_frames: int
    size: tuple[int, int]


class Video(Stimulus):
    """A part of a film; what sets something returns a copy.

    Frames are decoded by PyAV where it is installed, else by decord.

    Parameters
    ----------
    path : path
        The film.
    fps : float
        Frames per second.
    start, end : float
        The part that is shown, in milliseconds. Before its beginning and after its end the film's first and last frame
        are repeated.
    size : (int, int)
        Width and height of the frames.

    Examples
    --------
    >>> video = Video.from_path("waves.mp4").set_fps(10).set_window(0, 1000)  # doctest: +SKIP
    >>> video.to_numpy().shape  # doctest: +SKIP
    (10, 240, 320, 3)
    """

    def __init__(
        self, path: str | os.PathLike[str], fps: float, start: float, end: float, size: tuple[int, int]
    ) -> None:
        self._path = path
        self._fps = fps
        self._start = start
        self._end = end
        self._size = (int(size[0]), int(size[1]))
        self._known: _Original | None = None

    @classmethod
    def from_path(cls, path: str | os.PathLike[str]) -> "Video":
        """The whole film of a file.

        Raises
        ------
        UserError
            If the file is not a film, or neither PyAV nor decord is installed.
        """
        original = _Original(*facts_of(path))
        video = Video(path, original.fps, 0, original.num_frames / original.fps * 1000, original.size)
        video._known = original
        return video

    @classmethod
    def from_img_path(cls, img_path: str | os.PathLike[str], duration: float, fps: float) -> "VideoFromImage":
        """An image that is shown for some milliseconds."""
        return VideoFromImage(img_path, fps, 0, duration, image_size(img_path))

    def copy(self) -> Self:
        """A video that shows the same."""
        return copy.copy(self)

    @property
    def duration(self) -> float:
        """In milliseconds."""
        return self._end - self._start

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self._fps

    @property
    def num_frames(self) -> int:
        """Number of whole frames."""
        return int(self.duration * self._fps / 1000 + _ROUNDING)

    @property
    def frame_size(self) -> tuple[int, int]:
        """Width and height."""
        return self._size

    @property
    def original_fps(self) -> float:
        """Frames per second of the file."""
        return self._original.fps

    @property
    def original_num_frames(self) -> int:
        """Number of frames of the file."""
        return self._original.num_frames

    @property
    def original_duration(self) -> float:
        """Of the file, in milliseconds."""
        return self._original.num_frames / self._original.fps * 1000

    @property
    def original_frame_size(self) -> tuple[int, int]:
        """Width and height of the file's frames."""
        return self._original.size

    def set_fps(self, fps: float) -> Self:
        """Show other frames per second.

        Raises
        ------
        UserError
            If not a single frame is left.
        """
        if not (fps > 0 and 1000 / fps <= self.duration + _ROUNDING):
            raise UserError(
                f"{fps} frames per second leave no frame of {self.duration:g} milliseconds of {self._path}",
                remedy="choose more frames per second, or a longer window",
            )
        return self._with(_fps=fps)

    def set_size(self, size: tuple[int, int]) -> Self:
        """Resize to this width and height, bilinearly."""
        return self._with(_size=(int(size[0]), int(size[1])))

    def set_window(self, start: float, end: float, padding: Literal["repeat"] = "repeat") -> Self:
        """Show what lies between two moments of this video, in milliseconds; see :class:`Video`."""
        if end < start:
            raise ValueError(f"the window ends at {end} ms, before it starts at {start} ms")
        if padding != "repeat":
            raise ValueError(f"padding is {padding!r}; known: 'repeat'")
        return self._with(_start=self._start + start, _end=self._start + end)

    def get_frames(self, indices: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint8]:
        """Frames of the file by their number, frames × height × width × 3."""
        return decoded(self._path, np.asarray(indices, dtype=np.intp))

    def to_numpy(self) -> NDArray[np.uint8]:
        """Frames × height × width × 3."""
        rate = self.original_fps
        moments = np.arange(self._start * rate / 1000, self._end * rate / 1000 - _ROUNDING, rate / self._fps)
        frames = self.get_frames(np.clip(moments.astype(np.intp), 0, self.original_num_frames - 1))
        if frames.shape[2:0:-1] != self._size:
            frames = batch_2d_resize(frames, self._size, "bilinear")
        return frames

    def to_frames(self) -> list[NDArray[np.uint8]]:
        """Frames as arrays, height × width × 3."""
        return list(self.to_numpy())

    def to_pil_imgs(self) -> "list[PillowImage]":
        """Frames as Pillow images."""
        from PIL.Image import fromarray

        return [fromarray(frame) for frame in self.to_numpy()]

    @property
    def _original(self) -> _Original:
        if self._known is None:
            self._known = _Original(*facts_of(self._path))
        return self._known

    def _with(self, **changed: Any) -> Self:
        video = self.copy()
        vars(video).update(changed)
        return video


class VideoFromImage(Video):
    """An image that is shown for a while; parameters as of :class:`Video`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from PIL import Image as Pillow
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wide.png"
    >>> Pillow.new("RGB", (6, 2)).save(path)
    >>> Video.from_img_path(path, duration=300, fps=10).to_numpy().shape
    (3, 2, 6, 3)
    """

    def get_frames(self, indices: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint8]:
        """The image, as often as there are indices; repeated without being copied."""
        frame = Image.from_path(self._path).set_size(self._size).to_numpy()
        return np.broadcast_to(frame, (len(indices), *frame.shape))

    @property
    def _original(self) -> _Original:
        return _Original(self._fps, 1, image_size(self._path))


class Clip(VideoFromImage):
    """Earlier name of :class:`VideoFromImage`.

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
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fps: float,
        duration: float,
        frame_size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(path, fps, 0, duration, image_size(path) if frame_size is None else frame_size)
