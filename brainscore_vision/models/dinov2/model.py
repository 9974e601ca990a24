"""DINOv2 as a subject."""

from functools import partial
from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.hub import HubFile
from brainscore_vision.model_helpers.reference_models import ReferenceModel, load_timm_vit, timm_network

MODEL: Final = ReferenceModel(
    build=partial(timm_network, "vit_base_patch14_dinov2.lvd142m", needed_by="dinov2"),
    weights=HubFile(name="vit_base_patch14_dinov2.lvd142m", repository="timm/vit_base_patch14_dinov2.lvd142m"),
    layers=("blocks.1.attn", "blocks.3.attn", "blocks.7.attn", "blocks.8.attn", "norm"),
    preprocessing=ImagePreprocessing(resize=518, crop=518, interpolation="bicubic"),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "dinov2.json",
    load=partial(load_timm_vit, needed_by="dinov2"),
)
"""ViT-B/14 for images of 518 pixels: 1,370 tokens, so that a layer has a million features."""
