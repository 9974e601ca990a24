"""Inputs of networks that take clips: images and videos, at a frame rate and of a size.

`brainscore_vision.stimuli.videos` reads the files.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.images import GREY, ImageError
from brainscore_vision.model_helpers.activations.preprocessing import AppliedTransform, ImagePreprocessing
from brainscore_vision.model_helpers.images import load_image, load_rgb
from brainscore_vision.stimuli.videos import VIDEO_SUFFIXES, decode_frames, is_video, video_properties

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

__all__ = [
    "GREY",
    "FramePreprocessing",
    "Image",
    "Stimulus",
    "TorchvisionPreprocessing",
    "Video",
    "VideoFromImage",
    "batch_2d_resize",
    "image_size",
]


def batch_2d_resize(arr: NDArray[Any], size: tuple[int, int], mode: Literal["bilinear", "pool"]) -> NDArray[Any]:
    """Resize frames or feature maps.

    `arr` is frames × height × width × channels, `size` width and height. ``'bilinear'`` is between the two nearest
    pixels in each direction, not antialiased, as in OpenCV's ``INTER_LINEAR``; ``'pool'`` the mean over the area that a
    pixel of the result covers. The type stays; integer values are rounded.

    Examples
    --------
    >>> import numpy as np
    >>> batch_2d_resize(np.arange(1.0, 7).reshape(1, 3, 2, 1), (2, 1), "pool")[0, ..., 0]
    array([[3., 4.]])
    """
    if mode not in ("bilinear", "pool"):
        raise ValueError(f"mode is {mode!r}; known: 'bilinear', 'pool'")
    weights = _bilinear if mode == "bilinear" else _areas
    width, height = size
    rows, columns = weights(arr.shape[1], height), weights(arr.shape[2], width)
    resized = np.einsum("yh,nhwc,xw->nyxc", rows, arr.astype(np.float64), columns, optimize=True)
    if np.issubdtype(arr.dtype, np.integer):
        resized = np.rint(resized)
    return resized.astype(arr.dtype)


def _bilinear(old: int, new: int) -> NDArray[np.float64]:
    """Weights of the old pixels in each new pixel, new × old."""
    centres = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    lower = np.minimum(centres.astype(np.intp), max(old - 2, 0))
    share = centres - lower
    weights = np.zeros((new, old))
    weights[np.arange(new), lower] += 1 - share
    weights[np.arange(new), np.minimum(lower + 1, old - 1)] += share
    return weights


def _areas(old: int, new: int) -> NDArray[np.float64]:
    edges = np.arange(new + 1) * old / new
    starts, ends = edges[:-1, np.newaxis], edges[1:, np.newaxis]
    pixels = np.arange(old)
    return np.clip(np.minimum(ends, pixels + 1) - np.maximum(starts, pixels), 0, None) * new / old


Before = Literal["repeat", "grey"]
_IMAGES = {".jpg", ".jpeg", ".png", ".bmp", ".tiff"}


class Stimulus:
    """Base class of :class:`Image` and :class:`Video`."""

    @staticmethod
    def is_video_path(path: str | os.PathLike[str]) -> bool:
        """Whether a file is a video, by its suffix.

        Examples
        --------
        >>> Stimulus.is_video_path("waves.mp4"), Stimulus.is_video_path("waves.png")
        (True, False)
        """
        return is_video(path)

    @staticmethod
    def is_image_path(path: str | os.PathLike[str]) -> bool:
        """Whether a file is an image, by its suffix."""
        return Path(path).suffix.lower() in _IMAGES


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
        """Image file in its original size."""
        return cls(path, image_size(path))

    def copy(self) -> "Image":
        """A copy; images are immutable."""
        return replace(self)

    def set_size(self, size: tuple[int, int]) -> "Image":
        """The image with another width and height."""
        return replace(self, size=(int(size[0]), int(size[1])))

    def to_numpy(self) -> NDArray[np.uint8]:
        """Height × width × 3."""
        frame = load_rgb(self.path)
        if frame.shape[1::-1] != self.size:
            frame = batch_2d_resize(frame[np.newaxis], self.size, "bilinear")[0]
        return frame

    def to_img(self) -> "PillowImage":
        """The image as a Pillow image."""
        from PIL.Image import fromarray

        return fromarray(self.to_numpy())

    def store_to_path(self, path: str | os.PathLike[str]) -> str | os.PathLike[str]:
        """Write the resized image to a file, and return its path."""
        self.to_img().save(path)
        return path


def image_size(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Width and height of an image file, upright.

    A UserError if the file cannot be read as an image.
    """
    try:
        return load_image(path).size
    except ImageError as error:
        error.remedy = f"{error.remedy}; names of videos end in {', '.join(sorted(VIDEO_SUFFIXES))}"
        raise


_ROUNDING = 1e-9  # of milliseconds to frames


@dataclass(frozen=True)
class _Original:
    """Properties of the file: frames per second, number of frames, width and height."""

    fps: float
    num_frames: int
    size: tuple[int, int]


@dataclass(frozen=True)
class Video(Stimulus):
    """A part of a video file; methods that set something return a copy.

    Frames are decoded by PyAV if it is installed, else by decord.

    Parameters
    ----------
    path : path
        The video file.
    fps : float
        Frames per second.
    start, end : float
        The part to show, in milliseconds. Before the beginning and after the end of the file, its first and last frame
        are repeated; :meth:`set_window` can show a grey screen before the beginning instead.
    size : (int, int)
        Width and height of the frames.

    Examples
    --------
    >>> video = Video.from_path("waves.mp4").set_fps(10).set_window(0, 1000)  # doctest: +SKIP
    >>> video.to_numpy().shape  # doctest: +SKIP
    (10, 240, 320, 3)
    """

    path: str | os.PathLike[str]
    fps: float
    start: float
    end: float
    size: tuple[int, int]
    before: Before = "repeat"  # what is shown before the beginning of the file
    known: _Original | None = None  # properties of the file, once they are known

    @classmethod
    def from_path(cls, path: str | os.PathLike[str]) -> "Video":
        """The complete video of a file.

        Raises
        ------
        UserError
            If the file is not a video, or neither PyAV nor decord is installed.
        """
        original = _Original(*video_properties(path))
        return Video(path, original.fps, 0, original.num_frames / original.fps * 1000, original.size, known=original)

    @classmethod
    def from_img_path(cls, img_path: str | os.PathLike[str], duration: float, fps: float) -> "VideoFromImage":
        """An image that is shown for a duration in milliseconds."""
        return VideoFromImage(img_path, fps, 0, duration, image_size(img_path))

    def copy(self) -> Self:
        """A copy; videos are immutable."""
        return replace(self)

    @property
    def duration(self) -> float:
        """Duration in milliseconds."""
        return self.end - self.start

    @property
    def num_frames(self) -> int:
        """Number of whole frames."""
        return int(self.duration * self.fps / 1000 + _ROUNDING)

    @property
    def frame_size(self) -> tuple[int, int]:
        """Width and height."""
        return self.size

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
        """Duration of the file, in milliseconds."""
        return self._original.num_frames / self._original.fps * 1000

    @property
    def original_frame_size(self) -> tuple[int, int]:
        """Width and height of the file's frames."""
        return self._original.size

    def set_fps(self, fps: float) -> Self:
        """Change the frames per second.

        Raises
        ------
        UserError
            If no frame is left.
        """
        if not (fps > 0 and 1000 / fps <= self.duration + _ROUNDING):
            raise UserError(
                f"{fps} frames per second leave no frame of {self.duration:g} milliseconds of {self.path}",
                remedy="choose more frames per second, or a longer window",
            )
        return replace(self, fps=fps)

    def set_size(self, size: tuple[int, int]) -> Self:
        """Resize to this width and height, bilinearly."""
        return replace(self, size=(int(size[0]), int(size[1])))

    def set_window(self, start: float, end: float, padding: Before = "repeat") -> Self:
        """Show the part between two times of this video, in milliseconds.

        `padding`: what is shown before the beginning of the file, its first frame (``'repeat'``) or a grey screen of
        level 128 (``'grey'``).
        """
        if end < start:
            raise ValueError(f"the window ends at {end} ms, before it starts at {start} ms")
        if padding not in get_args(Before):
            raise ValueError(f"padding is {padding!r}; known: 'repeat', 'grey'")
        return replace(self, start=self.start + start, end=self.start + end, before=padding)

    def get_frames(self, indices: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint8]:
        """Frames of the file by their number, frames × height × width × 3."""
        return decode_frames(self.path, np.asarray(indices, dtype=np.intp))

    def to_numpy(self) -> NDArray[np.uint8]:
        """Frames × height × width × 3."""
        before, frames = self._shown()
        if not before:
            return frames
        return np.concatenate([np.full((before, *frames.shape[1:]), GREY, dtype=np.uint8), frames])

    def to_frames(self) -> list[NDArray[np.uint8]]:
        """Frames as arrays, height × width × 3; equal frames may share their memory."""
        before, frames = self._shown()
        return [np.full(frames.shape[1:], GREY, dtype=np.uint8)] * before + list(frames)

    def _shown(self) -> tuple[int, NDArray[np.uint8]]:
        """The number of grey frames before the beginning, and the frames of the file that follow."""
        rate = self.original_fps
        moments = np.arange(self.start * rate / 1000, self.end * rate / 1000 - _ROUNDING, rate / self.fps)
        numbers = np.floor(moments + _ROUNDING).astype(np.intp)  # the frame that is on the screen at each moment
        before = int((numbers < 0).sum()) if self.before == "grey" else 0
        shown = np.clip(numbers[before:], 0, self.original_num_frames - 1)
        frames = self.get_frames(shown) if len(shown) else np.empty((0, *self.size[::-1], 3), dtype=np.uint8)
        if frames.shape[2:0:-1] != self.size:
            frames = batch_2d_resize(frames, self.size, "bilinear")
        return before, frames

    def to_pil_imgs(self) -> "list[PillowImage]":
        """Frames as Pillow images."""
        from PIL.Image import fromarray

        return [fromarray(frame) for frame in self.to_numpy()]

    @property
    def _original(self) -> _Original:
        return self.known or _Original(*video_properties(self.path))


class VideoFromImage(Video):
    """An image that is shown for a duration; parameters as for :class:`Video`.

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
        """The image once per index; repeated without being copied."""
        frame = Image.from_path(self.path).set_size(self.size).to_numpy()
        return np.broadcast_to(frame, (len(indices), *frame.shape))

    @property
    def _original(self) -> _Original:
        return _Original(self.fps, 1, image_size(self.path))


@dataclass(frozen=True)
class FramePreprocessing:
    """Preprocesses each frame of a video as an image.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image as Pillow
    >>> path = Path(tempfile.mkdtemp()) / "wide.png"
    >>> Pillow.new("RGB", (6, 2)).save(path)
    >>> preprocessing = FramePreprocessing(ImagePreprocessing(resize=(4, 4)), channels_first=True)
    >>> preprocessing(Video.from_img_path(path, duration=300, fps=10)).shape
    (3, 3, 4, 4)
    """

    frame: ImagePreprocessing | AppliedTransform  # preprocessing of a frame
    # Whether channels come before frames, as in networks of torchvision; otherwise frames come first, as in networks
    # of transformers
    channels_first: bool

    def __call__(self, video: Video) -> NDArray[np.float32]:
        """Frames and channels, × height × width."""
        from PIL.Image import fromarray

        frames: list[NDArray[np.float32]] = []
        before = None
        for frame in video.to_frames():
            same = before is not None and np.array_equal(frame, before)
            frames.append(frames[-1] if same else np.asarray(self.frame.image(fromarray(frame)), dtype=np.float32))
            before = frame
        return np.stack(frames, axis=1 if self.channels_first else 0)


@dataclass(frozen=True)
class TorchvisionPreprocessing:
    """Prepares videos by the transforms of torchvision's video networks: ``R3D_18_Weights.DEFAULT.transforms()``."""

    transforms: Any  # tensor of frames × channels × height × width → channels × frames × height × width

    def __call__(self, video: Video) -> Any:
        """Channels × frames × height × width."""
        import torch

        return self.transforms(torch.from_numpy(video.to_numpy().copy()).permute(0, 3, 1, 2).contiguous())
