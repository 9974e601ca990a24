"""MobileNetV2 with 1.4 times the width, for images of 224 pixels."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

model_registry["mobilenet_v2_1_4_224"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained("mobilenet_v2_1_4_224")
model_registry["mobilenet_v2_1.4_224"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained("mobilenet_v2_1.4_224")
