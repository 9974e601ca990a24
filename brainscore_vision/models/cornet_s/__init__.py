"""CORnet-S: a shallow recurrent network with an area for each of V1, V2, V4 and IT."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "CORnet-S": ModelMetadata(
        architecture="recurrent convolutional network",
        family="cornet",
        parameters=53_416_616,
        total_parameters=53_416_616,
        size_mb=213.8,
        image_size=224,
        training_data="ImageNet (ILSVRC 2012)",
        code_licence="MIT",
        weights_licence="GPL-3.0-or-later",
        source="https://github.com/dicarlolab/CORnet",
        notes=("The architecture is written from the paper; the published code is not used.",),
        bibtex=BIBTEX,
    )
}


def _cornet_s() -> "BrainModel":
    from brainscore_vision.models.cornet_s.model import MODEL

    return MODEL.trained("CORnet-S")


model_registry["CORnet-S"] = _cornet_s
