"""Store of activations on disk, keyed by everything they depend on; layers are memory-mapped and shared by all runs."""

from brainscore_vision.model_helpers.activations.store._layers import (
    CheckedLayer,
    LayerWriter,
    StoredEntry,
    StoredLayer,
    layer_key,
)
from brainscore_vision.model_helpers.activations.store._store import (
    ActivationStore,
    Leftover,
    default_store,
)

__all__ = [
    "ActivationStore",
    "CheckedLayer",
    "LayerWriter",
    "Leftover",
    "StoredEntry",
    "StoredLayer",
    "default_store",
    "layer_key",
]
