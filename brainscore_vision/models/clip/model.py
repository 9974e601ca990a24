"""The image encoder of CLIP as a subject, as it is and fine-tuned on ImageNet."""

from functools import partial
from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.hub import HubFile
from brainscore_vision.model_helpers.reference_models import ReferenceModel, load_timm_vit, timm_network

_MEAN = (0.48145466, 0.4578275, 0.40821073)
_STD = (0.26862954, 0.26130258, 0.27577711)
_FINE_TUNED = "vit_base_patch16_clip_224.openai_ft_in1k"

MODEL: Final = ReferenceModel(
    build=partial(timm_network, "vit_base_patch16_clip_quickgelu_224.openai", needed_by="clip"),
    weights=HubFile(
        name="vit_base_patch16_clip_224.openai",
        repository="timm/vit_base_patch16_clip_224.openai",
        files=("model.safetensors", "pytorch_model.bin", "open_clip_model.safetensors", "open_clip_pytorch_model.bin"),
    ),
    layers=(*(f"blocks.{number}" for number in range(12)), "head"),
    preprocessing=ImagePreprocessing(resize=224, crop=224, interpolation="bicubic", mean=_MEAN, std=_STD),
    load=partial(load_timm_vit, needed_by="clip"),
)
"""CLIP's ViT-B/16, with the activation function that it was trained with; ``head`` is the embedding it shares with
text. Its preprocessing is CLIP's own."""

FINE_TUNED: Final = ReferenceModel(
    build=partial(timm_network, _FINE_TUNED, needed_by="vit_base_patch16_clip_224:openai_ft_in1k"),
    weights=HubFile(name=_FINE_TUNED, repository=f"timm/{_FINE_TUNED}"),
    layers=("blocks.6.attn", "blocks.2.attn", "blocks.8.norm2", "blocks.3.attn.qkv", "fc_norm"),
    preprocessing=ImagePreprocessing(resize=248, crop=224, interpolation="bicubic", mean=_MEAN, std=_STD),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "vit_base_patch16_clip_224_openai_ft_in1k.json",
    load=partial(load_timm_vit, needed_by="clip"),
)
"""The same encoder after fine-tuning, with 1,000 logits."""
