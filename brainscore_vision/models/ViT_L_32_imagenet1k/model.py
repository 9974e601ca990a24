"""ViT-L/32 as a subject."""

from functools import partial
from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile
from brainscore_vision.models.ViT_L_32_imagenet1k.architecture import VisionTransformer

_IMAGE_SIZE = 384

MODEL: Final = ReferenceModel(
    build=partial(
        VisionTransformer,
        image_size=_IMAGE_SIZE,
        patch_size=32,
        width=1024,
        layers=24,
        heads=16,
        inner=4096,
        classes=1000,
    ),
    weights=WeightFile(
        name="L_32_imagenet1k.pth",
        url="https://github.com/lukemelas/PyTorch-Pretrained-ViT/releases/download/0.0.2/L_32_imagenet1k.pth",
    ),
    layers=tuple(f"transformer.blocks.{number}.pwff.fc2" for number in range(24)),
    preprocessing=ImagePreprocessing(resize=(_IMAGE_SIZE, _IMAGE_SIZE)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "ViT_L_32_imagenet1k.json",
)
"""Layers: what the feed-forward part of each block adds, for each token."""
