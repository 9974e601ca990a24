"""CORnet-S: a shallow recurrent network with an area for each of V1, V2, V4 and IT."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = """@inproceedings{KubiliusSchrimpf2019CORnet,
  title = {{Brain-Like Object Recognition with High-Performing Shallow Recurrent ANNs}},
  author = {Kubilius, Jonas and Schrimpf, Martin and Hong, Ha and Majaj, Najib J. and Rajalingham, Rishi and
    Issa, Elias B. and Kar, Kohitij and Bashivan, Pouya and Prescott-Roy, Jonathan and Schmidt, Kailyn and
    Nayebi, Aran and Bear, Daniel and Yamins, Daniel L. K. and DiCarlo, James J.},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {32},
  year = {2019},
  doi = {10.48550/arXiv.1909.06161}
}"""

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
