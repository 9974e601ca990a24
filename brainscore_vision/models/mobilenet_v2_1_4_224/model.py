"""MobileNetV2 1.4 as a subject."""

import os
from pathlib import Path
from typing import Any, Final

import torch

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.hub import HubFile, read_weights
from brainscore_vision.model_helpers.libraries import library, unusable
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import load_state_dict

_BACKGROUND = ("classifier.weight", "classifier.bias")
_CLASSES = 1000


def load_weights(module: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Put the published weights into `module`, without the first of 1,001 classes, which stands for the background."""
    weights = dict(read_weights(path))
    for name in _BACKGROUND:
        if name in weights and len(weights[name]) == _CLASSES + 1:
            weights[name] = weights[name][1:]
    load_state_dict(module, weights, source=os.fspath(path))


def _build() -> Any:
    identifier = "mobilenet_v2_1_4_224"
    transformers = library("transformers", needed_by=identifier)
    try:
        network, config = transformers.MobileNetV2ForImageClassification, transformers.MobileNetV2Config
    except (ImportError, RuntimeError) as error:  # transformers imports them only now
        raise unusable("transformers", identifier, error) from error
    return network(config(depth_multiplier=1.4, image_size=224, num_labels=_CLASSES))


MODEL: Final = ReferenceModel(
    build=_build,
    weights=HubFile(name="mobilenet_v2_1.4_224", repository="Matthijs/mobilenet_v2_1.4_224"),
    layers=(
        "mobilenet_v2.conv_stem",
        *(f"mobilenet_v2.layer.{number}" for number in range(16)),
        "mobilenet_v2.pooler",
        "classifier",
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "mobilenet_v2_1_4_224.json",
    load=load_weights,
)
"""Layers: the stem, each inverted residual, the mean over space, the logits."""
