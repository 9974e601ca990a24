"""Video files: reading frames by their number, and writing frames without loss.

Videos are decoded by PyAV if it is installed, else by decord; animated images (``.gif``), as all images, by Pillow.
"""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from fractions import Fraction
from importlib.util import find_spec
from io import IOBase
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.supported_data_standards.brainio.images import VIDEO_SUFFIXES, load_frames

__all__ = ["VIDEO_SUFFIXES", "decode_frames", "is_video", "video_properties", "write_video"]

VideoPath = str | os.PathLike[str]

_MISSING = 3  # frames that a container may state although the file does not have them
_INSTALL = "pip install 'brainscore[video]'"


def is_video(path: VideoPath) -> bool:
    """Whether a file is a video, by its suffix.

    Examples
    --------
    >>> is_video("waves.mp4"), is_video("waves.png")
    (True, False)
    """
    return Path(path).suffix.lower() in VIDEO_SUFFIXES


def video_properties(path: VideoPath) -> tuple[float, int, tuple[int, int]]:
    """Frames per second, number of frames, width and height of a video.

    A UserError if the file is not a video, or no decoder of videos is installed.
    """
    if _is_animation(path):
        frames, durations = load_frames(path)
        return 1000 * len(frames) / sum(durations), len(frames), frames.shape[2:0:-1]
    return _av_properties(path) if _decoder(path) == "av" else _decord_properties(path)


def decode_frames(path: VideoPath, indices: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Frames of a video by their number, in any order, frames × height × width × 3."""
    if _is_animation(path):
        return load_frames(path)[0][indices]
    if _decoder(path) == "av":
        return _av_frames(path, indices)
    from decord import VideoReader

    return np.asarray(VideoReader(os.fspath(path)).get_batch(indices.tolist()).asnumpy())


def _is_animation(path: VideoPath) -> bool:
    return Path(path).suffix.lower() == ".gif"


def _decoder(path: VideoPath) -> str:
    for name in ("av", "decord"):
        if find_spec(name) is not None:
            return name
    raise UserError(f"{path} cannot be decoded: neither PyAV nor decord is installed", remedy=_INSTALL)


def write_video(
    path: VideoPath | IO[bytes], frames: Sequence[Any] | NDArray[np.uint8], frame_rate: float | Fraction
) -> None:
    """Write frames to a video file without loss, such as a sequence of images that is one stimulus.

    Parameters
    ----------
    path : path or binary stream
        The file, such as ``waves.mkv``; Matroska with FFV1, whatever its suffix.
    frames : sequence of ndarray, or ndarray of frames × height × width × 3
        Levels of 8 bits, red, green and blue.
    frame_rate : float
        Frames per second.

    Raises
    ------
    UserError
        If there are no frames, they differ in shape, or PyAV is not installed.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bright.mkv"
    >>> write_video(path, np.full((5, 8, 12, 3), 200, dtype=np.uint8), frame_rate=10)
    >>> video_properties(path)
    (10.0, 5, (12, 8))
    """
    arrays = [np.ascontiguousarray(frame, dtype=np.uint8) for frame in frames]
    shapes = {array.shape for array in arrays}
    if len(shapes) != 1 or arrays[0].ndim != 3 or arrays[0].shape[-1] != 3:
        raise UserError(
            f"frames of the video {path} have the shapes {sorted(shapes)}",
            remedy="pass at least one frame, all of one height × width × 3",
        )
    if find_spec("av") is None:
        raise UserError(f"{path} cannot be written: PyAV is not installed", remedy=_INSTALL)
    import av

    height, width, _ = arrays[0].shape
    rate = Fraction(frame_rate).limit_denominator(1001)
    with (
        nullcontext(path) if isinstance(path, IOBase) else replacing(Path(path)) as file,  # type: ignore[arg-type] # not narrowed by isinstance
        av.open(file, "w", format="matroska") as container,
    ):
        stream = container.add_stream("ffv1", rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "bgr0"
        for array in arrays:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(array, format="rgb24")))
        container.mux(stream.encode())


def _av_properties(path: VideoPath) -> tuple[float, int, tuple[int, int]]:
    import av

    try:
        with av.open(os.fspath(path)) as container:
            stream = container.streams.video[0]
            # some containers do not state their number of frames
            frames = stream.frames or sum(1 for _ in container.decode(stream))
            size = stream.codec_context.width, stream.codec_context.height
            if not stream.average_rate or not frames:
                raise UserError(f"{path} has no frames", remedy="pass the path of a video")
            return float(stream.average_rate), frames, size
    except (av.FFmpegError, IndexError) as error:
        raise UserError(f"{path} is not a video that can be decoded: {error}", remedy="check the file") from error


def _av_frames(path: VideoPath, indices: NDArray[np.intp]) -> NDArray[np.uint8]:
    import av

    wanted, places = np.unique(indices, return_inverse=True)
    missing = set(wanted.tolist())
    frames: list[NDArray[np.uint8]] = []
    decoded, last, cause = 0, None, None
    try:
        with av.open(os.fspath(path)) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            for decoded, frame in enumerate(container.decode(stream), start=1):
                last = frame
                if decoded - 1 in missing:
                    frames.append(np.asarray(frame.to_ndarray(format="rgb24"), dtype=np.uint8))
                    missing.discard(decoded - 1)
                    if not missing:
                        break
    except (av.FFmpegError, IndexError) as error:
        cause = error
    if missing and (last is None or max(missing) - decoded >= _MISSING):
        raise UserError(
            f"{path} has no frame {max(missing)}: only {decoded} frames could be decoded"
            + (f" ({cause})" if cause else ""),
            remedy="check that the file is complete",
        ) from cause
    if missing and last is not None:  # the container stated too many frames: the last one is repeated
        frames += [np.asarray(last.to_ndarray(format="rgb24"), dtype=np.uint8)] * len(missing)
    return np.stack(frames)[places]


def _decord_properties(path: VideoPath) -> tuple[float, int, tuple[int, int]]:
    from decord import DECORDError, VideoReader

    try:
        reader = VideoReader(os.fspath(path))
        height, width, _ = reader[0].shape
    except (DECORDError, IndexError) as error:
        raise UserError(f"{path} is not a video that can be decoded: {error}", remedy="check the file") from error
    return float(reader.get_avg_fps()), len(reader), (width, height)
