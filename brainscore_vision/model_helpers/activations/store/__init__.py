"""Activations on disk: found by what they depend on, a memory map a layer, shared by any number of runs."""

from brainscore_vision.model_helpers.activations.store._folder import Leftover
from brainscore_vision.model_helpers.activations.store._key import layer_key
from brainscore_vision.model_helpers.activations.store._layer import CheckedLayer, StoredEntry, StoredLayer
from brainscore_vision.model_helpers.activations.store._store import ActivationStore, activations_home, default_store
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
