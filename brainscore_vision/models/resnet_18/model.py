"""ResNet-18 as a subject."""

from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.architectures.resnet import resnet18
from brainscore_vision.model_helpers.reference_models import ReferenceModel, torchvision_weights

MODEL: Final = ReferenceModel(
    build=resnet18,
    weights=torchvision_weights("resnet18-f37072fd.pth"),
    layers=(
        "relu",
        *(f"layer{stage}.{block}.relu-t{step}" for stage in (1, 2, 3, 4) for block in (0, 1) for step in (0, 1)),
        "logits",
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "resnet-18.json",
)
"""Layers: both times that each block's ReLU runs, which the published model names ``relu1`` and ``relu2``, and the
classifier. The neural layers are the published ones, the last is not: what is called ``logits`` there are 512 pooled
features."""
