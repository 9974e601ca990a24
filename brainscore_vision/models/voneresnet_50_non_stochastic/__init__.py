"""VOneResNet-50 without noise: a fixed model of V1 before ResNet-50."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "voneresnet-50-non_stochastic": ModelMetadata(
        architecture="fixed Gabor front end and residual network",
        family="vonenet",
        parameters=25_580_264,
        total_parameters=27_500_264,
        size_mb=110.2,
        image_size=224,
        training_data="ImageNet (ILSVRC 2012)",
        code_licence="MIT",
        weights_licence="GPL-3.0-or-later",
        source="https://github.com/dicarlolab/vonenet",
        notes=(
            "The architecture is written from the paper; the published code is not used.",
            "1,920,000 further values are the fixed filters, which the checkpoint brings.",
        ),
        bibtex=BIBTEX,
    )
}


def _voneresnet_50_non_stochastic() -> "BrainModel":
    from brainscore_vision.models.voneresnet_50_non_stochastic.model import MODEL

    return MODEL.trained("voneresnet-50-non_stochastic")


model_registry["voneresnet-50-non_stochastic"] = _voneresnet_50_non_stochastic
