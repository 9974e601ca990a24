"""Models of torchvision."""

from typing import Any

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.activations.transforms import from_transforms

__all__ = ["from_torchvision"]


def from_torchvision(
    model: Any, identifier: str | None = None, *, weights: Any = None, transforms: Any = None, **options: Any
) -> PytorchWrapper:
    """Make a model of torchvision an activations model.

    Parameters
    ----------
    model : str or torch.nn.Module
        Name as in ``torchvision.models.list_models()``, or a model; torchvision is imported for a name only.
    identifier : str, optional
        Name of the model; by default its name there.
    weights : str or torchvision.models.Weights, optional
        Which weights `model` has or, where it is a name, gets, such as ``'IMAGENET1K_V1'``; by default none.
    transforms : callable, optional
        What is done to images. By default what belongs to `weights`; without weights, both sides are resized to 224.
    **options
        Of :class:`~brainscore_vision.model_helpers.activations.pytorch.PytorchWrapper`.

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
        except (ImportError, RuntimeError) as error:  # one built for another torch raises a RuntimeError
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
