"""DINOv2, ViT-B/14."""

from functools import partial
from typing import TYPE_CHECKING

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = """@article{oquab2023dinov2,
  title = {{DINOv2}: Learning Robust Visual Features without Supervision},
  author = {Oquab, Maxime and Darcet, Timoth{\\'e}e and Moutakanni, Th{\\'e}o and Vo, Huy and Szafraniec, Marc and
    Khalidov, Vasil and others},
  journal = {Transactions on Machine Learning Research},
  year = {2024},
  doi = {10.48550/arXiv.2304.07193}
}"""

_METADATA = ModelMetadata(
    architecture="vision transformer",
    family="vit",
    parameters=86_579_712,
    total_parameters=86_579_712,
    size_mb=346.3,
    image_size=518,
    training_data="LVD-142M, without labels",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",
    source="https://huggingface.co/timm/vit_base_patch14_dinov2.lvd142m",
    notes=(
        "It has no logits: the task 'label' does not apply.",
        "The commit of the weights is not published: that of the first download is held to.",
    ),
    bibtex=BIBTEX,
)

METADATA = {"dinov2": _METADATA, "vit_base_patch14_dinov2-lvd142m": _METADATA}


def _dinov2(identifier: str) -> "BrainModel":
    from brainscore_vision.models.dinov2.model import MODEL

    return MODEL.trained(identifier)


for _identifier in ["dinov2", "vit_base_patch14_dinov2-lvd142m"]:
    model_registry[_identifier] = partial(_dinov2, _identifier)
