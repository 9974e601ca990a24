"""ResNet-18 trained by local aggregation, as a subject."""

import os
from typing import TYPE_CHECKING, Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.weights import WeightFile, load_state_dict, read_checkpoint, state_dict_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

    from brainscore_vision.model_helpers.architectures.resnet import ResNet

__all__ = ["LAYERS", "WEIGHTS", "architecture", "load_network", "load_weights", "resnet18_local_aggregation", "subject"]

WEIGHTS: Final = WeightFile(
    name="resnet18-local_aggregation.pth",
    remark="It must hold a state dict with torchvision's names of ResNet-18, as it is or under 'state_dict'.",
)

LAYERS: Final = (
    "maxpool",
    *(f"layer{stage}.{block}" for stage in (1, 2, 3, 4) for block in (0, 1)),
    "avgpool",
)


def architecture(*, embedding: int = 128) -> "ResNet":
    """ResNet-18 with random weights, whose last layer is the embedding.

    Parameters
    ----------
    embedding : int
        Its width.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):
    ...     sum(parameter.numel() for parameter in architecture().parameters())
    11242176
    """
    from brainscore_vision.model_helpers.architectures.resnet import resnet18

    return resnet18(outputs=embedding)


def load_weights(module: "torch.nn.Module", path: str | os.PathLike[str]) -> None:
    """Put the weights of a file into `module`."""
    load_state_dict(module, _weights(path), source=os.fspath(path))


def load_network(path: str | os.PathLike[str]) -> "ResNet":
    """The network whose weights a file holds; its ``fc`` says how wide the embedding is.

    Raises
    ------
    UserError
        If the file holds the weights of another architecture.
    """
    weights = _weights(path)
    last = weights.get("fc.weight")
    network = architecture() if last is None else architecture(embedding=last.shape[0])
    load_state_dict(network, weights, source=os.fspath(path))
    return network


def resnet18_local_aggregation() -> ModelCommitment:
    """ResNet-18 with weights of the user's.

    The regions' layers are selected on benchmarks when they are first recorded from.

    Raises
    ------
    DataUnavailable
        If ``$BRAINSCORE_WEIGHTS`` names no folder with ``resnet18-local_aggregation.pth``.
    """
    network = load_network(WEIGHTS.path())
    return subject(network, "resnet18-local_aggregation")


def subject(network: "torch.nn.Module", identifier: str) -> ModelCommitment:
    """Make a subject of a network of this architecture, whatever its weights."""
    activations_model = PytorchWrapper(
        identifier=identifier,
        model=network,
        preprocessing=ImagePreprocessing(resize=(224, 224)),
    )
    return ModelCommitment(
        identifier=identifier,
        activations_model=activations_model,
        layers=LAYERS,
        behavioral_readout_layer="avgpool",
        visual_degrees=8,
    )


def _weights(path: str | os.PathLike[str]) -> "Mapping[str, torch.Tensor]":
    return state_dict_of(read_checkpoint(path), source=os.fspath(path))
