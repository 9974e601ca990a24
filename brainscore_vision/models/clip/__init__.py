"""CLIP's image encoder, ViT-B/16: as it is, and fine-tuned on ImageNet."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

model_registry["clip"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained("clip")
model_registry["vit_base_patch16_clip_224:openai_ft_in1k"] = lambda: resolve_name(
    f"{__name__}.model:FINE_TUNED"
).trained("vit_base_patch16_clip_224:openai_ft_in1k")
