"""Decisions of networks that Geirhos et al. 2019 published, replayed; nothing is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)


def _metadata(architecture: str, family: str) -> ModelMetadata:
    return ModelMetadata(
        architecture=architecture,
        family=family,
        parameters=None,
        training_data="ImageNet (ILSVRC 2012)",
        code_licence=None,
        weights_licence=None,
        source="https://doi.org/10.48550/arXiv.1811.12231",
        notes=(
            "No network runs: decisions that Geirhos et al. (2019) published are replayed. Stimuli on which none were "
            "published are not applicable.",
        ),
        bibtex=BIBTEX,
    )


METADATA = {
    "alexnet-recorded2019": _metadata("convolutional network", "alexnet"),
    "googlenet-recorded2019": _metadata("convolutional network", "googlenet"),
    "resnet50-recorded2019": _metadata("residual network", "resnet"),
    "vgg16-recorded2019": _metadata("convolutional network", "vgg"),
}


def _recorded(identifier: str) -> BrainModel:
    from brainscore_vision.models.geirhos2019_recorded.model import load_recorded

    return load_recorded(identifier)


for _identifier in ("alexnet-recorded2019", "googlenet-recorded2019", "resnet50-recorded2019", "vgg16-recorded2019"):
    model_registry[_identifier] = lambda identifier=_identifier: _recorded(identifier)
