"""ResNet-50, trained on adversarial images, as a subject."""

import os
from pathlib import Path
from typing import Final

import torch

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.architectures.resnet import resnet50
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile, load_state_dict, read_checkpoint, state_dict_of

_NETWORK = "model."  # beside it, the checkpoint holds the attacker's copy of the network and the normalisation


def load_weights(module: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Put the network of the published checkpoint (``model``, names with ``module.model.``) into `module`.

    The checkpoint holds the network twice, and the mean and standard deviation of its input, which preprocessing
    takes care of here.

    A UserError if the checkpoint holds no network under these names, or it does not fit.
    """
    checkpoint = read_checkpoint(path)
    source = os.fspath(path)
    everything = state_dict_of(checkpoint, key="model", source=source)
    weights = {name.removeprefix(_NETWORK): value for name, value in everything.items() if name.startswith(_NETWORK)}
    if not weights:
        raise UserError(
            f"{source} has no weights named 'module.model.…'; the first is {next(iter(everything))!r}",
            remedy="pass the published ImageNet.pt",
        )
    load_state_dict(module, weights, source=source)


_BLOCKS = [(stage, block) for stage, count in ((1, 3), (2, 4), (3, 6), (4, 3)) for block in range(count)]
_WITH_SHORTCUT = {(2, 0), (3, 0), (4, 0)}

MODEL: Final = ReferenceModel(
    build=resnet50,
    weights=WeightFile(
        name="ImageNet.pt",
        bucket="brainscore-storage",
        key="brainscore-vision/models/resnet-50-robust/ImageNet.pt",
        version_id="null",
        sha1="cc6e4441abc8ad6d2f4da5db84836e544bfb53fd",
    ),
    layers=(
        "conv1",
        *(f"layer{block[0]}.{block[1]}.{'downsample.0' if block in _WITH_SHORTCUT else 'conv3'}" for block in _BLOCKS),
        "avgpool",
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "resnet-50-robust.json",
    load=load_weights,
)
"""Layers: the last convolution of each block, or that of its shortcut; the mean over space."""
