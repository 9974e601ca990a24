"""CORnet-S as a subject."""

from functools import partial
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile, load_weights
from brainscore_vision.models.cornet_s.architecture import CORnetS

TIME_MAPPING: Final = {
    "V1": {0: (50, 150)},
    "V2": {0: (70, 170), 1: (170, 270)},
    "V4": {0: (90, 140), 1: (140, 190), 2: (190, 240), 3: (240, 290)},
    "IT": {0: (100, 200), 1: (200, 300)},
}
"""Region → time step → milliseconds after stimulus onset, as published."""


MODEL: Final = ReferenceModel(
    build=CORnetS,
    weights=WeightFile(
        name="cornet_s_epoch43.pth.tar",
        bucket="brainscore-storage",
        key="brainscore-vision/models/cornet_s/cornet_s_epoch43.pth.tar",
        version_id="null",
        sha1="a4bfd8eda33b45fd945da1b972ab0b7cad38d60f",
    ),
    layers=(
        *(f"{region}.output-t{step}" for region, steps in TIME_MAPPING.items() for step in steps),
        "decoder.avgpool-t0",
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    load=partial(load_weights, key="state_dict"),
    time_mapping=TIME_MAPPING,
)
"""Layers: what each area gives at each of its time steps, and the mean of IT over space. Each area is the region whose
name it has."""
