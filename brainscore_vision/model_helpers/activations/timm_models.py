"""Models of timm."""

from typing import Any

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper

__all__ = ["from_timm"]


def from_timm(model: Any, identifier: str | None = None, *, pretrained: bool = True, **options: Any) -> PytorchWrapper:
    """Make a model of timm an activations model, with the preprocessing that belongs to it.

    Parameters
    ----------
    model : str or torch.nn.Module
        Name as in ``timm.list_models()``, or a model made by timm.
    identifier : str, optional
        Name of the model; by default its name there.
    pretrained : bool
        Whether weights are fetched, where `model` is a name.
    **options
        Of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

    Returns
    -------
    PytorchWrapper

    Raises
    ------
    UserError
        If timm cannot be imported, or the model is prepared for in a way that is not known here.

    Examples
    --------
    >>> activations_model = from_timm("resnet18", pretrained=False)  # doctest: +SKIP
    """
    try:
        import timm
        from timm.data import resolve_model_data_config
    except (ImportError, RuntimeError) as error:  # a torchvision built for another torch raises a RuntimeError
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
            f"the model's images are cropped by {mode!r} to {height} × {width}, which is not known here",
            remedy="make a PytorchWrapper with the preprocessing of timm.data.create_transform",
        )
    return ImagePreprocessing(
        resize=resize,
        crop=(height, width),
        interpolation=config["interpolation"],
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
    )
