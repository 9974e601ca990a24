"""CrossViT-18†, fine-tuned, as a subject."""

from functools import partial
from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel, timm_network
from brainscore_vision.model_helpers.weights import WeightFile, load_weights

_IDENTIFIER = "custom_model_cv_18_dagger_408"

MODEL: Final = ReferenceModel(
    build=partial(timm_network, "crossvit_18_dagger_408", needed_by=_IDENTIFIER),
    weights=WeightFile(
        name="crossvit_18_dagger_408_adv_finetuned_epoch5.pt",
        bucket="brainscore-storage",
        key=f"brainscore-vision/models/{_IDENTIFIER}/crossvit_18_dagger_408_adv_finetuned_epoch5.pt",
        version_id="null",
        sha1="c769518485e352d5a2e6f3e588d6208cbad71b69",
    ),
    layers=("blocks.1.blocks.1.4.norm2",),
    preprocessing=ImagePreprocessing(resize=(256, 256), crop=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / f"{_IDENTIFIER}.json",
    load=partial(load_weights, key="state_dict"),
)
