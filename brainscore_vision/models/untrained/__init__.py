"""Twins of the reference models that were never trained: ``alexnet-untrained`` and its like.

A twin has the network, layers and preprocessing of its model, and weights as they are initialised, from one seed.
"""

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from brainscore_vision import model_registry

if TYPE_CHECKING:
    from brainscore_vision.model_helpers.metadata import ModelMetadata
    from brainscore_vision.model_interface import BrainModel

TRAINED = {
    "CORnet-S": "cornet_s.model",
    "ViT_L_32_imagenet1k": "ViT_L_32_imagenet1k.model",
    "alexnet": "alexnet.model:MODEL",
    "clip": "clip.model:MODEL",
    "convnext": "convnext.model:MODEL",
    "custom_model_cv_18_dagger_408": "custom_model_cv_18_dagger_408.model",
    "dinov2": "dinov2.model:MODEL",
    "grcnn_robust_v1": "grcnn_robust_v1.model",
    "hmax": "hmax.model",
    "mobilenet_v2_1.4_224": "mobilenet_v2_1_4_224.model:MODEL",
    "mobilenet_v2_1_4_224": "mobilenet_v2_1_4_224.model:MODEL",
    "resnet-18": "resnet_18.model:MODEL",
    "resnet-50": "resnet_50.model:MODEL",
    "resnet-50-robust": "resnet_50_robust.model:MODEL",
    "resnet18-local_aggregation": "resnet18_local_aggregation.model",
    "vgg-16": "vgg_16.model:MODEL",
    "voneresnet-50-non_stochastic": "voneresnet_50_non_stochastic.model",
}
"""Model → what its plugin says about its network (``architecture()`` and ``subject(network, identifier)``)."""

_MODELS = "brainscore_vision.models."


def _untrained(trained: str) -> "BrainModel":
    from brainscore_vision.model_helpers.reference_models import twin

    module, _, name = TRAINED[trained].partition(":")
    plugin = import_module(_MODELS + module)
    return twin(getattr(plugin, name) if name else plugin, f"{trained}-untrained")


def _metadata(trained: str) -> "ModelMetadata":
    folder = TRAINED[trained].partition(".")[0]
    known: ModelMetadata = import_module(_MODELS + folder).METADATA[trained]
    return replace(
        known,
        training_data=None,
        weights_licence=None,
        notes=(
            f"{trained!r} before training: weights as they are initialised, seed 0.",
            f"Layers are those of {trained!r}.",
        ),
    )


def __getattr__(name: str) -> Any:
    if name == "METADATA":  # of models whose plugins nobody may have asked for
        return {f"{trained}-untrained": _metadata(trained) for trained in TRAINED}
    raise AttributeError(name)


for _trained in TRAINED:
    model_registry[f"{_trained}-untrained"] = partial(_untrained, _trained)
