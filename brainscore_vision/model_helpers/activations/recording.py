"""Recording of layers: read from the store, or computed into the store or into memory.

Principal components are learned from activations that are already on disk.
"""

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.provenance import note
from brainscore_vision.model_helpers.activations.assemblies import LayerUnits, ShownStimuli
from brainscore_vision.model_helpers.activations.memory_plan import MemoryPlan
from brainscore_vision.model_helpers.activations.passes import Pass
from brainscore_vision.model_helpers.activations.reduction import (
    IncrementalPCA,
    RandomProjection,
    Reduction,
    make_reduction,
)
from brainscore_vision.model_helpers.activations.store import ActivationStore, LayerWriter, StoredLayer, layer_key

__all__ = ["Recording", "Response", "Timeline", "first_responses", "principal_components"]

_TOLERANCE = 1e-3  # relative to a layer's largest value, between a stored response and the recomputed one
_WIDE_TOLERANCE = 2e-2  # in half precision


@dataclass(frozen=True)
class Response:
    """A layer's response to the first stimulus, 1 × features or 1 × time × features.

    Attributes
    ----------
    values : array
        Values after reduction.
    units : LayerUnits
        Name of the layer, and positions of its units.
    dtype : numpy.dtype
        Type of the recorded layer.
    steps : tuple of int
        Number of time steps, or empty.
    reduction : Reduction or None
        Reduction of its features.
    recorded : int or None
        Number of features before reduction, if there is one.
    """

    values: NDArray[Any]
    units: LayerUnits
    dtype: np.dtype[Any]
    steps: tuple[int, ...] = ()
    reduction: Reduction | None = None
    recorded: int | None = None

    @property
    def row(self) -> tuple[int, ...]:
        """Shape of one stimulus's response."""
        return (*self.steps, self.units.features)

    @property
    def first_shape(self) -> tuple[int, ...]:
        """Shape of one stimulus's response before reduction."""
        return (*self.steps, self.recorded or self.units.features)

    @property
    def described(self) -> dict[str, Any] | None:
        """The reduction as plain values."""
        return None if self.reduction is None else self.reduction.describe()

    @property
    def half(self) -> bool:
        """Whether it is computed or stored in half precision."""
        return min(self.dtype.itemsize, self.values.dtype.itemsize) < 4

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Convert outputs of a batch to rows of this layer."""
        flat = values.reshape(*values.shape[: 1 + len(self.steps)], -1)
        if self.reduction is None:
            return flat
        return self.reduction.transform(flat.reshape(-1, flat.shape[-1])).reshape(len(flat), *self.row)

    def reduced(self, spec: str | None) -> "Response":
        """The layer after reduction; itself if it does not have more features than would remain."""
        if spec is None:
            return self
        reduction = make_reduction(spec)
        width = reduction.width(self.units.features)
        if width == self.units.features:
            return self
        smaller = replace(
            self, units=LayerUnits(self.units.name, None, width), reduction=reduction, recorded=self.units.features
        )
        return replace(smaller, values=smaller.rows(self.values))


class Timeline(Protocol):
    """Adds a time axis to outputs."""

    def arrange(self, layer: str, output: NDArray[Any]) -> NDArray[Any]:
        """Output of a batch as stimuli × time × …."""

    def bins(self, steps: int) -> list[tuple[float, float]]:
        """Start and end of each time step, in milliseconds."""


def first_responses(
    first: Mapping[str, NDArray[Any]], dtype: np.dtype[Any] | None, *, timed: bool = False
) -> dict[str, Response]:
    """Responses of each layer to one stimulus, 1 × its output's shape (1 × time × … if `timed`)."""
    responses = {}
    for layer, values in first.items():
        steps, shape = (values.shape[1:2], values.shape[2:]) if timed else ((), values.shape[1:])
        features = int(np.prod(shape))
        responses[layer] = Response(
            values=values.reshape(1, *steps, features),
            units=LayerUnits(layer, shape, features),
            dtype=values.dtype if dtype is None else dtype,
            steps=steps,
        )
    return responses


def matches_first_row(stored: NDArray[Any], response: Response, *, half: bool = False) -> bool:
    """Whether the first row of `stored` is the model's current response, within the accuracy of the arithmetic.

    `half`: it is computed in half precision, whatever the type of the result.
    """
    if stored.shape[1:] != response.row:
        return False
    return nearly_equal(stored[0], response.values, half=half or response.half)


def nearly_equal(before: NDArray[Any], now: NDArray[Any], *, half: bool = False) -> bool:
    """Whether two arrays of the same size are equal within the accuracy of the arithmetic."""
    before = np.asarray(before, dtype=np.float64).reshape(-1)
    now = np.asarray(now, dtype=np.float64).reshape(-1)
    finite = np.isfinite(now)
    if before.shape != now.shape or not np.array_equal(np.isfinite(before), finite):
        return False
    scale = np.abs(before[finite]).max(initial=0)
    return bool(np.all(np.abs(before[finite] - now[finite]) <= (_WIDE_TOLERANCE if half else _TOLERANCE) * scale))


_logger = logging.getLogger(__name__)


class ResponseRows:
    """Accepts outputs of any shape and writes each as one row of features."""

    def __init__(self, target: Any, response: Response) -> None:
        self._target = target
        self._response = response

    def __setitem__(self, rows: Any, values: NDArray[Any], /) -> None:
        self._target[rows] = self._response.rows(values)

    def put_first(self) -> None:
        """Write the first row, which is already known."""
        self._target[0:1] = self._response.values


Fill = Callable[[Mapping[str, ResponseRows]], None]


def record_in_memory(layers: Sequence[Response], rows: int, fill: Fill) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Call `fill` to write the layers side by side into a block of memory; return the block and each layer's part."""
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


def record_in_store(
    store: ActivationStore,
    layers: Sequence[Response],
    rows: int,
    parts: Mapping[str, Mapping[str, Any]],
    info: Mapping[str, Any],
    fill: Fill,
) -> dict[str, NDArray[Any]]:
    """Call `fill` to write the layers into the store; return them memory-mapped. An error leaves nothing stored."""
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
    """Stored layers whose first response equals the model's current response."""
    hits = {}
    for layer, response in first.items():
        key = layer_key(parts[layer])
        stored = store.get(key)
        half = parts[layer]["model"].get("autocast") is not None
        if stored is not None and matches_first_row(stored.array, response, half=half):
            hits[layer] = stored.array
        elif stored is not None:
            _logger.warning(
                "stored activations of %s, layer %s, differ from the model's current responses and are computed again: "
                "the model is not deterministic, or its behavior changed although its code and weights did not",
                model,
                layer,
            )
        note("cache", store="activations", key=key, hit=layer in hits)
    return hits


_CHUNK = 1 << 25  # bytes of activations that are read together
_PROBE = 16  # number of values that identify a layer's first response

KeyParts = Mapping[str, Mapping[str, Any]]
ReducedLayers = tuple[dict[str, Response], dict[str, NDArray[Any]]]


def principal_components(
    spec: str,
    full: Mapping[str, Response],
    record: Callable[[dict[str, Response]], dict[str, NDArray[Any]]],
    *,
    stimuli: str,
    store: ActivationStore | None,
    parts: KeyParts | None,
    info: Mapping[str, Any],
) -> ReducedLayers:
    """Reduce layers to principal components, which are learned from all stimuli shown.

    Parameters
    ----------
    spec : str
        As for :func:`~brainscore_vision.model_helpers.activations.reduction.make_reduction`.
    full : mapping
        Each layer's first response.
    record : callable
        Layers → their activations, rows × [time ×] features, memory-mapped.
    stimuli : str
        Hash of the stimuli shown.
    store, parts : ActivationStore and mapping, or None
        Where the result is stored, and the parts of each recorded layer's key.
    info : mapping
        Descriptive names for the store.

    Returns
    -------
    (dict of Response, dict of array)
        First response and values of each layer; layers that do not have more features than components are unchanged.
    """
    described = make_reduction(spec, fitted_on=stimuli).describe()
    wide = {
        name: response
        for name, response in full.items()
        if make_reduction(spec).width(response.units.features) != response.units.features
    }
    keyed: dict[str, dict[str, Any]] = {}
    values: dict[str, NDArray[Any]] = {}
    if store is not None and parts is not None:
        for name, response in wide.items():
            keyed[name] = {**parts[name], "dtype": _dtype(response).str, "reduction": described}
            stored = _stored_components(
                store, keyed[name], response, str(info["model"]), half=parts[name]["model"].get("autocast") is not None
            )
            if stored is not None:
                values[name] = stored.array
    recorded = record({name: response for name, response in full.items() if name not in values})
    for name, activations in recorded.items():
        if name not in wide:
            values[name] = activations
        elif store is None or name not in keyed:
            values[name] = _components_in_memory(activations, described["components"], wide[name])
        else:
            layer_info = {**info, "layer": name, "first": _probe(wide[name]).tolist()}
            values[name] = _components_in_store(
                activations, described["components"], wide[name], store, keyed[name], layer_info
            )
    first = {}
    for name, response in full.items():
        if name in wide:
            units = LayerUnits(name, None, values[name].shape[-1])
            response = replace(response, values=np.asarray(values[name][:1]), units=units, dtype=values[name].dtype)
        first[name] = response
    return first, values


@contextmanager
def temporary_store() -> Iterator[ActivationStore]:
    """Temporary store in the system's temporary folder."""
    with tempfile.TemporaryDirectory(prefix="brainscore-", ignore_cleanup_errors=True) as folder:
        yield ActivationStore(Path(folder), max_bytes=1 << 62)  # the disk is the limit


def _components_in_memory(activations: NDArray[Any], components: int, response: Response) -> NDArray[Any]:
    pca = _fitted(activations, components, response.units.name)
    values = np.empty(_shape(activations, pca), _dtype(response))
    _transform(activations, pca, values)
    return values


def _components_in_store(
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
    assert writer.stored is not None  # set when the block ends without an error
    return writer.stored.array


def _stored_components(
    store: ActivationStore, parts: Mapping[str, Any], response: Response, model: str, *, half: bool
) -> StoredLayer | None:
    """Stored components, if the model's response to the first stimulus is unchanged."""
    key = layer_key(parts)
    stored = store.get(key)
    if stored is not None:
        before = np.asarray(stored.info.get("first", []), dtype=np.float64)
        if not nearly_equal(before, _probe(response), half=half or response.half):
            _logger.warning(
                "stored components of %s, layer %s, are of activations that differ from the model's current responses "
                "and are computed again: the model is not deterministic, or its behavior changed although its code and "
                "weights did not",
                model,
                response.units.name,
            )
            stored = None
    note("cache", store="activations", key=key, hit=stored is not None)
    return stored


def _probe(response: Response) -> NDArray[np.float64]:
    """A few values that identify a response."""
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
            "principal components cannot be learned from one stimulus",
            remedy="show more stimuli, or pass reduction='projection'",
        )
    pca = IncrementalPCA(min(components, samples - 1))
    for block in _blocks(activations):
        try:
            pca.fit_batch(_flat(activations[block]))
        except ValueError as error:
            raise UserError(f"layer {layer!r}: {error}", remedy="choose another layer or no reduction") from error
    if not pca.width(activations.shape[-1]):
        raise UserError(
            f"layer {layer!r} responds equally to all stimuli and has no principal components",
            remedy="choose another layer or no reduction",
        )
    return pca


def _transform(activations: NDArray[Any], pca: IncrementalPCA, target: Any) -> None:
    for block in _blocks(activations):
        part = activations[block]
        target[block] = pca.transform(_flat(part)).reshape(*part.shape[:-1], -1)


LayerValues = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Recording:
    """Records the responses of a model to the stimuli shown, into a store or memory.

    Attributes
    ----------
    run : Pass
        The model and its input.
    shown : ShownStimuli
        The stimuli.
    model : str
        Name of the model.
    store : ActivationStore or None
        Where layers are stored.
    parts : callable
        Layers → parts of the key of each; None if the model cannot be hashed.
    plan : callable
        Layers, reduction and store → memory plan.
    """

    run: Pass
    shown: ShownStimuli
    model: str
    store: ActivationStore | None
    parts: Callable[[Mapping[str, Response]], KeyParts | None]
    plan: Callable[[Mapping[str, Response], str | None, ActivationStore | None], MemoryPlan]

    def layers(
        self, first: dict[str, Response], reduction: str | None
    ) -> tuple[dict[str, Response], LayerValues, NDArray[Any] | None]:
        """Each layer's first response and all values; and one block of all layers if there is one."""
        spec = self.plan(first, "auto", self.store).reduction if reduction == "auto" else reduction
        learned = spec is not None and make_reduction(spec).needs_fit
        if not learned:
            first = {layer: response.reduced(spec) for layer, response in first.items()}
        parts = None if self.store is None else self.parts(first)
        store = None if parts is None else self.store
        if spec is None or not learned:
            values, block = self._recorded(first, store, parts, self._batch_size(spec, store))
            return first, values, block
        with nullcontext(store) if store is not None else temporary_store() as place:
            # keys in a temporary store only need to differ
            keys = {name: {"layer": name} for name in first} if parts is None else parts

            def record(layers: dict[str, Response]) -> LayerValues:
                if layers:  # learning takes memory, even if all activations are already stored
                    self.plan(layers, spec, store)
                return self._recorded(layers, place, keys, self._batch_size(spec, store), look=store is not None)[0]

            first, values = principal_components(
                spec,
                first,
                record,
                stimuli=self.shown.presentations.fingerprint,
                store=store,
                parts=parts,
                info=self._info,
            )
            if store is None:  # the temporary files are deleted
                values = {
                    name: np.array(array) if isinstance(array, np.memmap) else array for name, array in values.items()
                }
        return first, values, None

    @property
    def _info(self) -> dict[str, Any]:
        return {"model": self.model, "stimulus_set": str(self.shown.presentations.identifier or "")}

    def _batch_size(self, spec: str | None, store: ActivationStore | None) -> Callable[[dict[str, Response]], int]:
        return lambda layers: self.plan(layers, spec, store).batch_size

    def _recorded(
        self,
        first: dict[str, Response],
        store: ActivationStore | None,
        parts: KeyParts | None,
        batch_size: Callable[[dict[str, Response]], int],
        *,
        look: bool = True,
    ) -> tuple[LayerValues, NDArray[Any] | None]:
        """All values of layers, read from the store if they are there and `look` is set."""
        shown = self.shown
        distinct = shown.presentations.distinct
        stored = {}
        if look and store is not None and parts is not None:
            stored = stored_layers(store, parts, first, self.model)
        missing = {layer: response for layer, response in first.items() if layer not in stored}
        if not missing:
            return stored, None
        self.run.batch_size = batch_size(missing)

        def fill(destinations: Mapping[str, ResponseRows]) -> None:
            for destination in destinations.values():
                destination.put_first()
            self.run.rest(distinct, shown.shifts if shown.moving else None, destinations, skip=1, name=self.model)

        rows = len(distinct) * (shown.trials if shown.moving else 1)
        if store is None or parts is None:
            block, columns = record_in_memory(list(missing.values()), rows, fill)
            return columns, block
        return stored | record_in_store(store, list(missing.values()), rows, parts, self._info, fill), None
