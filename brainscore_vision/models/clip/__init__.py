"""CLIP's image encoder, ViT-B/16: as it is, and fine-tuned on ImageNet."""

from typing import TYPE_CHECKING

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = """@inproceedings{radford2021learning,
  title = {Learning Transferable Visual Models From Natural Language Supervision},
  author = {Radford, Alec and Kim, Jong Wook and Hallacy, Chris and Ramesh, Aditya and Goh, Gabriel and
    Agarwal, Sandhini and Sastry, Girish and Askell, Amanda and Mishkin, Pamela and Clark, Jack and
    Krueger, Gretchen and Sutskever, Ilya},
  booktitle = {Proceedings of the 38th International Conference on Machine Learning},
  pages = {8748--8763},
  year = {2021},
  doi = {10.48550/arXiv.2103.00020}
}"""

METADATA = {
    "clip": ModelMetadata(
        architecture="vision transformer",
        family="vit",
        parameters=86_193_152,
        total_parameters=86_193_152,
        size_mb=344.8,
        image_size=224,
        training_data="400 million pairs of image and text",
        code_licence="Apache-2.0",
        weights_licence="MIT",
        source="https://huggingface.co/timm/vit_base_patch16_clip_224.openai",
        notes=(
            "The encoder of images alone; the one of text is not used.",
            "It has no logits of ImageNet: the task 'label' does not apply.",
            "Layers are selected on benchmarks: none are published for this model.",
            "The commit of the weights is not published: that of the first download is held to.",
        ),
        bibtex=BIBTEX,
    ),
    "vit_base_patch16_clip_224:openai_ft_in1k": ModelMetadata(
        architecture="vision transformer",
        family="vit",
        parameters=86_568_424,
        total_parameters=86_568_424,
        size_mb=346.3,
        image_size=224,
        training_data="400 million pairs of image and text, then ImageNet (ILSVRC 2012)",
        code_licence="Apache-2.0",
        weights_licence="Apache-2.0",
        source="https://huggingface.co/timm/vit_base_patch16_clip_224.openai_ft_in1k",
        notes=("The commit of the weights is not published: that of the first download is held to.",),
        bibtex=BIBTEX,
    ),
}


def _clip() -> "BrainModel":
    from brainscore_vision.models.clip.model import MODEL

    return MODEL.trained("clip")


def _fine_tuned() -> "BrainModel":
    from brainscore_vision.models.clip.model import FINE_TUNED

    return FINE_TUNED.trained("vit_base_patch16_clip_224:openai_ft_in1k")


model_registry["clip"] = _clip
model_registry["vit_base_patch16_clip_224:openai_ft_in1k"] = _fine_tuned
