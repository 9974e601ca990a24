"""ConvNeXt-T, trained on ImageNet: torchvision's, and timm's with more training images."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

model_registry["convnext"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained("convnext")
model_registry["convnext_tiny_sup"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained("convnext_tiny_sup")
model_registry["convnext_tiny:in12k_ft_in1k"] = lambda: resolve_name(f"{__name__}.model:IN12K").trained(
    "convnext_tiny:in12k_ft_in1k"
)
