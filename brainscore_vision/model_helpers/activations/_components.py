"""Principal components of layers: learnt from, and applied to, activations that are on disk already."""

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.provenance import note
from brainscore_vision.model_helpers.activations._neuroids import LayerUnits
from brainscore_vision.model_helpers.activations._responses import Response, alike
from brainscore_vision.model_helpers.activations.reduction import IncrementalPCA, RandomProjection, make_reduction
from brainscore_vision.model_helpers.activations.store import ActivationStore, StoredLayer, layer_key

__all__ = ["Parts", "principal_components", "temporary_store"]

_CHUNK = 1 << 25  # bytes of activations that are read at once
_PROBE = 16  # numbers by which a layer's first response is known again
_logger = logging.getLogger(__name__)

Parts = Mapping[str, Mapping[str, Any]]
Found = tuple[dict[str, Response], dict[str, NDArray[Any]]]


def principal_components(
    spec: str,
    full: Mapping[str, Response],
    record: Callable[[dict[str, Response]], dict[str, NDArray[Any]]],
    *,
    stimuli: str,
    store: ActivationStore | None,
    parts: Parts | None,
    info: Mapping[str, Any],
) -> Found:
    """Layers with fewer features, the components being learnt from all that is shown.

    Parameters
    ----------
    spec : str
        As :func:`~brainscore_vision.model_helpers.activations.reduction.make_reduction` takes it.
    full : mapping
        Each layer's first response.
    record : callable
        Layers → their activations, rows × [time ×] features, mapped from disk.
    stimuli : str
        Hash of what is shown.
    store, parts : ActivationStore and mapping, or None
        Where the result goes, and what the key of each layer as it is recorded is made of.
    info : mapping
        Names for people, in the store.

    Returns
    -------
    (dict of Response, dict of array)
        First response and values of each layer; layers without more features than components stay as they are.
    """
    described = make_reduction(spec, fitted_on=stimuli).describe()
    wide = {
        name: one for name, one in full.items() if make_reduction(spec).width(one.units.features) != one.units.features
    }
    keyed: dict[str, dict[str, Any]] = {}
    values: dict[str, NDArray[Any]] = {}
    if store is not None and parts is not None:
        for name, one in wide.items():
            keyed[name] = {**parts[name], "dtype": _dtype(one).str, "reduction": described}
            stored = _found(
                store, keyed[name], one, str(info["model"]), half=parts[name]["model"].get("autocast") is not None
            )
            if stored is not None:
                values[name] = stored.array
    recorded = record({name: one for name, one in full.items() if name not in values})
    for name, activations in recorded.items():
        if name not in wide:
            values[name] = activations
        elif store is None or name not in keyed:
            values[name] = _in_memory(activations, described["components"], wide[name])
        else:
            told = {**info, "layer": name, "first": _probe(wide[name]).tolist()}
            values[name] = _in_store(activations, described["components"], wide[name], store, keyed[name], told)
    first = {}
    for name, one in full.items():
        if name in wide:
            units = LayerUnits(name, None, values[name].shape[-1])
            one = replace(one, values=np.asarray(values[name][:1]), units=units, dtype=values[name].dtype)
        first[name] = one
    return first, values


@contextmanager
def temporary_store() -> Iterator[ActivationStore]:
    """Store in the system's temporary folder, for activations that are not kept."""
    with tempfile.TemporaryDirectory(prefix="brainscore-", ignore_cleanup_errors=True) as folder:
        yield ActivationStore(Path(folder), max_bytes=1 << 62)  # the disk is the limit


def _in_memory(activations: NDArray[Any], components: int, response: Response) -> NDArray[Any]:
    pca = _fitted(activations, components, response.units.name)
    values = np.empty(_shape(activations, pca), _dtype(response))
    _transform(activations, pca, values)
    return values


def _in_store(
    activations: NDArray[Any],
    components: int,
    response: Response,
    store: ActivationStore,
    parts: Mapping[str, Any],
    info: Mapping[str, Any],
) -> NDArray[Any]:
    pca = _fitted(activations, components, response.units.name)
    shape, dtype = _shape(activations, pca), _dtype(response)
    writer = store.writer(layer_key(parts), shape=shape, dtype=dtype, parts=parts, info=info)
    with writer:
        _transform(activations, pca, writer)
    assert writer.stored is not None  # it left its block without an error
    return writer.stored.array


def _found(
    store: ActivationStore, parts: Mapping[str, Any], response: Response, model: str, *, half: bool
) -> StoredLayer | None:
    """The components in the store, where the model still responds to the first stimulus as it did."""
    key = layer_key(parts)
    stored = store.get(key)
    if stored is not None:
        before = np.asarray(stored.info.get("first", []), dtype=np.float64)
        if not alike(before, _probe(response), half=half or response.half):
            _logger.warning(
                "stored components of %s, layer %s, are of activations that the model does not give now and are "
                "computed anew: it is not deterministic, or its behaviour changed in a way that code and weights do "
                "not show",
                model,
                response.units.name,
            )
            stored = None
    note("cache", store="activations", key=key, hit=stored is not None)
    return stored


def _probe(response: Response) -> NDArray[np.float64]:
    """A few numbers that tell one response from another."""
    flat = np.asarray(response.values, dtype=np.float64).reshape(1, -1)
    return np.asarray(RandomProjection(_PROBE).transform(np.nan_to_num(flat)).reshape(-1), dtype=np.float64)


def _dtype(response: Response) -> np.dtype[Any]:
    return np.result_type(response.dtype, np.float32)


def _shape(activations: NDArray[Any], pca: IncrementalPCA) -> tuple[int, ...]:
    return (*activations.shape[:-1], pca.width(activations.shape[-1]))


def _blocks(activations: NDArray[Any]) -> Iterator[slice]:
    row = int(np.prod(activations.shape[1:])) * activations.itemsize
    step = max(_CHUNK // max(row, 1), 1)
    return (slice(start, min(start + step, len(activations))) for start in range(0, len(activations), step))


def _flat(block: NDArray[Any]) -> NDArray[Any]:
    return block.reshape(-1, block.shape[-1])


def _fitted(activations: NDArray[Any], components: int, layer: str) -> IncrementalPCA:
    samples = int(np.prod(activations.shape[:-1]))
    if samples < 2:
        raise UserError(
            "principal components cannot be learnt from one stimulus",
            remedy="show more, or pass reduction='projection'",
        )
    pca = IncrementalPCA(min(components, samples - 1))
    for block in _blocks(activations):
        try:
            pca.fit_batch(_flat(activations[block]))
        except ValueError as error:
            raise UserError(f"layer {layer!r}: {error}", remedy="choose another layer or no reduction") from error
    if not pca.width(activations.shape[-1]):
        raise UserError(
            f"layer {layer!r} responds to all stimuli alike and has no principal components",
            remedy="choose another layer or no reduction",
        )
    return pca


def _transform(activations: NDArray[Any], pca: IncrementalPCA, target: Any) -> None:
    for block in _blocks(activations):
        part = activations[block]
        target[block] = pca.transform(_flat(part)).reshape(*part.shape[:-1], -1)
