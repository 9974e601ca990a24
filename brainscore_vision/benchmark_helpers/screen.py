"""Stimuli as they appear on a model's screen, written as PNG files."""

import hashlib
import math
import os
import struct
import uuid
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, file_digest
from brainscore_core.formatting import first_few
from brainscore_core.paths import screen_home
from brainscore_core.provenance import remark, timed
from brainscore_core.supported_data_standards.brainio.images import GREY, load_frames, load_image, naming_stimuli
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.stimuli.videos import decode_frames, is_video, video_properties, write_video

_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # of grey, grey and alpha, colour, colour and alpha
_BLOCK = 0xFFFF  # longest block that a zlib stream stores as it is
_BEGINNING = b"\x78\x01"  # of a zlib stream


def write_png(
    levels: NDArray[np.uint8],
    stream: IO[bytes],
    *,
    size: tuple[int, int] | None = None,
    corner: tuple[int, int] = (0, 0),
    around: int = 0,
) -> None:
    """Write an image, on a larger even area if need be, losslessly.

    The image is not compressed: photographs would become smaller by a quarter or so, and writing them and every
    reading by a model would take several times as long. What lies around takes some twenty bytes a row.

    `levels`: height × width [× channels]; what to write: grey, grey and alpha, colour, or colour and alpha. `size`:
    height and width of the area; by default those of the image. `corner`: row and column of the area where the image
    begins. `around`: level of all channels around the image.

    Examples
    --------
    >>> import io
    >>> from PIL import Image
    >>> stream = io.BytesIO()
    >>> write_png(np.full((2, 3, 3), (1, 2, 3), dtype=np.uint8), stream, size=(4, 5), corner=(1, 1), around=128)
    >>> image = Image.open(stream)
    >>> image.size, image.getpixel((3, 2)), image.getpixel((4, 2))
    ((5, 4), (1, 2, 3), (128, 128, 128))
    """
    height, width = size or levels.shape[:2]
    channels = levels.shape[2] if levels.ndim == 3 else 1
    levels = levels.reshape(len(levels), -1)
    top, left = corner[0], 1 + channels * corner[1]  # each row begins with the number of its filter, which is 0: none
    rows = np.full((height, 1 + channels * width), around, dtype=np.uint8)
    rows[:, 0] = 0
    bottom, right = top + levels.shape[0], left + levels.shape[1]
    rows[top:bottom, left:right] = levels
    chunks = [b"\x89PNG\r\n\x1a\n"]
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"IDAT", _packed(rows, top, bottom, left, right)), (b"IEND", b"")):
        chunks += [struct.pack(">I", len(data)) + kind, data, struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))]
    stream.write(b"".join(chunks))


def _packed(rows: NDArray[np.uint8], top: int, bottom: int, left: int, right: int) -> bytes:
    """Pack the rows as a zlib stream in which what is inside the four limits is stored as it is.

    What lies between the image's part of one row and of the next is the same for all rows, and packed once.
    """
    between = np.frombuffer(_compressed_runs(np.concatenate([rows[top, right:], rows[top, :left]])), dtype=np.uint8)
    columns = [np.broadcast_to(between, (bottom - top, len(between)))]
    for first in range(left, right, _BLOCK):
        inside = rows[top:bottom, first : min(first + _BLOCK, right)]
        header = np.frombuffer(struct.pack("<BHH", 0, inside.shape[1], inside.shape[1] ^ _BLOCK), dtype=np.uint8)
        columns += [np.broadcast_to(header, (bottom - top, len(header))), inside]
    image = np.concatenate(columns, axis=1).ravel()[len(between) :]
    before = np.concatenate([rows[:top].ravel(), rows[top, :left]])
    after = np.concatenate([rows[bottom - 1, right:], rows[bottom:].ravel()])
    blocks = [
        _BEGINNING,
        _compressed_runs(before),
        image.tobytes(),
        _compressed_runs(after, last=True),
        struct.pack(">I", zlib.adler32(rows.data)),
    ]
    return b"".join(blocks)


def _compressed_runs(content: NDArray[np.uint8], *, last: bool = False) -> bytes:
    """Compress runs to a whole number of bytes that can be decoded independently of the preceding bytes."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    return packer.compress(content.data) + packer.flush(zlib.Z_FINISH if last else zlib.Z_FULL_FLUSH)


_RULE = 3  # increase it whenever pixels change for the same stimulus and angles
_WORKERS = max(2, os.cpu_count() or 1)  # mostly computing, with some waiting for the disk
_AT_ONCE = 16
_EXAMINED = 16
_FEWEST_PIXELS = 32
_MOST_PIXELS = 100_000_000  # of a screen
_MARK = "--target"

T = TypeVar("T")
R = TypeVar("R")


class _Placement(NamedTuple):
    """A stimulus file, the ratio of target to source angle, and final and temporary path of the placed stimulus."""

    source: Path
    ratio: float
    path: Path
    part: Path


def place_on_screen(
    stimulus_set: StimulusSet, target_visual_degrees: float, source_visual_degrees: float | None = None
) -> StimulusSet:
    """Place stimuli on a screen of another size, at the visual angle of the experiment.

    Parameters
    ----------
    stimulus_set : StimulusSet
        Images or videos; not modified.
    target_visual_degrees : float
        Visual angle that the screen (the model's input) spans, in degrees.
    source_visual_degrees : float, optional
        Visual angle that every image spanned in the experiment, in degrees. Must be omitted if `stimulus_set` has a
        column ``degrees`` with the angle of each stimulus.

    Returns
    -------
    StimulusSet
        With new files of the same names, ``degrees`` set to `target_visual_degrees`, ``original_paths`` (stimulus_id →
        original path) and the identifier ``<identifier>--target<degrees>--source<degrees or None>``. If the angles are
        equal, `stimulus_set` itself.

    Raises
    ------
    UserError
        If an angle is given twice or not at all, or is not positive; if a stimulus has no file or is not an image; if
        no pixel of an image would be left, or more than 100 million be shown.

    Notes
    -----
    With r = target / source, the screen has round(r · size) pixels, halves rounded to even. r ≥ 1: the unchanged image
    is centred on a grey (128, 128, 128) RGB screen. r < 1: the image is cropped to its centre. Images are never
    resampled. They are read by the rules of :func:`~brainscore_vision.model_helpers.images.load_image`.

    Files are written losslessly (PNG, animated if it is a GIF, or, of videos, Matroska with FFV1, whatever their
    suffix) below
    ``$BRAINSCORE_HOME/stimuli_on_screen`` (default ``~/.brain-score``), under a hash of the names and bytes of all
    files and of r, so that files with the same names but other content are never confused.

    Examples
    --------
    >>> on_screen = place_on_screen(stimulus_set, target_visual_degrees=16, source_visual_degrees=8)  # doctest: +SKIP
    >>> on_screen.identifier  # doctest: +SKIP
    'MajajHong2015--target16.00--source8.00'
    """
    target = _angle(target_visual_degrees, "target_visual_degrees")
    sources = _source_angles(stimulus_set, source_visual_degrees)
    if np.all(sources == target):
        return stimulus_set
    paths = stimulus_files(stimulus_set)
    ids = list(stimulus_set["stimulus_id"])
    ratios = {identifier: target / source for identifier, source in zip(ids, sources, strict=True)}
    with timed("extraction"), naming_stimuli(paths):
        placed = _place_all([paths[identifier] for identifier in ratios], list(ratios.values()), screen_home())
    result = stimulus_set.copy()
    result["degrees"] = target
    result.stimulus_paths = dict(zip(ratios, placed, strict=True))
    source_text = "None" if source_visual_degrees is None else f"{float(source_visual_degrees):.2f}"
    result.identifier = f"{stimulus_set.identifier}{_MARK}{target:.2f}--source{source_text}"
    result.original_paths = {identifier: paths[identifier] for identifier in ratios}
    return result


class ImageConverter:
    """Places single images on a screen, as :func:`place_on_screen` does with stimulus sets.

    `target_dir`: folder for the placed images, which keep their names.
    """

    def __init__(self, target_dir: str | os.PathLike[str]) -> None:
        self._folder = Path(target_dir)

    def convert_image(self, image_path: str | os.PathLike[str], source_degrees: float, target_degrees: float) -> str:
        """Place an image of `source_degrees` on a screen of `target_degrees`; returns its path (unchanged if equal)."""
        source = _angle(source_degrees, "source_degrees")
        ratio = _angle(target_degrees, "target_degrees") / source
        if ratio == 1:
            return str(image_path)
        path = self._folder / Path(image_path).name
        self._folder.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            _place(Path(image_path), ratio, stream)
        return str(path)


def identifier_before_screen(identifier: str | None) -> str | None:
    """Identifier of a stimulus set before it was placed on a screen (once or several times)."""
    return None if identifier is None else identifier.split(_MARK)[0]


def warn_of_small_stimuli(stimulus_set: StimulusSet, side: int) -> None:
    """Warn, and note in the receipt, if placed stimuli span fewer than 32 pixels of a model's input.

    `stimulus_set`: as :func:`place_on_screen` returns it. A few of its images are examined, at most 16. `side`: shorter
    side of the model's input, in pixels.
    """
    placed, originals = stimulus_set.stimulus_paths, stimulus_set.original_paths
    if not originals:
        return
    names = [name for name in dict.fromkeys(stimulus_set["stimulus_id"]) if name in placed and name in originals]
    spans = [
        side * max(before) / max(after)
        for name in names[:: max(1, math.ceil(len(names) / _EXAMINED))]
        if (before := _size_of(originals[name])) is not None and (after := _size_of(placed[name])) is not None
    ]
    if spans and min(spans) < _FEWEST_PIXELS:
        remark(
            f"stimuli span only about {min(spans):.0f} of the {side} pixels of the model's input, fewer than "
            f"{_FEWEST_PIXELS}; for a model with a smaller visual angle they are larger"
        )


def _size_of(path: str | Path) -> tuple[int, int] | None:
    """Size of an image, from the head of its file; None for videos and files that are not there."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return image.size
    except (OSError, UnidentifiedImageError):
        return None


def stimulus_files(stimulus_set: StimulusSet) -> dict[str, Path]:
    """File of each stimulus; the error lists all missing files."""
    if "stimulus_id" not in stimulus_set.columns:
        raise UserError(
            f"the stimulus set {stimulus_set.identifier!r} has no column 'stimulus_id'",
            remedy="name each row's stimulus in a column 'stimulus_id'",
        )
    paths_by_id = stimulus_set.stimulus_paths or {}
    paths = {
        name: Path(paths_by_id[name]) if paths_by_id.get(name) is not None else None
        for name in stimulus_set["stimulus_id"]
    }
    missing = [
        f"{identifier} ({path if path is not None else 'no path'})"
        for identifier, path in paths.items()
        if path is None or not path.is_file()
    ]
    if missing:
        raise UserError(
            f"{len(missing)} of {len(paths)} stimuli of {stimulus_set.identifier!r} have no file: "
            f"{first_few(missing, 5)}",
            remedy="set stimulus_set.stimulus_paths to a dictionary from stimulus_id to an existing file",
        )
    return {identifier: path for identifier, path in paths.items() if path is not None}


def _angle(value: float, name: str) -> float:
    try:
        angle = float(value)
    except (TypeError, ValueError):
        angle = np.nan
    if not (np.isfinite(angle) and angle > 0):
        raise UserError(f"{name} is {value!r}", remedy="pass a visual angle in degrees, above 0")
    return angle


def _source_angles(stimulus_set: StimulusSet, source_visual_degrees: float | None) -> np.ndarray:
    in_column = "degrees" in stimulus_set.columns
    if in_column and source_visual_degrees is not None:
        raise UserError(
            f"the visual angle of {stimulus_set.identifier!r} is given twice: by source_visual_degrees="
            f"{source_visual_degrees!r} and by the column 'degrees'",
            remedy="leave source_visual_degrees out, or drop the column",
        )
    if not in_column:
        if source_visual_degrees is None:
            raise UserError(
                f"the visual angle of {stimulus_set.identifier!r} is not known",
                remedy="pass source_visual_degrees, or add a column 'degrees'",
            )
        return np.full(len(stimulus_set), _angle(source_visual_degrees, "source_visual_degrees"))
    return np.array(
        [
            _angle(value, f"'degrees' of stimulus {identifier!r}")
            for identifier, value in zip(stimulus_set["stimulus_id"], stimulus_set["degrees"], strict=True)
        ]
    )


def _place_all(sources: list[Path], ratios: list[float], home: Path) -> list[Path]:
    """Write missing files: first write all, then sync and rename all, which is faster than file by file."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        contents = _in_threads(pool, _content, sources)
        paths = _places(sources, ratios, contents, home)
        for folder in {path.parent for path in paths}:
            folder.mkdir(parents=True, exist_ok=True)
        ending = f".{uuid.uuid4().hex}{PART_SUFFIX}"
        at = zip(paths, sources, ratios, strict=True)
        missing = {path: (source, ratio) for path, source, ratio in at if not path.exists()}
        placements = [
            _Placement(source, ratio, path, path.parent / f".{number}{ending}")
            for number, (path, (source, ratio)) in enumerate(missing.items())
        ]
        try:
            _in_threads(pool, _write, placements)
            _in_threads(pool, _move, placements)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            for placement in placements:
                placement.part.unlink(missing_ok=True)
            raise
    return paths


def _in_threads(pool: ThreadPoolExecutor, function: Callable[[T], R], items: list[T]) -> list[R]:
    """Call a function for each item, several per job, since a job takes as long as a few calls."""
    jobs = [items[first : first + _AT_ONCE] for first in range(0, len(items), _AT_ONCE)]
    return [result for results in pool.map(lambda job: list(map(function, job)), jobs) for result in results]


def _content(source: Path) -> str:
    return file_digest(source, "sha256")


def _places(sources: list[Path], ratios: list[float], contents: list[str], home: Path) -> list[Path]:
    """Path of each placed stimulus.

    Stimuli that are placed together share a folder, since creating a folder takes as long as writing an image. Its name
    is a hash of all of them, so that other content cannot have the same path.
    """
    keys = [
        (source.name, f"{ratio!r} {content}") for source, ratio, content in zip(sources, ratios, contents, strict=True)
    ]
    distinct = sorted(set(keys))
    key = hashlib.sha256(repr((_RULE, distinct)).encode()).hexdigest()
    paths: dict[tuple[str, str], Path] = {}
    names: dict[str, int] = {}
    for item in distinct:
        name, _ = item
        number = names[name] = names.get(name, -1) + 1  # files of the same name from other folders
        paths[item] = home / key / (str(number) if number else "") / name
    return [paths[item] for item in keys]


def _write(placement: _Placement) -> None:
    with placement.part.open("xb") as stream:
        _place(placement.source, placement.ratio, stream)


def _move(placement: _Placement) -> None:
    """Sync a file to disk, then rename it."""
    with placement.part.open("rb+") as stream:
        os.fsync(stream.fileno())
    os.replace(placement.part, placement.path)


def _place(source: Path, ratio: float, stream: IO[bytes]) -> None:
    if source.suffix.lower() == ".gif":
        frames, durations = load_frames(source)
        if len(frames) > 1:
            _write_animation(_placed_frames(source, frames, ratio), durations, stream)
            return
    elif is_video(source):
        rate, count, _ = video_properties(source)
        write_video(stream, _placed_frames(source, decode_frames(source, np.arange(count)), ratio), rate)
        return
    image = load_image(source, mode=None)
    size = np.array(image.size)
    placed = _placed_size(source, size, ratio)
    width, height = (int(length) for length in placed)
    if ratio >= 1:
        left, top = _corner(placed - size)
        shown = np.asarray(image.convert("RGB"))
        write_png(shown, stream, size=(height, width), corner=(top, left), around=GREY)
    else:
        left, top = _corner(size - placed)
        write_png(np.asarray(image.crop((left, top, left + width, top + height))), stream)


def _placed_frames(source: Path, frames: NDArray[np.uint8], ratio: float) -> NDArray[np.uint8]:
    """Place each frame of a video, as an image."""
    size = np.array(frames.shape[2:0:-1])
    placed = _placed_size(source, size, ratio)
    if ratio < 1:
        left, top = _corner(size - placed)
        return frames[:, top : top + placed[1], left : left + placed[0]]
    left, top = _corner(placed - size)
    shown = np.full((len(frames), placed[1], placed[0], 3), GREY, dtype=np.uint8)
    shown[:, top : top + size[1], left : left + size[0]] = frames
    return shown


def _write_animation(frames: NDArray[np.uint8], durations: Sequence[float], stream: IO[bytes]) -> None:
    """Write an animated PNG, of which models of images see the first frame, and models of clips all frames."""
    from PIL import Image

    first, *later_frames = map(Image.fromarray, frames)
    blend = [number % 2 for number in range(len(frames))]  # no effect on opaque frames, but Pillow merges none of them
    first.save(
        stream,
        "PNG",
        save_all=True,
        append_images=later_frames,
        duration=list(durations),
        blend=blend,
        compress_level=1,
    )


def _placed_size(source: Path, size: NDArray[np.intp], ratio: float) -> NDArray[np.intp]:
    """Width and height of the screen in pixels."""
    placed: NDArray[np.float64] = np.round(ratio * size)
    pixels = math.prod(placed.tolist())
    if placed.min() < 1 or pixels > _MOST_PIXELS:
        problem = "cropped to less than one pixel" if ratio < 1 else f"on a screen of {pixels:.3g} pixels"
        raise UserError(
            f"{source} ({size[0]} × {size[1]} pixels) would be {problem}: the screen spans {ratio:.3g} times its "
            "visual angle",
            remedy="check the visual angles of the stimuli and the screen: they are in degrees",
        )
    return placed.astype(np.intp)


def _corner(difference: np.ndarray) -> tuple[int, int]:
    left, top = np.round(difference / 2).astype(int)
    return int(left), int(top)
