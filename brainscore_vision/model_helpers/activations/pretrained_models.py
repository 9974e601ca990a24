"""Models of torchvision, timm and transformers, with their own preprocessing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing, from_settings, from_transforms
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper

__all__ = ["as_preprocessing", "from_huggingface", "from_timm", "from_torchvision", "own_preprocessing"]


def as_preprocessing(preprocessing: Any) -> Any:
    """Make a function from file paths to a network's input of what a library describes its preprocessing with.

    Parameters
    ----------
    preprocessing : object
        Weights of torchvision (``ResNet50_Weights.DEFAULT``) or their transforms, transforms of timm, an image
        processor of transformers or its settings, or a function of file paths, which is returned unchanged.

    Examples
    --------
    >>> as_preprocessing({"do_resize": True, "size": {"height": 96, "width": 96}, "resample": 2}).shape
    (3, 96, 96)
    """
    if isinstance(preprocessing, ImagePreprocessing):
        return preprocessing
    if isinstance(preprocessing, Mapping) or hasattr(preprocessing, "image_processor"):
        return from_settings(_settings(preprocessing))
    if hasattr(preprocessing, "to_dict") and hasattr(preprocessing, "do_resize"):
        return from_settings(_settings(preprocessing))
    made = getattr(preprocessing, "transforms", None)
    if callable(made):  # of weights, whose transforms have to be made
        return from_transforms(made())
    if made is not None or type(preprocessing).__module__.startswith(("torchvision.transforms", "timm.data")):
        return from_transforms(preprocessing)
    if not callable(preprocessing):
        raise UserError(
            f"a {type(preprocessing).__name__} is not preprocessing",
            remedy="pass transforms of torchvision or timm, an image processor of transformers, or a function of a "
            "list of file paths that returns the network's input",
        )
    return preprocessing


def own_preprocessing(network: Any) -> tuple[Any, str] | None:
    """Preprocessing that a network of timm or transformers describes itself.

    Returns
    -------
    tuple of (callable, str) or None
        Preprocessing and a sentence about it; None if the network does not describe it, as in torchvision and for
        networks of transformers with random weights.

    Raises
    ------
    UserError
        If it has a description that cannot be read or is not supported.
    """
    described = getattr(network, "pretrained_cfg", None)
    if isinstance(described, Mapping) and {"input_size", "mean", "std"} <= set(described):
        preprocessing = _preprocessing({"interpolation": "bicubic", **described})
        source = "as configured in timm"
    else:
        name = getattr(getattr(network, "config", None), "name_or_path", None)
        if not name or not isinstance(name, str):
            return None
        from transformers.image_processing_utils import BaseImageProcessor

        try:
            settings = BaseImageProcessor.get_image_processor_dict(name)[0]
        except (OSError, ValueError) as error:
            raise UserError(
                f"the image processor of {name!r} cannot be read: {error}",
                remedy="pass preprocessing=AutoImageProcessor.from_pretrained(...), or that of a similar model",
            ) from error
        preprocessing, source = from_settings(settings), f"as by the image processor of {name}"
    shape = preprocessing.shape
    size = f" to {shape[1]} × {shape[2]} pixels" if shape else ""
    return preprocessing, f"images are resized, cropped{size} and normalised {source}"


def from_torchvision(
    model: Any, identifier: str | None = None, *, weights: Any = None, transforms: Any = None, **options: Any
) -> PytorchWrapper:
    """Make an activations model from a model of torchvision.

    Parameters
    ----------
    model : str or torch.nn.Module
        Name as in ``torchvision.models.list_models()``, or a model; torchvision is imported for a name only.
    identifier : str, optional
        Name of the model; by default its name in the library.
    weights : str or torchvision.models.Weights, optional
        Weights that `model` has or, if it is a name, gets, such as ``'IMAGENET1K_V1'``; by default none.
    transforms : callable, optional
        Preprocessing of images; by default that of `weights`; without weights, both sides are resized to 224.
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Returns
    -------
    PytorchWrapper

    Raises
    ------
    UserError
        If torchvision is needed and cannot be imported.

    Examples
    --------
    >>> activations_model = from_torchvision("resnet18", weights="IMAGENET1K_V1")  # doctest: +SKIP
    """
    if isinstance(model, str):
        try:
            from torchvision.models import get_model, get_weight
        except (ImportError, RuntimeError) as error:  # RuntimeError: torchvision was built for another torch
            raise UserError(
                f"torchvision cannot be imported: {error}",
                remedy="install torch and torchvision from the same index, or pass the model itself",
            ) from error
        identifier = identifier or model
        if isinstance(weights, str):
            weights = get_weight(weights) if "." in weights else _weights(model, weights)
        model = get_model(model, weights=weights)
    if transforms is None and hasattr(weights, "transforms"):
        transforms = weights.transforms()
    preprocessing = ImagePreprocessing(resize=(224, 224)) if transforms is None else from_transforms(transforms)
    return PytorchWrapper(model, preprocessing, identifier, **options)


def _weights(model: str, name: str) -> Any:
    from torchvision.models import get_model_weights

    known = get_model_weights(model)
    if name not in known.__members__:
        raise UserError(f"{model} has no weights {name!r}", remedy=f"it has {', '.join(known.__members__)}")
    return known[name]


def from_timm(model: Any, identifier: str | None = None, *, pretrained: bool = True, **options: Any) -> PytorchWrapper:
    """Make an activations model from a model of timm, with the preprocessing of the model.

    Parameters
    ----------
    model : str or torch.nn.Module
        Name as in ``timm.list_models()``, or a model made by timm.
    identifier : str, optional
        Name of the model; by default its name in the library.
    pretrained : bool
        Whether weights are fetched if `model` is a name.
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Returns
    -------
    PytorchWrapper

    Raises
    ------
    UserError
        If timm cannot be imported, or the model's preprocessing is not supported.

    Examples
    --------
    >>> activations_model = from_timm("resnet18", pretrained=False)  # doctest: +SKIP
    """
    try:
        import timm
        from timm.data import resolve_model_data_config
    except (ImportError, RuntimeError) as error:  # RuntimeError: torchvision was built for another torch
        raise UserError(
            f"timm cannot be imported: {error}",
            remedy="pip install 'brainscore[models]', with torch and torchvision from the same index",
        ) from error
    if isinstance(model, str):
        identifier = identifier or model
        model = timm.create_model(model, pretrained=pretrained)
    identifier = identifier or getattr(model, "pretrained_cfg", {}).get("architecture")
    preprocessing = _preprocessing(resolve_model_data_config(model))
    return PytorchWrapper(model, preprocessing, identifier, **options)


def _preprocessing(config: dict[str, Any]) -> ImagePreprocessing:
    height, width = config["input_size"][1:]
    mode, share = config.get("crop_mode", "center"), config.get("crop_pct") or 0.875
    resized = (int(height / share), int(width / share))
    if mode == "squash":
        resize: int | tuple[int, int] = resized
    elif mode == "center" and resized[0] == resized[1]:
        resize = resized[0]
    else:
        raise UserError(
            f"the model's images are cropped by {mode!r} to {height} × {width}, which is not supported",
            remedy="score the network with preprocessing=timm.data.create_transform(...)",
        )
    return ImagePreprocessing(
        resize=resize,
        crop=(height, width),
        interpolation=config["interpolation"],
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
    )


def from_huggingface(
    model: Any, processor: Any = None, identifier: str | None = None, *, preprocessing: Any = None, **options: Any
) -> PytorchWrapper:
    """Make an activations model from a vision model of transformers.

    Parameters
    ----------
    model : str or torch.nn.Module
        Name on the hub, or folder (loaded by ``AutoModel``), or the model. For a model of images and text, pass the
        part for images, such as ``model.vision_model``.
    processor : image processor, mapping, path or None
        Preprocessing: the image processor, its settings, or ``preprocessor_config.json``. By default that of `model`,
        which must then be a name or folder.
    identifier : str, optional
        Name of the model; by default its name on the hub.
    preprocessing : callable, optional
        Instead of `processor`: list of paths → tensor.
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Returns
    -------
    PytorchWrapper
        Of outputs with several tensors, ``last_hidden_state`` is recorded if it exists, else the first tensor.

    Raises
    ------
    UserError
        If the preprocessing is missing or not supported.

    Notes
    -----
    Images are resized by Pillow, antialiased. Processors that resize tensors with torchvision round 8-bit levels
    differently.

    Examples
    --------
    >>> activations_model = from_huggingface("facebook/dinov2-base")  # doctest: +SKIP
    """
    if isinstance(model, str):
        import transformers

        name = model
        identifier = identifier or name.rsplit("/", 1)[-1]
        if preprocessing is None and processor is None:
            from transformers.image_processing_utils import BaseImageProcessor

            processor = BaseImageProcessor.get_image_processor_dict(name)[0]
        model = transformers.AutoModel.from_pretrained(name)
    if preprocessing is None:
        preprocessing = from_settings(_settings(processor))
    return PytorchWrapper(model, preprocessing, identifier or type(model).__name__, **options)


def _settings(processor: Any) -> Mapping[str, Any]:
    if processor is None:
        raise UserError("the preprocessing of images is not known", remedy="pass processor or preprocessing")
    if isinstance(processor, Mapping):
        return processor
    if isinstance(processor, str | Path):
        return dict(json.loads(Path(processor).read_text(encoding="utf-8")))
    image_processor = getattr(processor, "image_processor", processor)  # processors for images and text contain one
    return dict(image_processor.to_dict())
