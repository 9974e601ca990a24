"""ResNet-18 trained by local aggregation, as a subject."""

import os
from functools import partial
from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.architectures.resnet import ResNet, resnet18
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile, load_state_dict, read_checkpoint, state_dict_of

_EMBEDDING = 128


def read_network(path: str | os.PathLike[str]) -> ResNet:
    """The network whose weights a file holds; its ``fc`` says how wide the embedding is.

    A UserError if the file holds the weights of another architecture.
    """
    weights = state_dict_of(read_checkpoint(path), source=os.fspath(path))
    last = weights.get("fc.weight")
    network = resnet18(outputs=_EMBEDDING if last is None else last.shape[0])
    load_state_dict(network, weights, source=os.fspath(path))
    return network


MODEL: Final = ReferenceModel(
    build=partial(resnet18, outputs=_EMBEDDING),
    weights=WeightFile(
        name="resnet18-local_aggregation.pth",
        remark="It must hold a state dict with torchvision's names of ResNet-18, as it is or under 'state_dict'.",
    ),
    layers=("maxpool", *(f"layer{stage}.{block}" for stage in (1, 2, 3, 4) for block in (0, 1)), "avgpool"),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    read=read_network,
)
"""The last layer of the network is the embedding."""
