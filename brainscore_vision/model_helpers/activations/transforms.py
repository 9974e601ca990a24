"""Other libraries' preprocessing, read from its settings where it can be, so that theirs need not run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import FILTERS, ImagePreprocessing, load_image

__all__ = ["AppliedTransform", "from_settings", "from_transforms"]

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
        """One entry a file."""
        return [self.transform(load_image(path)) for path in paths]


def from_transforms(transforms: Any) -> ImagePreprocessing | AppliedTransform:
    """Preprocessing of torchvision's or timm's transforms.

    Parameters
    ----------
    transforms : callable
        ``weights.transforms()``, a ``Compose`` of resizing, cropping and normalisation, or any function from a Pillow
        image to a tensor.

    Returns
    -------
    ImagePreprocessing or AppliedTransform
        The first where its settings say all it does.
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
    settings = _of_steps(steps) if isinstance(steps, list | tuple) else None
    return AppliedTransform(transforms) if settings is None else ImagePreprocessing(**settings)


def from_settings(settings: Mapping[str, Any]) -> ImagePreprocessing:
    """Preprocessing of a ``preprocessor_config.json`` of Hugging Face.

    Parameters
    ----------
    settings : mapping
        ``size``, ``crop_size``, ``resample``, ``image_mean``, ``image_std``, ``rescale_factor`` and what is done
        (``do_resize``, ``do_center_crop``, ``do_rescale``, ``do_normalize``).

    Raises
    ------
    UserError
        If it asks for what is not known here.

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


def _of_steps(steps: Sequence[Any]) -> dict[str, Any] | None:
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
    """Name of a filter, from torchvision's enumeration, Pillow's number or its name."""
    value = getattr(interpolation, "value", interpolation)
    names = {number: name for name, number in FILTERS.items()}
    name = names.get(value, value)
    if name not in FILTERS:
        raise _unknown(f"interpolation {interpolation}")
    return str(name)


def _unknown(what: str) -> UserError:
    return UserError(
        f"the preprocessing asks for {what}, which is not known here", remedy="pass preprocessing yourself"
    )
