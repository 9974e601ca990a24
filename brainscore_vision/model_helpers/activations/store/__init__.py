"""Activations on disk: found by what they depend on, a memory map a layer, shared by any number of runs."""

from brainscore_vision.model_helpers.activations.store._layers import CheckedLayer, StoredEntry, StoredLayer, layer_key
from brainscore_vision.model_helpers.activations.store._store import (
    ActivationStore,
    Leftover,
    activations_home,
    default_store,
)
from brainscore_vision.model_helpers.activations.store._writer import LayerWriter

__all__ = [
    "ActivationStore",
    "CheckedLayer",
    "LayerWriter",
    "Leftover",
    "StoredEntry",
    "StoredLayer",
    "activations_home",
    "default_store",
    "layer_key",
]
