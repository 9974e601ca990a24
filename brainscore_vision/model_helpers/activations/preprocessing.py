"""Preprocessing of image files: resizing, cropping and normalisation without torchvision.

Preprocessing of other libraries is called as it is. Only transforms whose steps are all known, and which give the same
arrays, are replaced by :class:`ImagePreprocessing`, which is faster.
"""

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.images import load_image

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

__all__ = [
    "AppliedTransform",
    "ImagePreprocessing",
    "ImageProcessor",
    "describe_preprocessing",
    "from_settings",
    "from_transforms",
    "load_image",
    "load_images",
    "load_preprocess_images",
    "pixel_values",
    "preprocess_images",
    "require_one_shape",
]

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
_HALF = (0.5, 0.5, 0.5)
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
    margins : {'nearest', 'down'}
        How half pixels before a crop are rounded: to even numbers, as in torchvision, or down, as in transformers and
        always with ``'linear'``.

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
    margins: Literal["nearest", "down"] = "nearest"

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

    def describe(self) -> str:
        """Say in words what is done with an image."""
        steps = []
        how = (
            "between the four nearest pixels" if self.interpolation == _LINEAR else f"{self.interpolation}, antialiased"
        )
        if isinstance(self.resize, int):
            steps.append(f"resized so that the shorter side has {self.resize} pixels ({how})")
        elif self.resize is not None:
            steps.append(f"resized to {self.resize[0]} × {self.resize[1]} pixels ({how})")
        if self.crop is not None:
            height, width = _pair(self.crop)
            steps.append(f"cropped to {height} × {width} pixels around the centre")
        mean, std = (", ".join(f"{number:.4g}" for number in numbers) for numbers in (self.mean, self.std))
        return ", ".join([*steps, f"divided by 255, and normalised by mean ({mean}) and standard deviation ({std})"])

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
            left, top = map(self._margin, image.size, (width, height))
            image = image.crop((left, top, left + width, top + height))
        return np.asarray(image)

    def _margin(self, now: int, then: int) -> int:
        """Pixels before a crop; below 0 if the image is smaller, and gets a black margin."""
        margin = (now - then) / 2
        if self.interpolation == _LINEAR:
            return math.floor(margin)
        return int(margin) if self.margins == "down" or margin < 0 else round(margin)

    def _normalise(self, levels: NDArray[np.uint8], out: NDArray[np.float32]) -> None:
        for channel, table in enumerate(self.tables):
            np.take(table, levels[..., channel], out=out[channel], mode="clip")  # without a mode, NumPy makes a copy

    @cached_property
    def tables(self) -> NDArray[np.float32]:
        """Normalised values of the 256 levels, for each channel."""
        values = np.arange(256, dtype=np.float32) / np.float32(255)
        mean, std = (np.asarray(numbers, dtype=np.float32)[:, np.newaxis] for numbers in (self.mean, self.std))
        return (values - mean) / std


@lru_cache(maxsize=16)
def _tables_on(preprocessing: ImagePreprocessing, device: "torch.device") -> "torch.Tensor":
    """Tables on a device, which are copied there once: each copy would wait for all that the device computes."""
    import torch

    return torch.from_numpy(preprocessing.tables).to(device)


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
    return _preprocessing(image_size, preprocess_type, normalize_mean, normalize_std)(image_filepaths)


def load_images(image_filepaths: Iterable[str | os.PathLike[str]]) -> "list[Image]":
    """Read images as RGB; see :func:`load_image`."""
    return [load_image(path) for path in image_filepaths]


def preprocess_images(images: "Iterable[Image]", image_size: int, **kwargs: Any) -> NDArray[np.float32]:
    """Resize and normalise Pillow images; arguments and result as of :func:`load_preprocess_images`.

    Examples
    --------
    >>> from PIL import Image
    >>> preprocess_images([Image.new("RGB", (10, 20))], image_size=8).shape
    (1, 3, 8, 8)
    """
    preprocessing = _preprocessing(image_size, **kwargs)
    return _stacked([preprocessing.image(image if image.mode == "RGB" else image.convert("RGB")) for image in images])


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
    positions = np.float32((np.arange(then) + 0.5) * (now / then) - 0.5)
    first = np.floor(positions).astype(np.int32)
    share = np.where((first < 0) | (first >= now - 1), np.float32(0), positions - first.astype(np.float32))
    near, far = (np.rint(weight * np.float32(2048)).astype(np.int32) for weight in (1 - share, share))
    return np.clip(first, 0, now - 1), np.clip(first + 1, 0, now - 1), near, far


def _stacked(arrays: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    require_one_shape(arrays)
    return np.stack(arrays) if arrays else np.empty((0, 3, 0, 0), dtype=np.float32)


def require_one_shape(images: Sequence[Any]) -> None:
    """Check that what preprocessing made of each image is an array or tensor, all of one shape.

    A UserError if not.

    Examples
    --------
    >>> require_one_shape([np.zeros((3, 8, 8)), np.zeros((3, 8, 8))])
    """
    for image in images:
        if not hasattr(image, "shape") and not isinstance(image, list | tuple | float | int):
            raise UserError(
                f"preprocessing returns a {_name_of(type(image))} of an image, not an array or a tensor",
                remedy="return arrays or tensors, such as those of ToTensor(), or pixel_values of an image processor",
            )
    shapes = {tuple(np.shape(image)) for image in images}
    if len(shapes) > 1:
        raise UserError(
            f"the images have different sizes after preprocessing: {', '.join(map(str, sorted(shapes)))}",
            remedy="resize them to one height and width, or crop them",
        )


class AppliedTransform:
    """Applies a function of one Pillow image, such as transforms of a library, to image files.

    `transform`: pillow image (RGB) → array or tensor, channels × height × width.

    Examples
    --------
    >>> import numpy as np
    >>> preprocessing = AppliedTransform(lambda image: np.moveaxis(np.asarray(image), 2, 0))
    """

    def __init__(self, transform: Callable[[Any], Any]) -> None:
        self.transform = transform

    def __call__(self, paths: Sequence[Any]) -> list[Any]:
        """Apply the transform to each file.

        A UserError if a file is not an image, or the transform fails or does not return an array or a tensor.
        """
        return [self.image(load_image(path), f"the stimulus {path}") for path in paths]

    def image(self, image: "Image", source: str = "an image") -> Any:
        """Apply the transform to a Pillow image; `source` names it in errors."""
        name = _name_of(self.transform)
        try:
            prepared = self.transform(image)
        except UserError:
            raise
        except Exception as error:
            raise UserError(
                f"the preprocessing {name} fails on {source} ({type(error).__name__}: {error})",
                remedy="pass a function of a list of file paths that returns the network's input",
            ) from error
        prepared = pixel_values(prepared, name)
        if not hasattr(prepared, "shape"):
            raise UserError(
                f"the preprocessing {name} returns a {_name_of(type(prepared))}, not an array or a tensor",
                remedy="add ToTensor() to the transforms, or return an array",
            )
        return prepared

    def describe(self) -> str:
        """Say in words what is done with an image."""
        text = " ".join(str(self.transform).split())
        return f"each image is passed to {_name_of(self.transform)}" + ("" if " at 0x" in text else f": {text}")


class ImageProcessor:
    """Calls an image processor of transformers with one Pillow image."""

    def __init__(self, processor: Any) -> None:
        self.processor = processor

    def __call__(self, image: "Image") -> Any:
        """Return the image as it is passed to a network, channels × height × width.

        A UserError if the image processor makes something else than one image, such as several crops or sequences of
        patches.
        """
        inputs = self.processor(images=image, return_tensors="pt")
        name = type(self.processor).__name__
        values = pixel_values(inputs, name)
        is_image = values.ndim > 3  # otherwise patches, or crops of them
        while values.ndim > 3 and len(values) == 1:
            values = values[0]
        is_image = is_image and values.ndim == 3
        if not is_image or any(key.endswith("mask") and not mask.all() for key, mask in inputs.items()):
            raise UserError(
                f"{name} makes more than one array of channels × height × width of an image: "
                + ", ".join(f"{key} {tuple(np.shape(value))}" for key, value in inputs.items()),
                remedy="pass a function of a list of file paths that returns the network's input",
            )
        return values

    def __str__(self) -> str:
        return str(self.processor.to_dict())


def pixel_values(prepared: Any, source: str = "preprocessing") -> Any:
    """The images in what preprocessing returns: `prepared` itself, or ``pixel_values`` of a mapping.

    A UserError if a mapping has no ``pixel_values``.

    Examples
    --------
    >>> pixel_values({"pixel_values": [1.0]})
    [1.0]
    """
    if not isinstance(prepared, Mapping):
        return prepared
    if "pixel_values" not in prepared:
        raise UserError(
            f"{source} returns a mapping with {', '.join(map(str, prepared)) or 'nothing'}, without pixel_values",
            remedy="return the network's input as an array or a tensor, one entry for each path",
        )
    return prepared["pixel_values"]


def describe_preprocessing(preprocessing: Any) -> str:
    """Say in words what preprocessing does with an image.

    Examples
    --------
    >>> describe_preprocessing(load_images)
    'file paths are passed to brainscore_vision.model_helpers.activations.preprocessing.load_images'
    """
    described = as_image_preprocessing(preprocessing) or preprocessing
    if isinstance(described, ImagePreprocessing | AppliedTransform):
        return described.describe()
    return f"file paths are passed to {_name_of(described)}"


def _name_of(value: Any) -> str:
    """Name of a function or class, or of the class of an object, with its module."""
    value = value.processor if isinstance(value, ImageProcessor) else value
    named = value if hasattr(value, "__qualname__") else type(value)
    return named.__qualname__ if named.__module__ == "builtins" else f"{named.__module__}.{named.__qualname__}"


def from_transforms(transforms: Any) -> ImagePreprocessing | AppliedTransform:
    """Make preprocessing from transforms of torchvision or timm.

    `transforms` are ``weights.transforms()``, a ``Compose`` of resizing, cropping and normalisation, or any function
    from a Pillow image to a tensor. An ImagePreprocessing if all steps are known ones, and gives the same arrays of
    some images as `transforms`, which are then not needed any more. Otherwise `transforms` themselves are called.
    """
    applied = AppliedTransform(transforms)
    from_steps = _of_known_steps(transforms)
    return from_steps if from_steps is not None and _is_equal(from_steps, applied) else applied


def from_settings(settings: Mapping[str, Any]) -> ImagePreprocessing:
    """Make preprocessing from settings as in a ``preprocessor_config.json`` of Hugging Face.

    They are ``size``, ``crop_size``, ``resample``, ``image_mean``, ``image_std``, ``rescale_factor`` and the steps to
    apply (``do_resize``, ``do_center_crop``, ``do_rescale``, ``do_normalize``). A number as ``size`` is the shorter
    side if images are also cropped, else both sides. A UserError if there is any other setting that can change the
    pixels of an image.

    Examples
    --------
    >>> from_settings({"do_resize": True, "size": {"height": 224, "width": 224}, "resample": 2}).shape
    (3, 224, 224)
    """
    for name, value in settings.items():
        if name not in _STEPS | _VALUES | _WITHOUT_EFFECT and value is not None and value is not False:
            raise _unknown(f"{name} {value!r}")
    steps = {name for name in _STEPS if settings.get(name, name == "do_rescale")}
    scale = 255.0
    if "do_rescale" in steps and settings.get("rescale_factor") is not None:
        scale *= settings["rescale_factor"]
    elif "do_rescale" in steps:
        scale = 1.0
    normal = settings if "do_normalize" in steps else {"image_mean": 0.0, "image_std": 1.0}
    mean, std = (_channels(normal.get(name)) for name in ("image_mean", "image_std"))
    if min(std) <= 0:
        raise _unknown(f"image_std {std}")
    crop = settings.get("crop_size") or settings.get("size")
    return ImagePreprocessing(
        resize=_setting_of_size(settings.get("size"), "do_center_crop" in steps) if "do_resize" in steps else None,
        crop=_pair(_setting_of_size(crop, shorter_side=False)) if "do_center_crop" in steps else None,
        interpolation="bilinear" if settings.get("resample") is None else _filter(settings["resample"]),
        mean=tuple(number / scale for number in mean),
        std=tuple(number / scale for number in std),
        margins="down",
    )


_STEPS = {"do_resize", "do_center_crop", "do_rescale", "do_normalize"}
_VALUES = {"size", "crop_size", "resample", "rescale_factor", "image_mean", "image_std"}
_WITHOUT_EFFECT = {  # on the array of an RGB image
    *("do_convert_rgb", "input_data_format", "return_tensors", "device", "disable_grouping", "processor_class"),
    *("model_input_names", "use_fast"),
}


def _setting_of_size(size: Any, shorter_side: bool) -> int | tuple[int, int]:
    if isinstance(size, int):
        return size if shorter_side else (size, size)
    if isinstance(size, Mapping) and set(size) == {"height", "width"}:
        return int(size["height"]), int(size["width"])
    if isinstance(size, Mapping) and set(size) == {"shortest_edge"}:
        return int(size["shortest_edge"])
    raise _unknown(f"size {size!r}")


def _channels(values: Any) -> tuple[float, ...]:
    """Three numbers, one for each channel, of three numbers, one, or a sequence of one."""
    try:
        numbers = tuple(map(float, values)) if np.ndim(values) else (float(values),)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) not in (1, 3):
        raise _unknown(f"mean or standard deviation {values!r}")
    return numbers * (3 // len(numbers))


_LIBRARIES = (
    *("torchvision.transforms", "torchvision.transforms.v2", "torchvision.transforms._presets"),
    "timm.data.transforms",
)
_CONVERSIONS = ("ToTensor", "MaybeToTensor", "PILToTensor", "ConvertImageDtype", "ToImage", "ToDtype")
_ORDER = {"Resize": 0, "CenterCrop": 1, **dict.fromkeys(_CONVERSIONS, 2), "Normalize": 3, "ImageClassification": 4}
_PROBES = ((53, 37), (40, 64), (301, 200))  # widths and heights: smaller and larger than most crops


def _kind(step: Any) -> str:
    """Name of the class of a library's transform; empty for classes derived from it, which may do anything."""
    kind = type(step)
    libraries = (sys.modules.get(library) for library in _LIBRARIES)
    return kind.__name__ if any(getattr(library, kind.__name__, None) is kind for library in libraries) else ""


def _steps(transforms: Any) -> list[Any]:
    if _kind(transforms) != "Compose":
        return [transforms]
    return [step for inner in transforms.transforms for step in _steps(inner)]


def _of_known_steps(transforms: Any) -> ImagePreprocessing | None:
    """The settings of transforms; None if there is a step whose settings are not all known."""
    settings: dict[str, Any] = {"mean": (0.0,) * 3, "std": (1.0,) * 3}
    order = []
    for step in _steps(transforms):
        kind = _kind(step)
        if kind not in _ORDER or getattr(step, "max_size", None) is not None:
            return None
        order.append(_ORDER[kind])
        try:
            if kind in ("Resize", "ImageClassification"):
                size = step.size if kind == "Resize" else step.resize_size
                settings |= {"resize": _size(size), "interpolation": _filter(step.interpolation)}
            if kind in ("CenterCrop", "ImageClassification"):
                settings["crop"] = _size(step.size if kind == "CenterCrop" else step.crop_size)
            if kind in ("Normalize", "ImageClassification"):
                settings |= {"mean": _channels(step.mean), "std": _channels(step.std)}
        except (TypeError, UserError):
            return None
    if order != sorted(order) or any(order.count(number) > 1 for number in (0, 1, 3)):
        return None
    return ImagePreprocessing(**settings) if min(settings["std"]) > 0 else None


def _is_equal(described: ImagePreprocessing, applied: AppliedTransform) -> bool:
    """Whether both make the same arrays of some images."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for width, height in _PROBES:
        image = Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
        try:
            expected = np.asarray(applied.image(image))
        except UserError:
            return False
        values = described.image(image)
        tolerance = 1e-5 * np.abs(values).max()
        if values.shape != expected.shape or not np.allclose(values, expected, rtol=0, atol=tolerance):
            return False
    return True


def _size(size: Any) -> int | tuple[int, int]:
    sides = [int(side) for side in size] if isinstance(size, list | tuple) else [int(size)]
    return sides[0] if len(sides) == 1 else (sides[0], sides[1])


def _filter(interpolation: Any) -> str:
    """Name of a filter from torchvision's enumeration, Pillow's number, or its name."""
    value = getattr(interpolation, "value", interpolation)
    names = {number: name for name, number in FILTERS.items()}
    name = names.get(value, value)
    if name not in FILTERS:
        raise _unknown(f"interpolation {interpolation}")
    return str(name)


def _unknown(problem: str) -> UserError:
    return UserError(
        f"the preprocessing setting {problem} is not supported",
        remedy="pass the image processor or the transforms themselves, which are called, or a function of a list of "
        "file paths",
    )
