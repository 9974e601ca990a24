"""Frames of film files, by PyAV where it is installed, else by decord."""

import os
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

__all__ = ["decoded", "facts_of"]

Path = str | os.PathLike[str]


def facts_of(path: Path) -> tuple[float, int, tuple[int, int]]:
    """Frames per second, number of frames, width and height of a film.

    Raises
    ------
    UserError
        If the file is not a film, or nothing that decodes films is installed.
    """
    return _av_facts(path) if _decoder(path) == "av" else _decord_facts(path)


def decoded(path: Path, indices: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Frames of a film by their number, in any order, frames × height × width × 3."""
    if _decoder(path) == "av":
        return _av_frames(path, indices)
    from decord import VideoReader

    return np.asarray(VideoReader(os.fspath(path)).get_batch(indices.tolist()).asnumpy())


def _decoder(path: Path) -> str:
    for name in ("av", "decord"):
        if find_spec(name) is not None:
            return name
    raise UserError(f"{path} cannot be decoded: neither PyAV nor decord is installed", remedy="pip install av")


def _av_facts(path: Path) -> tuple[float, int, tuple[int, int]]:
    import av

    try:
        with av.open(os.fspath(path)) as container:
            stream = container.streams.video[0]
            # some containers do not tell how many frames they hold
            frames = stream.frames or sum(1 for _ in container.decode(stream))
            size = stream.codec_context.width, stream.codec_context.height
            if not stream.average_rate or not frames:
                raise UserError(f"{path} has no frames", remedy="pass the path of a film")
            return float(stream.average_rate), frames, size
    except (av.FFmpegError, IndexError) as error:
        raise UserError(f"{path} is not a film that can be decoded: {error}", remedy="check the file") from error


def _av_frames(path: Path, indices: NDArray[np.intp]) -> NDArray[np.uint8]:
    import av

    wanted, places = np.unique(indices, return_inverse=True)
    missing = set(wanted.tolist())
    found: list[NDArray[np.uint8]] = []
    with av.open(os.fspath(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for number, frame in enumerate(container.decode(stream)):
            if number in missing:
                found.append(frame.to_ndarray(format="rgb24"))
                missing.discard(number)
                if not missing:
                    break
    if not found:
        raise UserError(f"{path} has no frame {wanted.tolist()}", remedy="check the file")
    # the container may have told of more frames than it holds: the last one is repeated
    found += [found[-1]] * (len(wanted) - len(found))
    return np.stack(found)[places]


def _decord_facts(path: Path) -> tuple[float, int, tuple[int, int]]:
    from decord import DECORDError, VideoReader

    try:
        reader = VideoReader(os.fspath(path))
        height, width, _ = reader[0].shape
    except (DECORDError, IndexError) as error:
        raise UserError(f"{path} is not a film that can be decoded: {error}", remedy="check the file") from error
    return float(reader.get_avg_fps()), len(reader), (width, height)
