"""CrossViT-18†, fine-tuned, as a subject."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.reference_models import regions_of, timm_network
from brainscore_vision.model_helpers.weights import WeightFile
from brainscore_vision.model_helpers.weights import load_weights as load_into

if TYPE_CHECKING:
    import torch

__all__ = ["LAYERS", "WEIGHTS", "architecture", "custom_model_cv_18_dagger_408", "load_weights", "subject"]

WEIGHTS: Final = WeightFile(
    name="crossvit_18_dagger_408_adv_finetuned_epoch5.pt",
    bucket="brainscore-storage",
    key="brainscore-vision/models/custom_model_cv_18_dagger_408/crossvit_18_dagger_408_adv_finetuned_epoch5.pt",
    version_id="null",
    sha1="c769518485e352d5a2e6f3e588d6208cbad71b69",
)

LAYERS: Final = ("blocks.1.blocks.1.4.norm2",)

_REGIONS = Path(__file__).with_name("region_layer_map") / "custom_model_cv_18_dagger_408.json"


def architecture() -> "torch.nn.Module":
    """CrossViT-18† of timm (``crossvit_18_dagger_408``) with random weights.

    Raises
    ------
    UserError
        If timm cannot be imported.
    """
    return timm_network("crossvit_18_dagger_408", needed_by="custom_model_cv_18_dagger_408")


def load_weights(module: "torch.nn.Module", path: str | os.PathLike[str]) -> None:
    """Put the published checkpoint (``state_dict``) into `module`."""
    load_into(module, path, key="state_dict")


def custom_model_cv_18_dagger_408() -> ModelCommitment:
    """CrossViT-18† with its published weights.

    Raises
    ------
    DataUnavailable
        If the weights are not here and cannot be fetched.
    UserError
        If timm cannot be imported.
    """
    path = WEIGHTS.path()
    network = architecture()
    load_weights(network, path)
    return subject(network, "custom_model_cv_18_dagger_408")


def subject(network: "torch.nn.Module", identifier: str) -> ModelCommitment:
    """Make a subject of a network of this architecture, whatever its weights."""
    activations_model = PytorchWrapper(
        identifier=identifier,
        model=network,
        preprocessing=ImagePreprocessing(resize=(256, 256), crop=(224, 224)),
    )
    return ModelCommitment(
        identifier=identifier,
        activations_model=activations_model,
        layers=LAYERS,
        behavioral_readout_layer=LAYERS[0],
        region_layer_map=regions_of(_REGIONS, identifier),
        visual_degrees=8,
    )
