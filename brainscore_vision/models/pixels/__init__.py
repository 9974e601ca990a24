"""The pixels themselves, as a lower baseline."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = """@article{schrimpf2018brain,
  title = {{Brain-Score}: Which Artificial Neural Network for Object Recognition Is Most Brain-Like?},
  author = {Schrimpf, Martin and Kubilius, Jonas and Hong, Ha and Majaj, Najib J. and Rajalingham, Rishi and
    Issa, Elias B. and Kar, Kohitij and Bashivan, Pouya and Prescott-Roy, Jonathan and Geiger, Franziska and
    Schmidt, Kailyn and Yamins, Daniel L. K. and DiCarlo, James J.},
  journal = {bioRxiv},
  year = {2018},
  doi = {10.1101/407007}
}"""

METADATA = {
    "pixels": ModelMetadata(
        architecture="the image itself",
        family="pixels",
        parameters=0,
        total_parameters=0,
        image_size=256,
        training_data=None,
        code_licence="MIT",
        weights_licence=None,
        source="https://doi.org/10.1101/407007",
        bibtex=BIBTEX,
    )
}


def _pixels() -> "BrainModel":
    from brainscore_vision.models.pixels.model import pixels

    return pixels()


model_registry["pixels"] = _pixels
