"""ViT-L/32 as a subject."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.reference_models import regions_of
from brainscore_vision.model_helpers.weights import WeightFile
from brainscore_vision.model_helpers.weights import load_weights as load_into

if TYPE_CHECKING:
    import torch

    from brainscore_vision.models.ViT_L_32_imagenet1k.architecture import VisionTransformer

__all__ = ["IMAGE_SIZE", "LAYERS", "WEIGHTS", "architecture", "load_weights", "subject", "vit_l_32"]

WEIGHTS: Final = WeightFile(
    name="L_32_imagenet1k.pth",
    url="https://github.com/lukemelas/PyTorch-Pretrained-ViT/releases/download/0.0.2/L_32_imagenet1k.pth",
)

IMAGE_SIZE: Final = 384

LAYERS: Final = tuple(f"transformer.blocks.{number}.pwff.fc2" for number in range(24))
"""What the feed-forward part of each block adds, for each token."""

_REGIONS = Path(__file__).with_name("region_layer_map") / "ViT_L_32_imagenet1k.json"


def architecture() -> "VisionTransformer":
    """ViT-L/32 for images of 384 pixels, with random weights.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):
    ...     sum(parameter.numel() for parameter in architecture().parameters())
    306632680
    """
    from brainscore_vision.models.ViT_L_32_imagenet1k.architecture import VisionTransformer

    return VisionTransformer(
        image_size=IMAGE_SIZE, patch_size=32, width=1024, layers=24, heads=16, inner=4096, classes=1000
    )


def load_weights(module: "torch.nn.Module", path: str | os.PathLike[str]) -> None:
    """Put the published release (a state dict) into `module`."""
    load_into(module, path)


def vit_l_32() -> ModelCommitment:
    """ViT-L/32 with its published weights.

    Raises
    ------
    DataUnavailable
        If the weights are not here and cannot be fetched.
    """
    path = WEIGHTS.path()
    network = architecture()
    load_weights(network, path)
    return subject(network, "ViT_L_32_imagenet1k")


def subject(network: "torch.nn.Module", identifier: str) -> ModelCommitment:
    """Make a subject of a network of this architecture, whatever its weights."""
    activations_model = PytorchWrapper(
        identifier=identifier,
        model=network,
        preprocessing=ImagePreprocessing(resize=(IMAGE_SIZE, IMAGE_SIZE)),
    )
    return ModelCommitment(
        identifier=identifier,
        activations_model=activations_model,
        layers=LAYERS,
        behavioral_readout_layer=LAYERS[-1],
        region_layer_map=regions_of(_REGIONS, identifier),
        visual_degrees=8,
    )
