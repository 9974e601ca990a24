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
    from brainscore_vision.model_helpers.reference_models import ReferenceModel
    from brainscore_vision.model_interface import BrainModel

TRAINED = {
    "CORnet-S": "cornet_s",
    "ViT_L_32_imagenet1k": "ViT_L_32_imagenet1k",
    "alexnet": "alexnet",
    "clip": "clip",
    "convnext": "convnext",
    "custom_model_cv_18_dagger_408": "custom_model_cv_18_dagger_408",
    "dinov2": "dinov2",
    "efficientnet-lite0": "efficientnet_lite",
    "efficientnet-lite1": "efficientnet_lite",
    "efficientnet-lite2": "efficientnet_lite",
    "grcnn_robust_v1": "grcnn_robust_v1",
    "hmax": "hmax",
    "mobilenet_v2_1.4_224": "mobilenet_v2_1_4_224",
    "mobilenet_v2_1_4_224": "mobilenet_v2_1_4_224",
    "resnet-18": "resnet_18",
    "resnet-50": "resnet_50",
    "resnet-50-robust": "resnet_50_robust",
    "resnet18-local_aggregation": "resnet18_local_aggregation",
    "vgg-16": "vgg_16",
    "voneresnet-50-non_stochastic": "voneresnet_50_non_stochastic",
}
"""Model → folder of its plugin, whose ``model`` has its :class:`ReferenceModel`, as ``MODEL`` or in ``MODELS``."""

_MODELS = "brainscore_vision.models."


def reference_model(trained: str) -> "ReferenceModel":
    """The reference model of this name."""
    module = import_module(f"{_MODELS}{TRAINED[trained]}.model")
    model: ReferenceModel = module.MODELS[trained] if hasattr(module, "MODELS") else module.MODEL
    return model


def _untrained(trained: str) -> "BrainModel":
    return reference_model(trained).untrained(f"{trained}-untrained")


def _metadata(trained: str) -> "ModelMetadata":
    metadata_of_trained: ModelMetadata = import_module(_MODELS + TRAINED[trained]).METADATA[trained]
    return replace(
        metadata_of_trained,
        training_data=None,
        weights_licence=None,
        twin_of=trained,
        runnable=True,
        notes=(
            f"{trained!r} before training: weights as they are initialised, seed 0.",
            f"Layers are those of {trained!r}.",
        ),
    )


def __getattr__(name: str) -> Any:
    if name == "METADATA":  # not at import, as it imports the plugins of all trained models
        return {f"{trained}-untrained": _metadata(trained) for trained in TRAINED}
    raise AttributeError(name)


for _trained in TRAINED:
    model_registry[f"{_trained}-untrained"] = partial(_untrained, _trained)
