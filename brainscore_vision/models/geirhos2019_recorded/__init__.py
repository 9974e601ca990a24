"""Decisions of networks that Geirhos et al. 2019 published, replayed; nothing is computed."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=read_citation(__file__))

for _identifier in ("alexnet-recorded2019", "googlenet-recorded2019", "resnet50-recorded2019", "vgg16-recorded2019"):
    model_registry[_identifier] = lambda name=_identifier: resolve_name(f"{__name__}.model:load_recorded")(name)
