"""Preprocessing of image files: resizing, cropping and normalisation without torchvision.

Preprocessing of other libraries is read from its settings if possible, so that these libraries need not run it.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.images import open_image
from brainscore_vision.videos import is_video

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

__all__ = [
    "AppliedTransform",
    "ImagePreprocessing",
    "from_settings",
    "from_transforms",
    "load_image",
    "load_images",
    "load_preprocess_images",
    "preprocess_images",
]

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
_HALF = (0.5, 0.5, 0.5)
_DEEP_MODES = ("I", "F")  # levels that are not 0 to 255
FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}  # Pillow's numbers
_LINEAR = "linear"  # of OpenCV


@dataclass(frozen=True)
class ImagePreprocessing:
    """Resize, crop and normalise image files, as torchvision's transforms on Pillow images do.

    Parameters
    ----------
    resize : int or (int, int), optional
        Length of the shorter side (the aspect ratio is kept), or height and width. By default images keep their size.
    crop : int or (int, int), optional
        Height and width of the centre that is cropped afterwards.
    interpolation : {'bilinear', 'bicubic', 'nearest', 'lanczos', 'box', 'hamming', 'linear'}
        Antialiased, as Pillow does it. ``'linear'``: as Albumentations resizes and crops by default, with OpenCV, which
        interpolates between the four nearest pixels, not antialiased.
    mean, std : tuple of float
        Red, green and blue in [0, 1] are normalised as (value − mean) / std.

    Examples
    --------
    >>> from PIL import Image
    >>> preprocessing = ImagePreprocessing(resize=256, crop=224)
    >>> preprocessing.image(Image.new("RGB", (500, 300))).shape
    (3, 224, 224)
    """

    resize: int | tuple[int, int] | None = None
    crop: int | tuple[int, int] | None = None
    interpolation: str = "bilinear"
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD

    def __post_init__(self) -> None:
        if self.interpolation not in (*FILTERS, _LINEAR):
            raise ValueError(f"interpolation is {self.interpolation!r}, not one of {', '.join((*FILTERS, _LINEAR))}")
        if len(self.mean) != 3 or len(self.std) != 3 or min(self.std) <= 0:
            raise ValueError(f"mean {self.mean} and std {self.std} must be three numbers each, std above 0")

    def __call__(self, paths: Sequence[str | os.PathLike[str]]) -> NDArray[np.float32]:
        """Read image files as arrays.

        Parameters
        ----------
        paths : list of path
            Image files.

        Returns
        -------
        ndarray of float32, images × 3 × height × width

        Raises
        ------
        UserError
            If a file is not an image, or the images differ in size after resizing and cropping.
        """
        return _stacked([self.image(load_image(path)) for path in paths])

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """Channels, height and width of the result; None if they depend on the image."""
        size = self.crop if self.crop is not None else (None if isinstance(self.resize, int) else self.resize)
        return None if size is None else (3, *_pair(size))

    def image(self, image: "Image") -> NDArray[np.float32]:
        """Convert a Pillow image to an array, 3 × height × width."""
        levels = self._levels(image)
        out = np.empty((3, *levels.shape[:2]), dtype=np.float32)
        self._normalise(levels, out)
        return out

    def into(self, path: str | os.PathLike[str], out: NDArray[np.float32]) -> None:
        """Write the array of an image file into `out`, of shape :attr:`shape`."""
        self._normalise(self._levels(load_image(path)), out)

    def levels_into(self, path: str | os.PathLike[str], out: NDArray[np.uint8]) -> None:
        """Write the levels of an image file before normalisation into `out`, height × width × 3."""
        out[...] = self._levels(load_image(path))

    def normalised(self, levels: "torch.Tensor") -> "torch.Tensor":
        """Arrays of images from their levels, images × height × width × 3, on the device of the levels.

        They are those of :meth:`into`, since both look values up in the same table.
        """
        import torch

        channels = [table[levels[..., number].int()] for number, table in enumerate(_tables_on(self, levels.device))]
        return torch.stack(channels, dim=1)

    def _levels(self, image: "Image") -> NDArray[np.uint8]:
        if self.resize is not None:
            size = _resized(image.size, self.resize)
            if self.interpolation == _LINEAR:
                image = _linearly_resized(image, size)
            else:
                image = image.resize(size, FILTERS[self.interpolation])
        if self.crop is not None:
            height, width = _pair(self.crop)
            margins = ((now - then) / 2 for now, then in zip(image.size, (width, height), strict=True))
            left, top = (math.floor(margin) if self.interpolation == _LINEAR else round(margin) for margin in margins)
            image = image.crop((left, top, left + width, top + height))
        return np.asarray(image)

    def _normalise(self, levels: NDArray[np.uint8], out: NDArray[np.float32]) -> None:
        for channel, table in enumerate(self._tables):
            np.take(table, levels[..., channel], out=out[channel], mode="clip")  # without a mode, NumPy makes a copy

    @cached_property
    def _tables(self) -> NDArray[np.float32]:
        """Normalised values of the 256 levels, for each channel."""
        values = np.arange(256, dtype=np.float32) / np.float32(255)
        mean, std = (np.asarray(numbers, dtype=np.float32)[:, np.newaxis] for numbers in (self.mean, self.std))
        return (values - mean) / std


@lru_cache(maxsize=16)
def _tables_on(preprocessing: ImagePreprocessing, device: "torch.device") -> "torch.Tensor":
    """Tables on a device, which are copied there once: each copy would wait for all that the device computes."""
    import torch

    return torch.from_numpy(preprocessing._tables).to(device)


def load_preprocess_images(
    image_filepaths: Sequence[str | os.PathLike[str]],
    image_size: int,
    *,
    preprocess_type: str = "imagenet",
    normalize_mean: Sequence[float] = IMAGENET_MEAN,
    normalize_std: Sequence[float] = IMAGENET_STD,
) -> NDArray[np.float32]:
    """Read, resize and normalise images.

    Parameters
    ----------
    image_filepaths : list of path
        Image files.
    image_size : int
        Height and width of the result.
    preprocess_type : {'imagenet', 'inception'}
        ``'imagenet'``: both sides are resized (bilinear, antialiased). ``'inception'``: the shorter side is resized to
        ``image_size`` · 256 / 224, the centre is cropped, mean and standard deviation are 0.5 whatever is passed.
    normalize_mean, normalize_std : sequence of float
        Red, green and blue in [0, 1] are normalised as (value − mean) / std.

    Returns
    -------
    ndarray of float32, images × 3 × image_size × image_size

    Raises
    ------
    UserError
        If a file is not an image.

    Examples
    --------
    >>> import functools
    >>> preprocessing = functools.partial(load_preprocess_images, image_size=224)
    """
    preprocessing = _preprocessing(image_size, preprocess_type, normalize_mean, normalize_std)
    return preprocessing(image_filepaths)


def load_images(image_filepaths: Iterable[str | os.PathLike[str]]) -> "list[Image]":
    """Read images as RGB; see :func:`load_image`."""
    return [load_image(path) for path in image_filepaths]


def load_image(image_filepath: str | os.PathLike[str]) -> "Image":
    """Read an image as RGB: grey levels are copied to all channels, palettes are resolved, transparency is dropped.

    Raises
    ------
    UserError
        If the file cannot be read as an image, or its levels are not of 8 bits.
    """
    from PIL import Image

    try:
        with open_image(image_filepath) as opened:
            mode = opened.mode
            if not mode.startswith(_DEEP_MODES):
                return opened.convert("RGB")  # also copies RGB images; reads the file
    except (OSError, Image.DecompressionBombError) as error:
        raise UserError(
            f"the stimulus {os.fspath(image_filepath)} cannot be read as an image: {error}",
            remedy="show videos to a network that takes clips (frame_rate of brainscore.wrap_model)"
            if is_video(image_filepath)
            else "check that the file exists and is complete",
        ) from error
    raise UserError(
        f"the stimulus {os.fspath(image_filepath)} has pixels of mode {mode!r}, not of 8 bits per channel",
        remedy="save it with 8 bits per channel",
    )


def preprocess_images(images: "Iterable[Image]", image_size: int, **kwargs: Any) -> NDArray[np.float32]:
    """Resize and normalise Pillow images; arguments and result as of :func:`load_preprocess_images`.

    Examples
    --------
    >>> from PIL import Image
    >>> preprocess_images([Image.new("RGB", (10, 20))], image_size=8).shape
    (1, 3, 8, 8)
    """
    preprocessing = _preprocessing(image_size, **kwargs)
    return _stacked([preprocessing.image(_rgb(image)) for image in images])


def as_image_preprocessing(preprocessing: Any) -> ImagePreprocessing | None:
    """Convert ``partial(load_preprocess_images, …)`` to :class:`ImagePreprocessing`; None for other functions."""
    if isinstance(preprocessing, ImagePreprocessing):
        return preprocessing
    if isinstance(preprocessing, partial) and preprocessing.func is load_preprocess_images and not preprocessing.args:
        return _preprocessing(**preprocessing.keywords) if "image_size" in preprocessing.keywords else None
    return None


def _preprocessing(
    image_size: int,
    preprocess_type: str = "imagenet",
    normalize_mean: Sequence[float] = IMAGENET_MEAN,
    normalize_std: Sequence[float] = IMAGENET_STD,
) -> ImagePreprocessing:
    kind = preprocess_type.lower()
    if kind == "imagenet":
        return ImagePreprocessing(resize=(image_size, image_size), mean=tuple(normalize_mean), std=tuple(normalize_std))
    if kind == "inception":
        return ImagePreprocessing(resize=int(image_size * 256 / 224), crop=image_size, mean=_HALF, std=_HALF)
    raise ValueError(f"preprocess_type is {preprocess_type!r}, not 'imagenet' or 'inception'")


def _rgb(image: "Image") -> "Image":
    return image if image.mode == "RGB" else image.convert("RGB")


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    height, width = (size, size) if isinstance(size, int) else size
    return int(height), int(width)


def _resized(size: tuple[int, int], to: int | tuple[int, int]) -> tuple[int, int]:
    """Width and height after resizing."""
    if not isinstance(to, int):
        return to[1], to[0]
    width, height = size
    short, long = min(size), max(size)
    longer = int(to * long / short)
    return (to, longer) if width <= height else (longer, to)


def _linearly_resized(image: "Image", size: tuple[int, int]) -> "Image":
    """Resize to width and height with the integers that OpenCV computes with: weights of 11 bits, sums of 15 bits."""
    from PIL import Image

    levels = np.asarray(image, dtype=np.int32)
    first, second, near, far = _neighbours(levels.shape[1], size[0])
    rows = (levels[:, first] * near[:, np.newaxis] + levels[:, second] * far[:, np.newaxis]) >> 4
    first, second, near, far = (values.reshape(-1, 1, 1) for values in _neighbours(levels.shape[0], size[1]))
    upper, lower = rows[first[:, 0, 0]] * near >> 16, rows[second[:, 0, 0]] * far >> 16
    return Image.fromarray(((upper + lower + 2) >> 2).astype(np.uint8))


def _neighbours(now: int, then: int) -> tuple[NDArray[np.int32], ...]:
    """Two pixels for each pixel of the result, and their weights."""
    places = np.float32((np.arange(then) + 0.5) * (now / then) - 0.5)
    first = np.floor(places).astype(np.int32)
    share = np.where((first < 0) | (first >= now - 1), np.float32(0), places - first.astype(np.float32))
    near, far = (np.rint(part * np.float32(2048)).astype(np.int32) for part in (1 - share, share))
    return np.clip(first, 0, now - 1), np.clip(first + 1, 0, now - 1), near, far


def _stacked(arrays: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise UserError(
            f"the images have different sizes after preprocessing: {', '.join(map(str, sorted(shapes)))}",
            remedy="resize them to one height and width, or crop them",
        )
    return np.stack(arrays) if arrays else np.empty((0, 3, 0, 0), dtype=np.float32)


_IGNORED = {"ToTensor", "MaybeToTensor", "PILToTensor", "ToImage", "ConvertImageDtype"}


class AppliedTransform:
    """Applies a function from one Pillow image to an array or tensor to image files.

    Parameters
    ----------
    transform : callable
        Pillow image (RGB) → array or tensor.

    Examples
    --------
    >>> import numpy as np
    >>> preprocessing = AppliedTransform(np.asarray)
    """

    def __init__(self, transform: Callable[[Any], Any]) -> None:
        self.transform = transform

    def __call__(self, paths: Sequence[Any]) -> list[Any]:
        """Apply the transform to each file."""
        return [self.transform(load_image(path)) for path in paths]


def from_transforms(transforms: Any) -> ImagePreprocessing | AppliedTransform:
    """Make preprocessing from transforms of torchvision or timm.

    Parameters
    ----------
    transforms : callable
        ``weights.transforms()``, a ``Compose`` of resizing, cropping and normalisation, or any function from a Pillow
        image to a tensor.

    Returns
    -------
    ImagePreprocessing or AppliedTransform
        The former if settings describe the transforms completely.
    """
    if all(hasattr(transforms, name) for name in ("crop_size", "resize_size", "mean", "std", "interpolation")):
        return ImagePreprocessing(
            resize=_size(transforms.resize_size),
            crop=_size(transforms.crop_size),
            interpolation=_filter(transforms.interpolation),
            mean=tuple(transforms.mean),
            std=tuple(transforms.std),
        )
    steps = getattr(transforms, "transforms", None)
    settings = _preprocessing_of_steps(steps) if isinstance(steps, list | tuple) else None
    return AppliedTransform(transforms) if settings is None else ImagePreprocessing(**settings)


def from_settings(settings: Mapping[str, Any]) -> ImagePreprocessing:
    """Make preprocessing from the settings in a ``preprocessor_config.json`` of Hugging Face.

    Parameters
    ----------
    settings : mapping
        ``size``, ``crop_size``, ``resample``, ``image_mean``, ``image_std``, ``rescale_factor`` and the steps to apply
        (``do_resize``, ``do_center_crop``, ``do_rescale``, ``do_normalize``).

    Raises
    ------
    UserError
        If a setting is not supported.

    Examples
    --------
    >>> from_settings({"do_resize": True, "size": {"height": 224, "width": 224}, "resample": 2}).shape
    (3, 224, 224)
    """
    if settings.get("do_rescale", True) and abs(settings.get("rescale_factor", 1 / 255) * 255 - 1) > 1e-6:
        raise _unknown(f"rescale_factor {settings['rescale_factor']}")
    if not settings.get("do_rescale", True):
        raise _unknown("do_rescale false")
    if settings.get("do_pad"):
        raise _unknown("do_pad")
    resize: int | tuple[int, int] | None = None
    if settings.get("do_resize", False):
        size = settings.get("size")
        if isinstance(size, int):
            resize = (size, size) if settings.get("crop_pct") is None and not settings.get("do_center_crop") else size
        elif isinstance(size, Mapping) and set(size) == {"height", "width"}:
            resize = (int(size["height"]), int(size["width"]))
        elif isinstance(size, Mapping) and set(size) == {"shortest_edge"}:
            resize = int(size["shortest_edge"])
        else:
            raise _unknown(f"size {size}")
        if settings.get("crop_pct") is not None:
            raise _unknown("crop_pct")
    crop: int | tuple[int, int] | None = None
    if settings.get("do_center_crop"):
        wanted = settings.get("crop_size", settings.get("size"))
        crop = (int(wanted["height"]), int(wanted["width"])) if isinstance(wanted, Mapping) else int(wanted)
    normal = settings.get("do_normalize", False)
    return ImagePreprocessing(
        resize=resize,
        crop=crop,
        interpolation=_filter(settings.get("resample", 2)),
        mean=tuple(settings["image_mean"]) if normal else (0.0, 0.0, 0.0),
        std=tuple(settings["image_std"]) if normal else (1.0, 1.0, 1.0),
    )


def _preprocessing_of_steps(steps: Sequence[Any]) -> dict[str, Any] | None:
    settings: dict[str, Any] = {"mean": (0.0, 0.0, 0.0), "std": (1.0, 1.0, 1.0)}
    order = []
    for step in steps:
        name = type(step).__name__
        if name == "Resize":
            settings |= {"resize": _size(step.size), "interpolation": _filter(step.interpolation)}
            if getattr(step, "max_size", None) is not None:
                return None
        elif name == "CenterCrop":
            settings["crop"] = _size(step.size)
        elif name == "Normalize":
            settings |= {"mean": tuple(map(float, step.mean)), "std": tuple(map(float, step.std))}
        elif name not in _IGNORED:
            return None
        order.append("ToTensor" if name in _IGNORED else name)
    known = [name for name in ("Resize", "CenterCrop", "ToTensor", "Normalize") if name in order]
    return settings if order == known and "ToTensor" in order else None


def _size(size: Any) -> int | tuple[int, int]:
    if isinstance(size, int):
        return size
    sides = [int(side) for side in size]
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def _filter(interpolation: Any) -> str:
    """Name of a filter from torchvision's enumeration, Pillow's number, or its name."""
    value = getattr(interpolation, "value", interpolation)
    names = {number: name for name, number in FILTERS.items()}
    name = names.get(value, value)
    if name not in FILTERS:
        raise _unknown(f"interpolation {interpolation}")
    return str(name)


def _unknown(what: str) -> UserError:
    return UserError(f"the preprocessing setting {what} is not supported", remedy="pass preprocessing yourself")
