"""ResNet-50 as a subject."""

from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.architectures.resnet import resnet50
from brainscore_vision.model_helpers.reference_models import ReferenceModel, torchvision_weights

MODEL: Final = ReferenceModel(
    build=resnet50,
    weights=torchvision_weights("resnet50-0676ba61.pth"),
    layers=(
        "conv1",
        *(f"layer{stage}.{block}" for stage, blocks in ((1, 3), (2, 4), (3, 6), (4, 3)) for block in range(blocks)),
        "avgpool",
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "resnet-50.json",
)
"""Layers: what each block gives, and the mean over space."""
