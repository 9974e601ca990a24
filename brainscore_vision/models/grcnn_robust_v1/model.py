"""GRCNN-55, trained for robustness, as a subject."""

import os
from typing import TYPE_CHECKING, Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.weights import WeightFile
from brainscore_vision.model_helpers.weights import load_weights as load_into

if TYPE_CHECKING:
    import torch

    from brainscore_vision.models.grcnn_robust_v1.architecture import GRCNN

__all__ = ["LAYERS", "WEIGHTS", "architecture", "grcnn_robust_v1", "load_weights", "subject"]

WEIGHTS: Final = WeightFile(
    name="grcnn_robust_v1.pt",
    remark="It must hold a state dict of GRCNN-55 with the names of the authors' release, "
    "as it is or under 'state_dict'.",
)

LAYERS: Final = (
    "conv1",
    "conv2",
    "layer1",
    "layer1.conv_g_f",
    *(f"layer1.{name}" for name in ("iter_1.8", "iter_g_1.1", "iter_2.8", "iter_g_2.1", "iter_3.3", "iter_3.8")),
    *(f"layer1.{name}" for name in ("iter_g_3.1", "d_conv_1", "d_conv_3")),
    "layer2.conv_g_r",
    *(f"layer2.{name}{step}.{last}" for step in (1, 2, 3) for name, last in (("iter_", 8), ("iter_g_", 1))),
    "layer3.conv_f",
    "layer3.conv_g_r",
    *(f"layer3.{name}{step}.{last}" for step in (1, 2, 3, 4) for name, last in (("iter_", 8), ("iter_g_", 1))),
    "layer3.d_conv_1e",
    "layer4.conv_g_r",
    *(f"layer4.{name}{step}.{last}" for step in (1, 2, 3) for name, last in (("iter_", 8), ("iter_g_", 1))),
    "lastact.1",
    "classifier",
)
"""Those of the published model ``grcnn``."""


def architecture() -> "GRCNN":
    """GRCNN-55 with random weights.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):
    ...     sum(parameter.numel() for parameter in architecture().parameters())
    24929704
    """
    from brainscore_vision.models.grcnn_robust_v1.architecture import GRCNN

    return GRCNN()


def load_weights(module: "torch.nn.Module", path: str | os.PathLike[str]) -> None:
    """Put the weights of a file into `module`.

    Raises
    ------
    UserError
        If the file holds the weights of another architecture.
    """
    load_into(module, path)


def grcnn_robust_v1() -> ModelCommitment:
    """GRCNN-55 with weights of the user's.

    The regions' layers are selected on benchmarks when they are first recorded from.

    Raises
    ------
    DataUnavailable
        If ``$BRAINSCORE_WEIGHTS`` names no folder with ``grcnn_robust_v1.pt``.
    """
    path = WEIGHTS.path()
    network = architecture()
    load_weights(network, path)
    return subject(network, "grcnn_robust_v1")


def subject(network: "torch.nn.Module", identifier: str) -> ModelCommitment:
    """Make a subject of a network of this architecture, whatever its weights."""
    activations_model = PytorchWrapper(
        identifier=identifier, model=network, preprocessing=ImagePreprocessing(resize=(224, 224))
    )
    return ModelCommitment(
        identifier=identifier,
        activations_model=activations_model,
        layers=LAYERS,
        behavioral_readout_layer="classifier",
        visual_degrees=8,
    )
