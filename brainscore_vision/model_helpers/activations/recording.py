"""Recording of layers: read from the store, or computed into the store or into memory.

Principal components are learned from activations that are already on disk.
"""

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.activation_store import ActivationStore, LayerWriter, StoredLayer, layer_key
from brainscore_core.errors import UserError
from brainscore_core.formatting import first_few
from brainscore_core.provenance import note
from brainscore_vision.model_helpers.activations.assemblies import LayerUnits, ShownStimuli
from brainscore_vision.model_helpers.activations.memory_plan import MemoryPlan, plan
from brainscore_vision.model_helpers.activations.passes import Pass
from brainscore_vision.model_helpers.activations.reduction import (
    IncrementalPCA,
    RandomProjection,
    make_reduction,
)
from brainscore_vision.model_helpers.activations.repeatability import (
    Cause,
    are_random,
    explanation,
    nearly_equal,
)

_PROBES = 2  # stimuli that are shown again, besides the first, if a layer is read from the store
_COMPARED = 64  # features of a layer from which these stimuli are chosen
_FLUSHED = 1 << 23  # bytes of a layer after which it is made sure that they are on the disk
_WRITERS = 4  # layers that are written at the same time


@dataclass(frozen=True)
class Response:
    """A layer's response to the first stimulus, 1 × features or 1 × time × features."""

    values: NDArray[Any]  # values after reduction
    units: LayerUnits  # name of the layer, and positions of its units
    dtype: np.dtype[Any]  # type of the recorded layer
    steps: tuple[int, ...] = ()  # number of time steps, or empty
    reduction: RandomProjection | IncrementalPCA | None = None  # reduction of its features
    recorded: int | None = None  # number of features before reduction, if there is one

    @property
    def row(self) -> tuple[int, ...]:
        """Shape of one stimulus's response."""
        return (*self.steps, self.units.features)

    @property
    def half(self) -> bool:
        """Whether it is computed or stored in half precision; values of bfloat16 are recorded as float32."""
        values = np.ascontiguousarray(self.values)
        if values.dtype == np.float32 and not np.array_equal(values, np.rint(values)):
            return not np.any(values.view(np.uint32) & 0xFFFF) or self.dtype.itemsize < 4
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


_logger = logging.getLogger(__name__)


class ResponseRows:
    """Accepts outputs of any shape, writes each as one row of features, and compares them with the first response.

    Rows are written to `target`; `row` is the row of the first response. The distance of each row's response from the
    first one is added to `distances`, which sum those of all layers. ``repeats`` says whether the response in its row,
    which is computed among others, equals the first one.
    """

    def __init__(
        self, target: Any, response: Response, row: int, *, half: bool, distances: NDArray[np.float64]
    ) -> None:
        self._target = target
        self._response = response
        self._row = row
        self._half = half
        self._distances = distances
        self._features = slice(None, None, max(1, response.values.size // _COMPARED))
        self.repeats = True

    def __setitem__(self, rows: Any, values: NDArray[Any], /) -> None:
        block = self._response.rows(values)
        self._target[rows] = block
        numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else np.asarray(rows)
        for response in block[numbers == self._row]:
            self.repeats = nearly_equal(self._response.values, response, half=self._half)
        if not block.size:
            return
        first, now = (
            responses.reshape(len(responses), -1)[:, self._features].astype(np.float64)
            for responses in (self._response.values, block)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            distance = np.square(now - first).mean(axis=1) / (np.square(first).mean() or 1)
        self._distances[numbers] += np.nan_to_num(distance)


class _StoredRows:
    """Keeps the rows of a batch, and writes them into the store in another thread once the batch has passed the model.

    Rows are thus written while the next batch is read, not beside a network whose threads would wait for each other.
    Two batches are in memory at most.
    """

    def __init__(self, writer: LayerWriter) -> None:
        self._writer = writer
        self._kept: list[tuple[Any, NDArray[Any]]] = []
        self._unflushed = 0
        self._written: Future[None] | None = None

    def __setitem__(self, rows: Any, values: NDArray[Any], /) -> None:
        self._kept.append((rows, np.array(values)))

    def write(self, threads: Executor) -> None:
        """Begin to write the rows that are kept."""
        self.finish()
        blocks, self._kept = self._kept, []
        self._written = threads.submit(self._write, blocks)

    def finish(self) -> None:
        """Wait until the rows are written; an error, such as a full disk, ends the extraction."""
        if self._written is not None:
            self._written.result()

    def _write(self, blocks: list[tuple[Any, NDArray[Any]]]) -> None:
        while blocks:
            rows, values = blocks.pop(0)
            self._writer[rows] = values
            self._unflushed += values.nbytes
        if self._unflushed >= _FLUSHED:
            self._writer.flush()
            self._unflushed = 0


_CHUNK = 1 << 25  # bytes of activations that are read together
_IDENTIFYING = 16  # numbers that identify a response of a layer whose components are stored

KeyParts = Mapping[str, Mapping[str, Any]]


@contextmanager
def temporary_store() -> Iterator[ActivationStore]:
    """Temporary store in the system's temporary folder."""
    with tempfile.TemporaryDirectory(prefix="brainscore-", ignore_cleanup_errors=True) as folder:
        yield ActivationStore(Path(folder), max_bytes=1 << 62)  # the disk is the limit


def _identifying(responses: NDArray[Any]) -> list[list[float]]:
    """A few numbers for each response that identify it."""
    flat = np.asarray(responses, dtype=np.float64).reshape(len(responses), -1)
    numbers: list[list[float]] = RandomProjection(_IDENTIFYING).transform(np.nan_to_num(flat)).tolist()
    return numbers


def _dtype(response: Response) -> np.dtype[Any]:
    return np.result_type(response.dtype, np.float32)


def _blocks(activations: NDArray[Any]) -> Iterator[slice]:
    row = int(np.prod(activations.shape[1:])) * activations.itemsize
    step = max(_CHUNK // max(row, 1), 1)
    return (slice(start, min(start + step, len(activations))) for start in range(0, len(activations), step))


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
            pca.fit_batch(activations[block].reshape(-1, activations.shape[-1]))
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
        rows = activations[block]
        target[block] = pca.transform(rows.reshape(-1, rows.shape[-1])).reshape(*rows.shape[:-1], -1)


class RecordedLayers(NamedTuple):
    """Each layer's first response and all values."""

    first: dict[str, Response]
    values: dict[str, NDArray[Any]]


@dataclass
class Recording:
    """Records the responses of a model to the stimuli shown, into a store or memory."""

    run: Pass  # the model and its input
    shown: ShownStimuli  # the stimuli
    model: str  # name of the model
    batch_size: int  # requested number of stimuli in a batch
    input_bytes: int  # size of one preprocessed stimulus
    together: bool  # whether the layers will be in memory side by side
    max_memory: int | str | None  # memory limit
    store: ActivationStore | None  # where layers are stored
    key_parts: KeyParts | None  # parts of each layer's key that do not depend on its responses; None without a store
    half: bool  # whether the model is known to compute in half precision
    # Returns what is known to make responses depend on more than the stimulus; see `known_causes`
    causes: Callable[..., list[Cause]]
    # Keys of layers that this model has stored, or read after a comparison of several stimuli. They are read again
    # after a comparison of the first stimulus. Keys are added.
    compared: set[str]
    # Whether the responses are a function of the stimulus, as far as is known afterwards; if not, none are stored
    repeats: bool = field(default=True, init=False)
    _probes: list[int] = field(default_factory=list, init=False, repr=False)  # stimuli, besides the first

    def layers(self, first: dict[str, Response], reduction: str | None) -> RecordedLayers:
        """Record the layers with these first responses."""
        spec = self._plan(first, "auto").reduction if reduction == "auto" else reduction
        if spec is not None and isinstance(make_reduction(spec), IncrementalPCA):
            return self._components(first, spec)
        first = {layer: response.reduced(spec) for layer, response in first.items()}
        return RecordedLayers(first, self._recorded(first, spec, self.store, self._parts(first)))

    def _components(self, full: dict[str, Response], spec: str) -> RecordedLayers:
        """Reduce layers to principal components; those that do not have more features stay unchanged."""
        reduction = make_reduction(spec, fitted_on=self.shown.presentations.fingerprint).describe()
        wide = {
            name: response
            for name, response in full.items()
            if make_reduction(spec).width(response.units.features) != response.units.features
        }
        parts_of_keys = self._parts(full)
        keyed = {
            name: {**parts_of_keys[name], "dtype": _dtype(response).str, "reduction": reduction}
            for name, response in wide.items()
        }
        values = self._stored(wide, keyed)
        needed = {name: response for name, response in full.items() if name not in values}
        with nullcontext(self.store) if self.store is not None else temporary_store() as store:
            if needed:  # learning takes memory, even if all activations are already stored
                self._plan(needed, spec)
            recorded = self._recorded(needed, spec, store, parts_of_keys)
            for name, activations in recorded.items():
                if name not in wide:
                    values[name] = activations
                else:
                    pca = _fitted(activations, reduction["components"], name)
                    values[name] = self._transformed(activations, pca, wide[name], keyed[name])
            if self.store is None:  # the temporary files are deleted
                values = {
                    name: np.array(array) if isinstance(array, np.memmap) else array for name, array in values.items()
                }
        first = {
            name: replace(
                response,
                values=np.asarray(values[name][:1]),
                units=LayerUnits(name, None, values[name].shape[-1]),
                dtype=values[name].dtype,
            )
            if name in wide
            else response
            for name, response in full.items()
        }
        return RecordedLayers(first, values)

    def _transformed(
        self, activations: NDArray[Any], pca: IncrementalPCA, response: Response, key_fields: Mapping[str, Any]
    ) -> NDArray[Any]:
        """Write the components of a layer into the store or into memory."""
        shape, dtype = (*activations.shape[:-1], pca.width(activations.shape[-1])), _dtype(response)
        if self.store is None or not self.repeats:
            values = np.empty(shape, dtype)
            _transform(activations, pca, values)
            return values
        numbers = [self._first, *self._probes]
        identifying = _identifying(activations[self._rows(numbers)])
        info = {
            **self._info,
            "layer": response.units.name,
            "probes": self._probes,
            "responses": {str(number): values for number, values in zip(numbers, identifying, strict=True)},
        }
        with self.store.writer(layer_key(key_fields), shape=shape, dtype=dtype, parts=key_fields, info=info) as writer:
            _transform(activations, pca, writer)
        assert writer.stored is not None  # set when the block ends without an error
        self.compared.add(layer_key(key_fields))
        return writer.stored.array

    def _stored(self, first: Mapping[str, Response], key_fields: KeyParts) -> dict[str, NDArray[Any]]:
        """Stored layers that were made of the model's current responses, as far as a few stimuli tell."""
        if self.store is None:
            return {}
        keys = {layer: layer_key(key_fields[layer]) for layer in first}
        opened = {layer: self.store.get(keys[layer]) for layer in first}
        stored_layers = {layer: stored for layer, stored in opened.items() if stored is not None}
        new = [stored for layer, stored in stored_layers.items() if keys[layer] not in self.compared]
        chosen = Counter(number for stored in new for number in stored.info.get("probes", ()))
        self._probes = [number for number, _ in chosen.most_common(_PROBES)]
        now = {layer: first[layer].values for layer in stored_layers}
        if self._probes:
            outputs = self.run.sample(
                self.run.inputs([self._paths[number] for number in self._probes]), list(stored_layers)
            )
            now = {layer: np.concatenate([now[layer], first[layer].rows(outputs[layer])]) for layer in stored_layers}
        hits = {}
        for layer in first:
            if layer in stored_layers and self._are_of(
                stored_layers[layer], now[layer], half=self.half or first[layer].half
            ):
                hits[layer] = stored_layers[layer].array
                self.compared.add(keys[layer])
            elif layer in stored_layers:
                _logger.warning(
                    "stored activations of %s, layer %s, differ from the model's current responses and are computed "
                    "again: the model is not deterministic, or its behavior changed although its code and weights did "
                    "not",
                    self.model,
                    layer,
                )
            note("cache", store="activations", key=keys[layer], hit=layer in hits)
        return hits

    def _are_of(self, stored: StoredLayer, now: NDArray[Any], *, half: bool) -> bool:
        """Whether a stored layer was made of these responses to the first stimulus and the probes."""
        numbers = [self._first, *self._probes]
        responses = stored.info.get("responses")  # of components
        if responses is None:
            pairs = zip(stored.array[self._rows(numbers)], now, strict=True)
        else:
            responses = {number: responses[str(number)] for number in numbers if str(number) in responses}
            current = dict(zip(numbers, _identifying(now), strict=True))
            pairs = zip(responses.values(), (current[number] for number in responses), strict=True)
        return all(nearly_equal(before, response, half=half) for before, response in pairs)

    @property
    def _paths(self) -> list[Path]:
        return self.shown.presentations.distinct

    @property
    def _first(self) -> int:
        """Number of the stimulus that was shown first, alone."""
        return self.shown.presentations.sample

    def _rows(self, numbers: Sequence[int]) -> list[int]:
        """Rows of the responses to stimuli that are not displaced."""
        trials = self.shown.trials if self.shown.moving else 1
        return [number * trials for number in numbers]

    def _parts(self, first: Mapping[str, Response]) -> dict[str, dict[str, Any]]:
        """Parts of each layer's key; in a temporary store, keys only need to differ."""
        if self.key_parts is None:
            return {name: {"layer": name} for name in first}
        return {
            name: {
                **self.key_parts[name],
                "dtype": response.dtype.str,
                "reduction": None if response.reduction is None else response.reduction.describe(),
            }
            for name, response in first.items()
        }

    def _plan(self, layers: Mapping[str, Response], reduction: str | None) -> MemoryPlan:
        return plan(
            {name: (*layer.steps, layer.recorded or layer.units.features) for name, layer in layers.items()},
            self.shown.row_count,
            limit=self.max_memory,
            dtype=np.result_type(*(response.dtype for response in layers.values())),
            batch_size=self.batch_size,
            input_bytes=self.input_bytes,
            reduction=reduction,
            store=self.store,
            together=self.together,
        )

    @property
    def _info(self) -> dict[str, Any]:
        return {"model": self.model, "stimulus_set": str(self.shown.presentations.identifier or "")}

    def _recorded(
        self, first: dict[str, Response], spec: str | None, store: ActivationStore | None, key_fields: KeyParts
    ) -> dict[str, NDArray[Any]]:
        """All values of layers, read if they are stored."""
        stored = self._stored(first, key_fields)
        missing = {layer: response for layer, response in first.items() if layer not in stored}
        if not missing:
            return stored
        self.run.batch_size = self._plan(missing, spec).batch_size
        if store is not None:
            return stored | self._run_into_store(missing, store, key_fields)
        shapes = {name: (self.shown.row_count, *response.row) for name, response in missing.items()}
        values = {name: np.empty(shapes[name], response.dtype) for name, response in missing.items()}
        self._run(missing, values)
        return values

    def _run_into_store(
        self, layers: Mapping[str, Response], store: ActivationStore, key_fields: KeyParts
    ) -> dict[str, NDArray[Any]]:
        """Write the responses into the store; the stored layers. An error leaves nothing stored."""
        with ExitStack() as stack:
            writers = {
                name: stack.enter_context(
                    store.writer(
                        layer_key(key_fields[name]),
                        shape=(self.shown.row_count, *response.row),
                        dtype=response.dtype,
                        parts=key_fields[name],
                        info={**self._info, "layer": name},
                    )
                )
                for name, response in layers.items()
            }
            threads = stack.enter_context(ThreadPoolExecutor(min(_WRITERS, len(layers)), "activations"))
            targets = {name: _StoredRows(writers[name]) for name in layers}

            def write() -> None:
                for target in targets.values():
                    target.write(threads)

            self._run(layers, targets, write)
            write()
            for target in targets.values():
                target.finish()
            for writer in writers.values():
                writer.kept = self.repeats
                writer.info["probes"] = self._probes
        self.compared.update(
            layer_key(key_fields[name]) for name, writer in writers.items() if writer.stored is not None
        )
        return {name: writer.stored.array for name, writer in writers.items() if writer.stored is not None}

    def _run(
        self,
        layers: Mapping[str, Response],
        targets: Mapping[str, Any],
        after_batch: Callable[[], None] = lambda: None,
    ) -> None:
        """Write the responses of these layers into `targets`, rows × time × features."""
        distances = np.zeros(self.shown.row_count)
        (row,) = self._rows([self._first])
        destinations = {
            name: ResponseRows(targets[name], response, row, half=self.half or response.half, distances=distances)
            for name, response in layers.items()
        }
        shifts = self.shown.shifts if self.shown.moving else None
        self.run.record(self._paths, shifts, destinations, name=self.model, after_batch=after_batch)
        differing = [name for name, destination in destinations.items() if not destination.repeats]
        self._report(layers, differing)
        furthest = np.argsort(-distances[self._rows(range(len(self._paths)))], kind="stable")[:_PROBES]
        self._probes = [int(number) for number in furthest if number != self._first]

    def _report(self, layers: Mapping[str, Response], differing: list[str]) -> None:
        """Warn, and note for the receipt, if responses are not a function of the stimulus."""
        transforms = self.causes(sufficient=True)
        if not differing and not transforms:
            return
        self.repeats = False
        if transforms:  # even if two responses are equal by chance
            finding, causes = "preprocessing is random, so that they differ from call to call", transforms
        else:
            finding, causes = self._kind(layers, differing), self.causes()
        text = explanation(self.model, finding, causes)
        note("remark", text=text)
        where = f"; layers that differ: {first_few(differing)}" if differing else ""
        _logger.warning("%s; its activations are not stored%s", text, where)

    def _kind(self, layers: Mapping[str, Response], differing: list[str]) -> str:
        """How responses differ: from call to call, or with the other stimuli of a batch."""
        path = [self._paths[self._first]]
        images = self.run.inputs(path)
        if are_random([images, self.run.inputs(path)]):
            return "preprocessing is random, so that they differ from call to call"
        again = self.run.sample(images, differing)
        alone = (layers[name].rows(again[name]) for name in differing)
        if all(self._equal(layers[name], values) for name, values in zip(differing, alone, strict=True)):
            return "they depend on the other stimuli of the batch"
        return "they are random and differ from call to call"

    def _equal(self, response: Response, values: NDArray[Any]) -> bool:
        return nearly_equal(response.values, values, half=self.half or response.half)
