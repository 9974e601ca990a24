"""Where responses go: a block in memory, or one file a layer in the activation store."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.provenance import note
from brainscore_vision.model_helpers.activations._responses import Response, close
from brainscore_vision.model_helpers.activations.store import ActivationStore, LayerWriter, layer_key

__all__ = ["ResponseRows", "in_memory", "in_store", "stored_layers"]

_logger = logging.getLogger(__name__)


class ResponseRows:
    """Takes outputs of any shape and writes each as one row of features."""

    def __init__(self, target: Any, response: Response) -> None:
        self._target = target
        self._response = response

    def __setitem__(self, rows: Any, values: NDArray[Any], /) -> None:
        self._target[rows] = self._response.rows(values)

    def put_first(self) -> None:
        """Write the row that is known already."""
        self._target[0:1] = self._response.values


Fill = Callable[[Mapping[str, ResponseRows]], None]


def in_memory(layers: Sequence[Response], rows: int, fill: Fill) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Let `fill` write the layers into one block of memory, side by side; the block, and each layer's part of it."""
    sizes = [layer.units.features for layer in layers]
    ends = np.cumsum(sizes)
    shape = (rows, *layers[0].steps, int(ends[-1]))
    block = np.empty(shape, dtype=np.result_type(*(layer.dtype for layer in layers)))
    parts = {
        layer.units.name: block[..., int(end) - size : int(end)]
        for layer, size, end in zip(layers, sizes, ends, strict=True)
    }
    fill({layer.units.name: ResponseRows(parts[layer.units.name], layer) for layer in layers})
    return block, parts


def in_store(
    store: ActivationStore,
    layers: Sequence[Response],
    rows: int,
    parts: Mapping[str, Mapping[str, Any]],
    info: Mapping[str, Any],
    fill: Fill,
) -> dict[str, NDArray[Any]]:
    """Let `fill` write the layers into the store; what lies there afterwards, mapped. After an error nothing does."""
    writers: dict[str, LayerWriter] = {}
    with ExitStack() as stack:
        for layer in layers:
            name = layer.units.name
            writer = store.writer(
                layer_key(parts[name]),
                shape=(rows, *layer.row),
                dtype=layer.dtype,
                parts=parts[name],
                info={**info, "layer": name},
            )
            writers[name] = stack.enter_context(writer)
        fill({layer.units.name: ResponseRows(writers[layer.units.name], layer) for layer in layers})
    return {name: writer.stored.array for name, writer in writers.items() if writer.stored is not None}


def stored_layers(
    store: ActivationStore, parts: Mapping[str, Mapping[str, Any]], first: Mapping[str, Response], model: str
) -> dict[str, NDArray[Any]]:
    """Stored layers whose first response is what the model gives now."""
    hits = {}
    for layer, response in first.items():
        key = layer_key(parts[layer])
        stored = store.get(key)
        half = parts[layer]["model"].get("autocast") is not None
        if stored is not None and close(stored.array, response, half=half):
            hits[layer] = stored.array
        elif stored is not None:
            _logger.warning(
                "stored activations of %s, layer %s, are not what the model gives now and are computed anew: it is not "
                "deterministic, or its behaviour changed in a way that code and weights do not show",
                model,
                layer,
            )
        note("cache", store="activations", key=key, hit=layer in hits)
    return hits
