"""Responses of networks to texts in the store of activations."""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from brainscore_core.activation_store import ActivationStore, default_store, layer_key
from brainscore_core.errors import UserError
from brainscore_core.provenance import note

_FORMAT = 1  # counts changes in how texts are read
_LIBRARIES = ("tokenizers", "torch", "transformers")
_DIFFERENCE = 1e-3  # of the largest response, between machines

_logger = logging.getLogger(__name__)

Responses = dict[str, np.ndarray]
"""Layer → parts × units."""


@contextmanager
def stored_responses(candidate: Any, texts: Sequence[Sequence[str]]) -> Iterator[None]:
    """Inside the ``with`` block, let a network return stored responses to texts; store them if there are none.

    Used for networks that only record, and whose weights, code and tokenizer identify them. The first text is read in
    any case; if its responses differ from the stored ones, all texts are read, and stored again.

    Parameters
    ----------
    candidate : ArtificialSubject
        The subject; one without ``network_parts`` reads all texts.
    texts : sequence of sequence of str
        All texts that will be read, each as its parts.
    """
    store = default_store()
    parts = _identity(candidate) if store is not None else None
    if store is None or parts is None:
        yield
        return
    digest = hashlib.sha256(json.dumps([list(map(str, text)) for text in texts]).encode()).hexdigest()
    described = {layer: {**parts, "texts": digest, "layer": layer} for layer in candidate.recorded_layers()}
    keys = {layer: layer_key(description) for layer, description in described.items()}
    candidate.known_responses = {}
    try:
        found = _found(store, keys, candidate, texts)
        for key in keys.values():
            note("cache", store="activations", key=key, hit=found)
        yield
        known: Mapping[tuple[str, ...], Responses] = candidate.known_responses
        if not found and all(tuple(text) in known for text in texts):
            _write(store, keys, described, [known[tuple(text)] for text in texts])
    finally:
        candidate.known_responses = None


def _found(store: ActivationStore, keys: Mapping[str, str], candidate: Any, texts: Sequence[Sequence[str]]) -> bool:
    """Whether all layers are stored, and the first text has these responses; if so, the subject knows them."""
    layers = {layer: store.get(key) for layer, key in keys.items()}
    arrays = {layer: stored.array for layer, stored in layers.items() if stored is not None}
    if len(arrays) < len(keys):
        return False
    candidate.digest_text(list(texts[0]))
    first: Responses = candidate.known_responses[tuple(texts[0])]
    for layer, values in first.items():
        stored = arrays[layer][: len(values)]
        if not np.allclose(stored, values, rtol=0, atol=_DIFFERENCE * np.nanmax(np.abs(values)), equal_nan=True):
            _logger.warning("stored responses of %s in %s are not its present ones: it reads anew", candidate, layer)
            return False
    ends = np.cumsum([len(text) for text in texts])
    for text, end in zip(texts, ends, strict=True):
        rows = slice(end - len(text), end)
        candidate.known_responses[tuple(text)] = {layer: np.array(array[rows]) for layer, array in arrays.items()}
    return True


def _write(
    store: ActivationStore,
    keys: Mapping[str, str],
    described: Mapping[str, Mapping[str, Any]],
    responses: Sequence[Responses],
) -> None:
    for layer, key in keys.items():
        values = np.concatenate([response[layer] for response in responses])
        try:
            with store.writer(key, shape=values.shape, dtype=values.dtype, parts=described[layer]) as writer:
                writer[0 : len(values)] = values
        except UserError as error:
            _logger.warning("responses of %s are not stored: %s", layer, error)


def _identity(candidate: Any) -> dict[str, Any] | None:
    """What responses depend on; None if that is not known, or if the subject does more than record."""
    if not hasattr(candidate, "network_parts") or candidate.behavioral_task is not None:
        return None
    network, tokenizer, digest = candidate.network_parts()
    backend = getattr(tokenizer, "backend_tokenizer", None)
    code = _code({type(candidate), *(type(module) for module in network.modules())})
    if backend is None or code is None:
        return None
    config = getattr(network, "config", None)
    return {
        "domain": "language",
        "format": _FORMAT,
        "weights": digest,
        "config": None if config is None else str(config),
        "tokenizer": hashlib.sha256(backend.to_str().encode()).hexdigest(),
        "window": [str(tokenizer.model_max_length), tokenizer.truncation_side],
        "code": code,
        "device": next((parameter.device.type for parameter in network.parameters()), "cpu"),
    }


def _code(classes: set[type]) -> dict[str, str] | None:
    """Version of each library, and hash of the source of each other module; None if a source cannot be read."""
    found = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    for name in {kind.__module__ for kind in classes}:
        if name.partition(".")[0] in (*_LIBRARIES, "brainscore_language"):
            continue
        try:
            found[name] = hashlib.sha256(inspect.getsource(sys.modules[name]).encode()).hexdigest()
        except (KeyError, OSError, TypeError):
            return None
    return found
