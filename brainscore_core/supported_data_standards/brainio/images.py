"""The reader of image files, for models, the screen, pages and packaging; decoded images can be kept in memory.

The rules are those of ``docs/stimuli.md``. Pillow decodes the files.
"""

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

GREY = 128
"""Level of the screen around stimuli, and behind their transparent pixels."""

VIDEO_SUFFIXES = frozenset({".mp4", ".avi", ".mov", ".flv", ".wmv", ".webm", ".mkv", ".gif"})
"""Suffixes of names of videos."""

Source = str | bytes | os.PathLike[str] | IO[bytes]

_ORIENTATION = 0x0112  # tag of EXIF
_PHOTOMETRIC = 262  # tag of TIFF
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
_DIRECT = {"1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBX"}
_CONVERTED = {"CMYK", "YCbCr", "LAB", "HSV"}
_DEEP = {"I;16", "I;16L", "I;16B", "I;16N"}
_SCALES = {"1": 255, "L;2": 85, "L;4": 17}  # by which Pillow multiplies levels, but not the transparent one
_FORMATS = (  # Pillow also opens formats that other programs decode, such as PostScript
    *("PNG", "JPEG", "GIF", "BMP", "PPM", "TIFF", "WEBP", "JPEG2000", "TGA", "DIB", "ICO", "PCX", "PSD", "QOI", "SGI"),
)
_SHORTEST, _DEFAULT = 20, 100  # milliseconds of a frame: as players of videos do, shorter ones count as not stated


class ImageError(UserError):
    """An image file that cannot be read.

    - `path`: the file; None for a stream.
    - `stimulus`: id of the stimulus, if it is known.
    - `reason`: what is wrong with the file.
    """

    path: str | None = None
    stimulus: str | None = None
    reason: str = ""


class UndefinedLevels(ImageError):
    """An image whose file does not determine levels of 8 bits."""

    REMEDY = "save it with 8 or 16 bits per channel, in which 255 or 65535 is white, and transparency as a channel"


@dataclass(frozen=True)
class ImageProperties:
    """Properties of an image file that determine which levels a model sees."""

    mode: str  # as Pillow names it, such as ``'RGB'``
    size: tuple[int, int]  # width and height of the upright image
    frames: int  # number of frames or pages
    # orientation in the EXIF data, 1 to 8, 1 if there is none; None if the EXIF data are damaged
    orientation: int | None
    transparent: bool  # whether a pixel is not opaque
    # largest level of an image of 16 bits (of colours: rounded down to a multiple of 256); None for other images
    largest_level: int | None
    profile: str | None  # name of the embedded colour profile, if it is not sRGB

    @property
    def is_converted(self) -> bool:
        """Whether Pillow converts its colours to RGB, such as those of CMYK."""
        return self.mode in _CONVERTED


class _Decoded(NamedTuple):
    """Pixels of mode L or RGB as they are stored, their opacity, the orientation, and the levels of 16 bits."""

    pixels: "Image"
    opacity: "Image | None"
    orientation: int | None
    deep: NDArray[np.uint16] | None

    def shown(self) -> "Image":
        """The upright image on grey."""
        from PIL import Image

        image = self.pixels
        if self.opacity is not None:
            image = Image.new("RGB", self.pixels.size, (GREY, GREY, GREY))
            image.paste(self.pixels.convert("RGB"), mask=self.opacity)
        if self.orientation in _TURNS:
            image = image.transpose(Image.Transpose[_TURNS[self.orientation]])
        return image


def load_image(file: Source, mode: str | None = "RGB") -> "Image":
    """Read an image: its first frame, upright, of 8 bits per channel, on grey where it is transparent.

    `file`: the image. `mode`: ``'RGB'``: grey levels are copied to all channels. ``'L'``: grey levels, weighted as in
    ITU-R 601. None: ``'L'`` if the file is grey and opaque, else ``'RGB'``. Raises ImageError if the file is damaged or
    not an image, or its levels are integers of 32 bits or floating-point numbers.

    Examples
    --------
    >>> import io
    >>> from PIL import Image
    >>> stream = io.BytesIO()
    >>> Image.fromarray(np.array([[0, 32896, 65535]], dtype=np.uint16)).save(stream, "PNG")
    >>> np.asarray(load_image(stream, "L")).tolist()
    [[0, 128, 255]]
    """
    with open_image(file) as opened:
        image = _decode(opened, file).shown()
        image = image if mode in (None, image.mode) else image.convert(mode)
    image.info = {}  # it is applied or ignored; transforms that read an orientation there would turn the image again
    return image


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
    return np.asarray(_resized(load_image(path, "RGB"), size))


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


def load_frames(file: Source) -> tuple[NDArray[np.uint8], list[float]]:
    """Read an animation: frames × height × width × 3, and durations in milliseconds; errors as :func:`load_image`."""
    frames, durations = [], []
    with open_image(file) as opened:
        for number in range(_count(opened)):
            opened.seek(number)
            frames.append(np.asarray(_decode(opened, file).shown().convert("RGB")))
            duration = float(opened.info.get("duration", 0))
            durations.append(duration if duration >= _SHORTEST else _DEFAULT)
    return np.stack(frames), durations


def _resized(image: "Image", size: int | None) -> "Image":
    return image if size is None or image.size == (size, size) else image.resize((size, size))


def image_properties(file: Source) -> ImageProperties:
    """Decode an image, and describe what determines the levels that a model sees.

    Raises ImageError as :func:`load_image` does.
    """
    with open_image(file) as opened:
        mode, profile = opened.mode, opened.info.get("icc_profile")
        turned = _orientation(opened) if opened.format == "TIFF" else 1  # Pillow turns it while it decodes
        is_deep_colour = ";16" in _raw_mode(opened)
        decoded = _decode(opened, file)
        largest = None if decoded.deep is None else int(decoded.deep.max())
        if is_deep_colour and largest is None:
            largest = 256 * int(np.asarray(decoded.pixels).max())
        return ImageProperties(
            mode=mode,
            size=decoded.shown().size,
            frames=_count(opened),
            orientation=decoded.orientation if turned == 1 else turned,
            transparent=decoded.opacity is not None and decoded.opacity.getextrema()[0] != 255,
            largest_level=largest,
            profile=_profile_name(profile) if profile else None,
        )


@contextmanager
def open_image(file: Source) -> "Iterator[Image]":
    """Open an image file with Pillow; errors until it is closed become an :class:`ImageError` that names the file."""
    import PIL.Image

    remedy = "check that the file exists and is complete, or export it again"
    try:
        with _complete_files_only(), PIL.Image.open(file, formats=_formats()) as opened:
            if opened.format == "TIFF":
                opened.filename = ""  # else Pillow maps the file into memory, and mixes up turned pixels
            yield opened
    except (ImageError, MemoryError):
        raise
    except PIL.UnidentifiedImageError as error:
        raise _error(ImageError, file, "it has none of the formats " + ", ".join(_formats()), remedy) from error
    except (PIL.Image.DecompressionBombError, PIL.Image.DecompressionBombWarning) as error:  # a warning as an error
        reason, remedy = "it has more pixels than Pillow decodes", "save it at the size at which it was shown"
        raise _error(ImageError, file, reason, remedy) from error
    # Pillow raises many types of errors for damaged files, such as SyntaxError, struct.error and OverflowError
    except Exception as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        raise _error(ImageError, file, reason.splitlines()[0], remedy) from error


@cache
def _formats() -> tuple[str, ...]:
    """Formats to read; Pillow knows AVIF from version 11.3 on."""
    return _FORMATS if find_spec("PIL.AvifImagePlugin") is None else (*_FORMATS, "AVIF")


@contextmanager
def naming_stimuli(paths: Mapping[Any, Any]) -> Iterator[None]:
    """Add the id of the stimulus to an :class:`ImageError` about its file.

    `paths` are those of the stimuli by id.
    """
    try:
        yield
    except ImageError as error:
        if error.path is not None and error.stimulus is None:
            names = (str(name) for name, path in paths.items() if Path(path) == Path(error.path))
            error.stimulus = next(names, None)
            if error.stimulus is not None:
                error.message = f"stimulus {error.stimulus!r}: {error.message}"
        raise


def _error(kind: type[ImageError], file: Source, reason: str, remedy: str) -> ImageError:
    path = os.fsdecode(file) if isinstance(file, str | bytes | os.PathLike) else None
    if path is not None and Path(path).suffix.lower() in VIDEO_SUFFIXES:
        remedy = "show videos to a network that takes clips (frame_rate of brainscore.wrap_model)"
    error = kind(f"{path or 'the file'} cannot be read as an image: {reason}", remedy)
    error.path, error.reason = path, reason
    return error


_lock = Lock()
_readers = 0
_lenient = False


@contextmanager
def _complete_files_only() -> Iterator[None]:
    """Undo a setting of many training scripts, with which truncated images load without an error."""
    global _readers, _lenient
    from PIL import ImageFile

    module: Any = ImageFile
    with _lock:
        if not _readers:
            _lenient, module.LOAD_TRUNCATED_IMAGES = module.LOAD_TRUNCATED_IMAGES, False
        _readers += 1
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if not _readers:
                module.LOAD_TRUNCATED_IMAGES = _lenient


def _decode(image: "Image", file: Source) -> _Decoded:
    """Decode the frame to which an opened image points."""
    raw = _raw_mode(image)
    is_deep = image.mode in _DEEP or (image.mode == "I" and image.format == "PPM")  # Pillow scales PGM to 16 bits
    if not is_deep and image.mode not in _DIRECT | _CONVERTED:
        reason = f"its mode is {image.mode!r}; integers of 32 bits and floating-point numbers have no defined white"
        raise _error(UndefinedLevels, file, reason, UndefinedLevels.REMEDY)
    image.load()
    orientation = _orientation(image)
    transparent = image.info.get("transparency")
    if is_deep:
        deep = np.asarray(image).astype(np.uint16)
        opacity = None if transparent is None else _from_array(np.where(deep == transparent, 0, 255))
        if raw == "I;12":
            deep = (deep << 4 | deep >> 8).astype(np.uint16)
        if image.format == "TIFF" and image.tag_v2.get(_PHOTOMETRIC) == 0:  # type: ignore[attr-defined] # of TIFF files
            deep = ~deep  # 0 is white, which Pillow considers for images of 8 bits only
        return _Decoded(_from_array(deep >> 8), opacity, orientation, deep)
    if image.mode in ("1", "L"):
        grey = image if image.mode == "L" else image.convert("L")
        if transparent is None:
            return _Decoded(grey, None, orientation, None)
        level = min(255, transparent * _SCALES.get(raw, 1))
        return _Decoded(grey, grey.point([255 * (value != level) for value in range(256)]), orientation, None)
    if not image.has_transparency_data:
        return _Decoded(image if image.mode == "RGB" else image.convert("RGB"), None, orientation, None)
    if image.mode == "RGB" and raw.startswith("RGB;16"):
        reason = "its transparent colour has 16 bits, and Pillow reads colours as 8 bits"
        raise _error(UndefinedLevels, file, reason, UndefinedLevels.REMEDY)
    rgba = (image.convert("LA") if image.mode == "La" else image).convert("RGBA")
    return _Decoded(rgba.convert("RGB"), rgba.getchannel("A"), orientation, None)


def _from_array(levels: NDArray[Any]) -> "Image":
    from PIL import Image

    return Image.fromarray(levels.astype(np.uint8))


def _raw_mode(image: "Image") -> str:
    """How the file stores pixels, in the words of Pillow, such as ``'I;12'`` of mode I;16; before they are decoded."""
    tiles = getattr(image, "tile", None)
    raw = tiles[0][3] if tiles else ""
    return str(raw[0] if isinstance(raw, tuple) and raw else raw)


def _orientation(image: "Image") -> int | None:
    try:
        value = image.getexif().get(_ORIENTATION, 1)
        return value if value in _TURNS else 1
    except Exception:  # noqa: BLE001 - many types of errors, too; the pixels are those of the file
        return None


def _count(image: "Image") -> int:
    return getattr(image, "n_frames", 1)


def _profile_name(profile: bytes) -> str | None:
    """Name of a colour profile; None if it is sRGB."""
    from PIL import ImageCms

    try:
        name = ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(profile))).strip()
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
        return "unreadable"
    return None if "srgb" in name.lower() else name or "unnamed"
