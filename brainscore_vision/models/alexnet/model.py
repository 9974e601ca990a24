"""AlexNet as a subject."""

from functools import partial
from pathlib import Path
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel, torchvision_network, torchvision_weights

MODEL: Final = ReferenceModel(
    build=partial(torchvision_network, "alexnet", needed_by="alexnet"),
    weights=torchvision_weights("alexnet-owt-7be5be79.pth"),
    layers=("features.2", "features.5", "features.7", "features.9", "features.12", "classifier.2", "classifier.5"),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "alexnet.json",
)
"""Layers: behind each pooling, or the ReLU before it; the two hidden layers of the classifier."""
