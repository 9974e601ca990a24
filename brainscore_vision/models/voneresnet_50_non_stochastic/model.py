"""VOneResNet-50 without noise, as a subject.

The published checkpoint holds ``flags`` (how the network was made) and ``state_dict``. What is assumed of it:

- names of ``state_dict`` begin with ``module.``; below that, ``bottleneck`` and ``model`` are named as here, the parts
  of ResNet-50 as in torchvision;
- the filter bank is stored: under ``vone_block`` lie two tensors, cells × 3 × side × side, and no other. The first by
  name is that of the simple cells' phase, the second that a quarter of a period on. (The published count of values,
  27,500,264, is that of two banks of 512 × 3 × 25 × 25 and what is trained, 25,580,264.);
- the first ``simple_channels`` filters are simple cells, all others complex ones;
- ``flags`` names ``stride``, ``k_exc``, ``simple_channels``, ``complex_channels`` and ``noise_mode``; where one is
  missing, the paper's value stands: 4, 25, 256, 256, no noise.

A checkpoint that is otherwise is refused, with what differs.
"""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile, load_state_dict, read_checkpoint, state_dict_of
from brainscore_vision.models.voneresnet_50_non_stochastic.architecture import VOneBlock, VOneResNet50
from brainscore_vision.stimuli.gabor_bank import draw_filters

_SEED = 2020
_FRONT = "vone_block."
_DEFAULTS = {"stride": 4, "k_exc": 25.0, "simple_channels": 256, "complex_channels": 256}
_NO_NOISE = (None, "none", "None", "")  # ways in which flags say so
_BLOCKS = {1: 3, 2: 4, 3: 6, 4: 3}  # of each stage


def build(
    *, stride: int = 4, k_exc: float = 25.0, simple_channels: int = 256, complex_channels: int = 256
) -> VOneResNet50:
    """VOneResNet-50 with a random back end.

    The filters are drawn from distributions measured in macaques, as those of the model ``gabor``; the checkpoint
    brings others.

    `stride` is the distance of neighbouring positions of V1 in pixels, `k_exc` the gain of V1; simple and complex
    channels are cells at each position.

    Examples
    --------
    >>> import torch
    >>> network: torch.nn.Module = build()
    >>> sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
    25580264
    """
    block = VOneBlock(simple_channels, complex_channels, stride=stride, k_exc=k_exc)
    filters = simple_channels + complex_channels
    phases = np.random.RandomState(_SEED + 1).uniform(0, 2 * np.pi, filters)
    block.set_filters(draw_filters(filters, _SEED), phases)
    return VOneResNet50(block)


def read_network(path: str | os.PathLike[str]) -> VOneResNet50:
    """The network that a checkpoint holds, made as its flags say.

    A UserError if the network of the checkpoint has noise or another architecture, or its weights do not fit.
    """
    checkpoint = read_checkpoint(path, allow=[argparse.Namespace])
    source = os.fspath(path)
    network = build(**_settings(checkpoint, source))
    _load(network, checkpoint, source)
    return network


def _load(module: VOneResNet50, checkpoint: Any, source: str) -> None:
    weights = state_dict_of(checkpoint, key="state_dict", source=source)
    front = sorted(name for name in weights if name.startswith(_FRONT))
    if len(front) != 2:
        raise UserError(
            f"{source} holds {len(front)} tensors of the front end, not its 2 banks of filters"
            + (f": {', '.join(front[:5])}" if front else ""),
            remedy="pass a checkpoint that holds the filters with which its back end was trained",
        )
    renamed = dict(zip(front, ("vone_block.q0.weight", "vone_block.q1.weight"), strict=True))
    load_state_dict(module, {renamed.get(name, name): value for name, value in weights.items()}, source=source)


def _settings(checkpoint: Any, source: str) -> dict[str, Any]:
    flags = checkpoint.get("flags", {}) if isinstance(checkpoint, Mapping) else {}
    flags = vars(flags) if isinstance(flags, argparse.Namespace) else flags
    if not isinstance(flags, Mapping):
        raise UserError(f"the flags in {source} are {flags!r}", remedy="pass the published checkpoint")
    if flags.get("noise_mode") not in _NO_NOISE:
        raise UserError(
            f"the network in {source} has noise ({flags['noise_mode']!r})",
            remedy="pass the checkpoint of the network without noise",
        )
    architecture_of = str(flags.get("arch", "resnet50")).replace("_", "").lower()
    if architecture_of not in ("resnet50", "voneresnet50"):
        raise UserError(f"the back end in {source} is {flags['arch']!r}", remedy="pass a checkpoint with ResNet-50")
    return {name: flags.get(name, default) for name, default in _DEFAULTS.items()}


MODEL: Final = ReferenceModel(
    build=build,
    weights=WeightFile(
        name="voneresnet50_ns_e70.pth.tar",
        bucket="brainscore-storage",
        key="brainscore-vision/models/voneresnet-50-non_stochastic/voneresnet50_ns_e70.pth.tar",
        version_id="null",
        sha1="c270528818d6d7fc67a6aec86919d47311ad6221",
    ),
    layers=(
        "vone_block",
        *(f"model.layer{stage}.{block}" for stage, blocks in _BLOCKS.items() for block in range(blocks)),
        "model.avgpool",
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224), mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "voneresnet-50-non_stochastic.json",
    read=read_network,
    activations_identifier="voneresnet50_ns",
)
