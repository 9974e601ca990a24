"""VOneResNet-50 without noise: a fixed model of V1 before ResNet-50."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

model_registry["voneresnet-50-non_stochastic"] = lambda: resolve_name(f"{__name__}.model:MODEL").trained(
    "voneresnet-50-non_stochastic"
)
