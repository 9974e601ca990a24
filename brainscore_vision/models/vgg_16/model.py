"""VGG-16 as a subject."""

from functools import partial
from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel, torchvision_network, torchvision_weights

MODEL: Final = ReferenceModel(
    build=partial(torchvision_network, "vgg16", needed_by="vgg-16"),
    weights=torchvision_weights("vgg16-397923af.pth"),
    layers=("features.4", "features.9", "features.16", "features.23", "features.30", "classifier.0", "classifier.3"),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "vgg-16.json",
)
"""Layers: the five poolings, the two hidden layers of the classifier."""
