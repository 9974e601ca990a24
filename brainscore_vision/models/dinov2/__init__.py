"""DINOv2, ViT-B/14."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

model_registry["dinov2"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained("dinov2")
model_registry["vit_base_patch14_dinov2-lvd142m"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained(
    "vit_base_patch14_dinov2-lvd142m"
)
