"""ConvNeXt-T as a subject."""

import os
from functools import partial
from pathlib import Path
from typing import Final

import torch

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.hub import HubFile, read_weights
from brainscore_vision.model_helpers.reference_models import (
    ReferenceModel,
    timm_network,
    torchvision_network,
    torchvision_weights,
)
from brainscore_vision.model_helpers.weights import load_state_dict

_REGIONS = Path(__file__).with_name("region_layer_map")


def _load(network: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    load_state_dict(network, read_weights(path), source=os.fspath(path))


_PARTS = ((0, 2), (1, 3), (2, 2), (3, 3), (4, 2), (5, 9), (6, 2), (7, 3))

MODEL: Final = ReferenceModel(
    build=partial(torchvision_network, "convnext_tiny", needed_by="convnext"),
    weights=torchvision_weights("convnext_tiny-983f1562.pth"),
    layers=(
        *(f"features.{part}.{member}" for part, members in _PARTS for member in range(members)),
        *("avgpool", "classifier.0", "classifier.1", "classifier.2"),
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=_REGIONS / "convnext.json",
)
"""torchvision's. Layers: each block, and what lies between the stages."""

IN12K: Final = ReferenceModel(
    build=partial(timm_network, "convnext_tiny.in12k_ft_in1k", needed_by="convnext_tiny:in12k_ft_in1k"),
    weights=HubFile(name="convnext_tiny.in12k_ft_in1k", repository="timm/convnext_tiny.in12k_ft_in1k"),
    layers=(
        "stages.2.blocks.3.conv_dw",
        "stages.3.downsample.0",
        "stages.2.blocks.5.conv_dw",
        "stages.2.downsample.1",
        "head.pre_logits",
    ),
    preprocessing=ImagePreprocessing(resize=235, crop=224, interpolation="bicubic"),
    region_layer_map=_REGIONS / "convnext_tiny_in12k_ft_in1k.json",
    load=_load,
)
"""timm's, trained on a larger ImageNet before."""
