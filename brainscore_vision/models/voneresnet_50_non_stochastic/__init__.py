"""VOneResNet-50 without noise: a fixed model of V1 before ResNet-50."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = """@inproceedings{dapello2020simulating,
  title = {Simulating a Primary Visual Cortex at the Front of {CNNs} Improves Robustness to Image Perturbations},
  author = {Dapello, Joel and Marques, Tiago and Schrimpf, Martin and Geiger, Franziska and Cox, David and
    DiCarlo, James J},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {33},
  pages = {13073--13087},
  year = {2020},
  doi = {10.1101/2020.06.16.154542}
}"""

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
