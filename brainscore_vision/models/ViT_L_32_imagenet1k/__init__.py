"""ViT-L/32 at 384 pixels, trained on ImageNet-21k and fine-tuned on ImageNet-1k."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

model_registry["ViT_L_32_imagenet1k"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained("ViT_L_32_imagenet1k")
