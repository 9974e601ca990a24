"""Decisions of networks that Geirhos et al. 2019 published, replayed; nothing is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _recorded(identifier: str) -> BrainModel:
    from brainscore_vision.models.geirhos2019_recorded.model import load_recorded

    return load_recorded(identifier)


for _identifier in ("alexnet-recorded2019", "googlenet-recorded2019", "resnet50-recorded2019", "vgg16-recorded2019"):
    model_registry[_identifier] = lambda identifier=_identifier: _recorded(identifier)
