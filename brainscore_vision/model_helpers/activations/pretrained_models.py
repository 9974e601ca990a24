"""Models of torchvision, timm and transformers, with their own preprocessing."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError, nearest
from brainscore_vision.model_helpers.activations.preprocessing import (
    AppliedTransform,
    ImagePreprocessing,
    ImageProcessor,
    describe_preprocessing,
    from_settings,
    from_transforms,
)
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.libraries import library


def as_preprocessing(preprocessing: Any) -> Any:
    """Make a function from file paths to a network's input of what a library describes its preprocessing with.

    Such are weights of torchvision (``ResNet50_Weights.DEFAULT``) or their transforms, transforms of timm or a module
    of PyTorch, which get a Pillow image, an image processor of transformers or its settings, or a function of file
    paths, which is returned unchanged. A UserError if it is not one of these, or settings are not supported.

    Examples
    --------
    >>> as_preprocessing({"do_resize": True, "size": {"height": 96, "width": 96}, "resample": 2}).shape
    (3, 96, 96)
    """
    if isinstance(preprocessing, ImagePreprocessing):
        return preprocessing
    # processors for images and text, and their settings, have an image processor
    preprocessing = getattr(preprocessing, "image_processor", preprocessing)
    if isinstance(preprocessing, Mapping):
        preprocessing = preprocessing.get("image_processor", preprocessing)
        kind = preprocessing.get("image_processor_type") or preprocessing.get("feature_extractor_type")
        if kind is None:
            return from_settings(preprocessing)
        preprocessing = _image_processor_class(str(kind)).from_dict(dict(preprocessing))
    transformers = sys.modules.get("transformers")  # there is no image processor without it
    if transformers is not None and isinstance(preprocessing, transformers.ImageProcessingMixin):
        return AppliedTransform(ImageProcessor(preprocessing))
    steps = getattr(preprocessing, "transforms", None)
    if callable(steps):  # of weights, whose transforms have to be made
        return from_transforms(steps())
    torch = sys.modules.get("torch")
    is_module = torch is not None and isinstance(preprocessing, torch.nn.Module)
    if steps is not None or is_module or type(preprocessing).__module__.startswith(_TRANSFORMS):
        return from_transforms(preprocessing)
    if not callable(preprocessing):
        raise UserError(
            f"a {type(preprocessing).__name__} is not preprocessing",
            remedy="pass transforms of torchvision or timm, an image processor of transformers, or a function of a "
            "list of file paths that returns the network's input",
        )
    return preprocessing


_TRANSFORMS = ("torchvision.transforms", "timm.data")


def _image_processor_class(name: str) -> Any:
    kind = getattr(library("transformers", needed_by=name), name.replace("FeatureExtractor", "ImageProcessor"), None)
    if not hasattr(kind, "from_dict") or "Auto" in name:
        raise UserError(
            f"transformers has no image processor {name!r}",
            remedy="pass the image processor itself, AutoImageProcessor.from_pretrained(..., trust_remote_code=True)",
        )
    return kind


def own_preprocessing(network: Any) -> tuple[Any, str] | None:
    """Preprocessing that a network of timm or transformers describes itself.

    Returned with a sentence about it; None if the network does not describe it, as in torchvision and for networks of
    transformers with random weights. A UserError if the description cannot be read or is not supported.
    """
    described = getattr(network, "pretrained_cfg", None)
    if described and any(base.__module__.startswith("timm.") for base in type(network).__mro__):
        preprocessing, source = _of_timm(network), "as configured in timm"
    else:
        name = getattr(getattr(network, "config", None), "name_or_path", None)
        if not name or not isinstance(name, str):
            return None
        preprocessing, source = repository_preprocessing(name), f"as by the image processor of {name}"
    return preprocessing, f"preprocessing {source}: {describe_preprocessing(preprocessing)}"


def _of_timm(network: Any, img_size: int | tuple[int, int] | None = None) -> ImagePreprocessing | AppliedTransform:
    """The transforms that timm makes for a network; by default for images of the size that it was made for."""
    from timm.data import create_transform, resolve_model_data_config

    config = resolve_model_data_config(network)
    patches = getattr(network, "patch_embed", None)
    if img_size is None:
        img_size = getattr(patches if getattr(patches, "strict_img_size", False) else network, "img_size", None)
    if img_size is not None:
        height, width = (img_size, img_size) if isinstance(img_size, int) else img_size
        config["input_size"] = (config["input_size"][0], height, width)
    return from_transforms(create_transform(**config, is_training=False))


def repository_preprocessing(name: str, **options: Any) -> AppliedTransform:
    """Preprocessing by the image processor of a repository or folder of Hugging Face.

    `options` are those of ``transformers.AutoImageProcessor.from_pretrained``, such as ``revision``. A UserError if
    there is no image processor, or it cannot be read.
    """
    try:
        processor = library("transformers", needed_by=name).AutoImageProcessor.from_pretrained(name, **options)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        raise UserError(
            f"the image processor of {name!r} cannot be read: {error}",
            remedy="pass preprocessing=AutoImageProcessor.from_pretrained(...), or that of a similar model",
        ) from error
    return AppliedTransform(ImageProcessor(processor))


def from_torchvision(
    model: Any, identifier: str | None = None, *, weights: Any = None, transforms: Any = None, **options: Any
) -> PytorchWrapper:
    """Make an activations model from a model of torchvision.

    `model`: name as in ``torchvision.models.list_models()``, or a model; torchvision is imported for a name only.
    `identifier`: name of the model; by default its name in the library. `weights`: weights that `model` has or, if it
    is a name, gets, such as ``'IMAGENET1K_V1'``; by default none. `transforms`: preprocessing of images; by default
    that of `weights`; without weights, both sides are resized to 224. `**options`: options of
    :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`. A UserError if torchvision is needed
    and cannot be imported, or has no such model or weights.

    Examples
    --------
    >>> activations_model = from_torchvision("resnet18", weights="IMAGENET1K_V1")  # doctest: +SKIP
    """
    if isinstance(model, str):
        models = library("torchvision.models", needed_by=model)
        identifier = identifier or model
        with _naming("torchvision", model, models.list_models):
            if isinstance(weights, str):
                weights = models.get_weight(weights) if "." in weights else _weights(models, model, weights)
            model = models.get_model(model, weights=weights)
    if transforms is None and hasattr(weights, "transforms"):
        transforms = weights.transforms()
    preprocessing = ImagePreprocessing(resize=(224, 224)) if transforms is None else as_preprocessing(transforms)
    return PytorchWrapper(model, preprocessing, identifier, **options)


@contextmanager
def _naming(library: str, name: str, known_names: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Turn a library's errors about the name of a model or its weights into a UserError."""
    try:
        yield
    except OSError:  # weights cannot be fetched
        raise
    except (KeyError, RuntimeError, ValueError) as error:
        plain, names = name.partition(".")[0], list(known_names())
        near = [] if plain in names else nearest(plain, names, limit=2)
        raise UserError(
            f"{library} cannot make {name!r}: {error}",
            remedy=f"did you mean {' or '.join(map(repr, near))}?" if near else "check the name and the weights",
        ) from error


def _weights(models: Any, model: str, name: str) -> Any:
    enumeration = models.get_model_weights(model)
    if name not in enumeration.__members__:
        raise UserError(f"{model} has no weights {name!r}", remedy=f"it has {', '.join(enumeration.__members__)}")
    return enumeration[name]


def from_timm(
    model: Any,
    identifier: str | None = None,
    *,
    pretrained: bool = True,
    img_size: int | tuple[int, int] | None = None,
    **options: Any,
) -> PytorchWrapper:
    """Make an activations model from a model of timm, with the preprocessing of the model.

    `model`: name as in ``timm.list_models()``, or a model made by timm. `identifier`: name of the model; by default its
    name in the library. `pretrained`: whether weights are fetched if `model` is a name. `img_size`: height and width of
    the network's input, for which a network that `model` names is made, if it has to be made for one size. By default
    that of the weights or of `model`. `**options`: options of
    :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`. A UserError if timm cannot be
    imported, or has no such model.

    Examples
    --------
    >>> activations_model = from_timm("resnet18", pretrained=False)  # doctest: +SKIP
    """
    timm = library("timm", needed_by=str(model if isinstance(model, str) else identifier))
    if isinstance(model, str):
        identifier = identifier or model
        with _naming("timm", model, timm.list_models):
            try:
                model = timm.create_model(model, pretrained=pretrained, img_size=img_size)  # timm drops None
            except TypeError as error:
                if "img_size" not in str(error):
                    raise
                model = timm.create_model(model, pretrained=pretrained)  # it takes images of any size
    identifier = identifier or getattr(model, "pretrained_cfg", {}).get("architecture")
    return PytorchWrapper(model, _of_timm(model, img_size), identifier, **options)


def from_huggingface(
    model: Any, processor: Any = None, identifier: str | None = None, *, preprocessing: Any = None, **options: Any
) -> PytorchWrapper:
    """Make an activations model from a vision model of transformers.

    `model`: name on the hub, or folder (loaded by ``AutoModel``), or the model. Of a model of images and text, the
    image tower runs. `processor`: preprocessing: the image processor, its settings, or ``preprocessor_config.json``. By
    default that of `model`, which must then be a name or folder. `identifier`: name of the model; by default its name
    on the hub. `preprocessing`: instead of `processor`: list of paths → tensor. `**options`: options of
    :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`. Result: a PytorchWrapper of outputs
    with several tensors, ``last_hidden_state`` is recorded if it exists, else the first tensor. A UserError if the
    model cannot be read, or the preprocessing is missing or not supported.

    Notes
    -----
    An image processor is called with each image. Settings without the name of their image processor are applied with
    Pillow, antialiased.

    Examples
    --------
    >>> activations_model = from_huggingface("facebook/dinov2-base")  # doctest: +SKIP
    """
    if isinstance(model, str):
        import transformers

        name = model
        identifier = identifier or name.rsplit("/", 1)[-1]
        if preprocessing is None and processor is None:
            preprocessing = repository_preprocessing(name)
        try:
            model = transformers.AutoModel.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise UserError(
                f"the model {name!r} cannot be read: {error}", remedy="check its name or folder, and the connection"
            ) from error
    if isinstance(processor, str | Path):
        path = Path(processor)
        try:
            processor = json.loads((path / "preprocessor_config.json" if path.is_dir() else path).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(
                f"the settings of the image processor {str(path)!r} cannot be read: {error}",
                remedy="pass the path of its preprocessor_config.json, or AutoImageProcessor.from_pretrained(...)",
            ) from error
    if preprocessing is None:
        if processor is None:
            raise UserError("the preprocessing of images is not known", remedy="pass processor or preprocessing")
        preprocessing = as_preprocessing(processor)
    return PytorchWrapper(model, preprocessing, identifier or type(model).__name__, **options)
