"""CORnet-S as a subject."""

import os
from typing import TYPE_CHECKING, Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.weights import WeightFile
from brainscore_vision.model_helpers.weights import load_weights as load_into

if TYPE_CHECKING:
    import torch

    from brainscore_vision.models.cornet_s.architecture import CORnetS

__all__ = ["LAYERS", "TIME_MAPPING", "WEIGHTS", "architecture", "cornet_s", "load_weights", "subject"]

WEIGHTS: Final = WeightFile(
    name="cornet_s_epoch43.pth.tar",
    bucket="brainscore-storage",
    key="brainscore-vision/models/cornet_s/cornet_s_epoch43.pth.tar",
    version_id="null",
    sha1="a4bfd8eda33b45fd945da1b972ab0b7cad38d60f",
)

TIME_MAPPING: Final = {
    "V1": {0: (50, 150)},
    "V2": {0: (70, 170), 1: (170, 270)},
    "V4": {0: (90, 140), 1: (140, 190), 2: (190, 240), 3: (240, 290)},
    "IT": {0: (100, 200), 1: (200, 300)},
}
"""Region → time step → milliseconds after stimulus onset, as published."""

LAYERS: Final = (
    *(f"{region}.output-t{step}" for region, steps in TIME_MAPPING.items() for step in steps),
    "decoder.avgpool-t0",
)
"""What each area gives at each of its time steps, and the mean of IT over space."""


def architecture() -> "CORnetS":
    """CORnet-S with random weights.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"):
    ...     sum(parameter.numel() for parameter in architecture().parameters())
    53416616
    """
    from brainscore_vision.models.cornet_s.architecture import CORnetS

    return CORnetS()


def load_weights(module: "torch.nn.Module", path: str | os.PathLike[str]) -> None:
    """Put the published checkpoint (``state_dict``, names with ``module.``) into `module`."""
    load_into(module, path, key="state_dict")


def cornet_s() -> ModelCommitment:
    """CORnet-S with its published weights.

    Each area is the region whose name it has; its time steps are the milliseconds of :data:`TIME_MAPPING`.

    Raises
    ------
    DataUnavailable
        If the weights are not here and cannot be fetched.
    """
    path = WEIGHTS.path()
    network = architecture()
    load_weights(network, path)
    return subject(network, "CORnet-S")


def subject(network: "torch.nn.Module", identifier: str) -> ModelCommitment:
    """Make a subject of a network of this architecture, whatever its weights."""
    activations_model = PytorchWrapper(
        identifier=identifier, model=network, preprocessing=ImagePreprocessing(resize=(224, 224))
    )
    return ModelCommitment(
        identifier=identifier,
        activations_model=activations_model,
        layers=LAYERS,
        behavioral_readout_layer="decoder.avgpool-t0",
        visual_degrees=8,
        time_mapping=TIME_MAPPING,
    )
