"""Passes of stimuli through a model: batches read ahead, trials, outputs of layers, out-of-memory handling."""

import gc
import os
import pickle
import sys
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import islice
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.progress import stage
from brainscore_vision.model_helpers.activations.assemblies import Shifts, shift_images
from brainscore_vision.model_helpers.activations.layouts import Layout
from brainscore_vision.model_helpers.activations.preprocessing import as_image_preprocessing, pixel_values
from brainscore_vision.model_helpers.activations.reduction import Pooling

Workers = Literal["threads", "processes"]
_BATCHES_AHEAD = 2  # batches that are read while one is in the network
_FEW = 3  # stimuli that are read as fast as workers start
_FILLED = 0.65  # share of all cores' time from which on work side by side is not faster than one after another
_MAX_WORKERS = 16  # threads or processes, by default


TakeOutput = Callable[[str, Any], None]
#: runs inputs through the model and passes each layer's output to `take` as soon as it is available, since the outputs
#: of all layers may not fit into memory together
Forward = Callable[[Any, TakeOutput], None]
#: prepares a model for recording from layers
Recorder = Callable[[Sequence[str]], AbstractContextManager[Forward]]


def plain_recorder(get_activations: Callable[[Any, list[str]], Mapping[str, Any]]) -> Recorder:
    """Recorder of a function that returns each layer's output.

    The output for a single stimulus may lack the axis of stimuli, such as after ``squeeze()``.
    """

    @contextmanager
    def recorder(layers: Sequence[str]) -> Iterator[Forward]:
        def forward(images: Any, take: TakeOutput) -> None:
            for layer, output in get_activations(images, list(layers)).items():
                tensor = tensor_of(output, layer)
                alone = len(images) == 1 and len(tensor) != 1
                take(layer, tensor[None] if alone else _one_for_each(layer, tensor, len(images)))

        yield forward

    return recorder


class Loader:
    """Provides preprocessed batches in order, reading ahead where that helps.

    Batches are read while the model runs if reading or the model leaves cores idle: because files come slowly, because
    preprocessing runs in one thread or in other processes, or because the model runs on a GPU or in few threads. If
    both fill the cores, they take turns: the threads of a network wait for each other after each of its steps, so that
    it becomes slower by more than what is gained if other threads run beside them.

    `preprocess`: list of paths → array, tensor or list, one entry per path. `workers`: number of workers; 0: do not
    read ahead. By default one per core, at most 16. `kind`: ``'threads'`` or ``'processes'``; threads start immediately
    and share memory; reading and resizing with Pillow runs in parallel in them. Processes are for preprocessing that is
    mostly Python; `preprocess` must then be picklable. `device`: GPU on which batches are needed: images are copied to
    it as levels of 8 bits, from page-locked memory, and normalised there. By default batches stay where `preprocess`
    puts them.
    """

    def __init__(
        self,
        preprocess: Callable[[Sequence[Any]], Any],
        *,
        workers: int | None = None,
        kind: Workers = "threads",
        device: Any = None,
    ) -> None:
        if kind not in ("threads", "processes"):
            raise ValueError(f"loader is {kind!r}, not 'threads' or 'processes'")
        if workers is not None and workers < 0:
            raise ValueError(f"workers is {workers}; 0 or more are needed")
        self._preprocess = preprocess
        self._images = as_image_preprocessing(preprocess)
        self._workers = min(_MAX_WORKERS, _cores()) if workers is None else workers
        self._kind = kind
        self._device = device

    def batches(self, paths: Sequence[Any], batches: Sequence[slice]) -> Iterator[tuple[slice, Any]]:
        """The slice of `paths` of each batch, and its preprocessed inputs."""
        if not self._workers or len(paths) <= _FEW:
            for batch in batches:
                yield batch, self._checked(_prepared(self._preprocess, paths[batch]), len(paths[batch]))
            return
        with self._pool() as pool:
            waiting: deque[tuple[slice, _Jobs, _Join]] = deque()
            upcoming = iter(batches)

            def submit(number: int) -> None:
                for batch in islice(upcoming, number - len(waiting)):
                    waiting.append((batch, *self._submit(pool, paths[batch])))

            ahead, cores = self._device is not None, _CoreTime()
            try:
                while True:
                    submit(1 + _BATCHES_AHEAD if ahead else 1)
                    if not waiting:
                        return
                    batch, jobs, join = waiting.popleft()
                    images = self._checked(join([job.result() for job in jobs]), len(paths[batch]))
                    ahead = ahead or cores.share() < _FILLED
                    if ahead:
                        submit(_BATCHES_AHEAD)
                    yield batch, images
                    ahead = ahead or cores.share() < _FILLED
            finally:  # if the consumer stops, batches that were read ahead are not needed
                for _, jobs, _ in waiting:
                    for job in jobs:
                        job.cancel()

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor | ProcessPoolExecutor]:
        if self._kind == "threads":
            pool: ThreadPoolExecutor | ProcessPoolExecutor = ThreadPoolExecutor(self._workers, "stimuli")
        else:
            import multiprocessing

            _require_picklable(self._preprocess)
            pool = ProcessPoolExecutor(self._workers, mp_context=multiprocessing.get_context("spawn"))
        try:
            yield pool
        except BrokenExecutor as error:
            raise UserError(
                "the processes that read stimuli cannot run the preprocessing",
                remedy="start the work of a script below `if __name__ == '__main__':`, since each process imports it; "
                "in a notebook, import the preprocessing from a file; or pass loader='threads'",
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, pool: ThreadPoolExecutor | ProcessPoolExecutor, paths: Sequence[Any]) -> tuple["_Jobs", "_Join"]:
        """Begin to read a batch; the jobs, and a function of their results that returns the batch."""
        size = max(1, -(-len(paths) // (2 * self._workers)))  # two parts per worker balance the load
        chunks = [slice(start, min(start + size, len(paths))) for start in range(0, len(paths), size)]
        images = self._images
        if images is None or images.shape is None or self._kind != "threads":
            return [pool.submit(_prepared, self._preprocess, paths[chunk]) for chunk in chunks], _joined
        if self._device is None:
            batch = np.empty((len(paths), *images.shape), dtype=np.float32)
            jobs = [pool.submit(_fill, images.into, paths[chunk], batch[chunk]) for chunk in chunks]
            return jobs, lambda _: batch
        import torch

        shape, pinned = (len(paths), *images.shape[1:], 3), self._device.type == "cuda"
        levels = torch.empty(shape, dtype=torch.uint8, pin_memory=pinned)
        jobs = [pool.submit(_fill, images.levels_into, paths[chunk], levels.numpy()[chunk]) for chunk in chunks]
        return jobs, lambda _: images.normalised(levels.to(self._device, non_blocking=True))

    def _checked(self, images: Any, expected: int) -> Any:
        if len(images) != expected:
            raise UserError(
                f"preprocessing made {len(images)} inputs of {expected} stimuli",
                remedy="return one entry for each path in the list",
            )
        return images


_Jobs = list[Future[Any]]
_Join = Callable[[list[Any]], Any]


class _CoreTime:
    """Processor time of this process, compared with that of all cores."""

    def __init__(self) -> None:
        self._since = time.perf_counter(), time.process_time()

    def share(self) -> float:
        """Share of the cores' time since the last call, or since the beginning, in which this process computed."""
        now = time.perf_counter(), time.process_time()
        (started, used), self._since = self._since, now
        return (now[1] - used) / max((now[0] - started) * _cores(), 1e-9)


def _prepared(preprocess: Callable[[Sequence[Any]], Any], paths: Sequence[Any]) -> Any:
    try:
        images = pixel_values(preprocess(paths))
    except (AttributeError, TypeError) as error:  # as if `preprocess` took one path or image
        raise UserError(
            f"the preprocessing fails on a list of file paths ({type(error).__name__}: {error})",
            remedy="pass a function of a list of file paths that returns the network's input; transforms of "
            "torchvision and image processors as they are, not within a function or as classes",
        ) from error
    if not hasattr(images, "__len__"):
        raise UserError(
            f"preprocessing returns a {type(images).__name__}, not inputs of the network",
            remedy="return an array, a tensor or a list with one entry for each path",
        )
    return images


def _require_picklable(preprocess: Callable[[Sequence[Any]], Any]) -> None:
    try:
        pickle.dumps(preprocess)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise UserError(
            f"the preprocessing cannot be passed to processes that read stimuli: {error}",
            remedy="define it as a function at the top of a file, or pass loader='threads'",
        ) from error


def _fill(into: Callable[[Any, np.ndarray], None], paths: Sequence[Any], out: np.ndarray) -> None:
    for path, row in zip(paths, out, strict=True):
        into(path, row)


def _joined(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    alike = len({tuple(np.shape(piece)[1:]) for piece in pieces if hasattr(piece, "shape")}) == 1
    if alike and all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(pieces)
    if alike and all(hasattr(piece, "detach") for piece in pieces):
        import torch

        return torch.cat(pieces)
    return [item for piece in pieces for item in piece]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Timeline(Protocol):
    """Adds a time axis to outputs."""

    def arrange(self, layer: str, output: NDArray[Any]) -> NDArray[Any]:
        """Output of a batch as stimuli × time × …."""

    def bins(self, steps: int) -> list[tuple[float, float]]:
        """Start and end of each time step, in milliseconds."""


@dataclass(frozen=True)
class OutputFormat:
    """The part of a layer's output that is recorded, as an array."""

    pooling: Pooling  # pooling of token and feature maps
    timeline: Timeline | None = None  # time axis of the outputs
    # Name of a layer, and shape of its output for one stimulus → its layout
    layout: Callable[[str, tuple[int, ...]], Layout] | None = None

    def rows(self, layer: str, output: Any) -> NDArray[Any]:
        """Values of one batch, stimuli first."""
        tensor = tensor_of(output, layer)
        if self.timeline is not None:
            return self.timeline.arrange(layer, as_rows(tensor))
        return as_rows(self._pooled(layer, tensor))

    def transfer(self, layer: str, output: Any) -> "_Transfer | None":
        """Begin to copy the values of one batch from a GPU; None if they are not on one, or get a time axis."""
        tensor = tensor_of(output, layer)
        if self.timeline is not None or not getattr(tensor, "is_cuda", False):
            return None
        return _Transfer(self._pooled(layer, tensor.detach()))

    def _pooled(self, layer: str, tensor: Any) -> Any:
        if self.pooling.tokens is None and self.pooling.spatial is None:
            return tensor
        return self.pooling.apply(tensor, None if self.layout is None else self.layout(layer, tuple(tensor.shape[1:])))


class _Transfer:
    """Values that are copied from a GPU into page-locked memory while it goes on computing."""

    def __init__(self, tensor: Any) -> None:
        import torch

        if tensor.dtype == torch.bfloat16:  # NumPy has no such type
            tensor = tensor.float()
        self._values = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        self._values.copy_(tensor.resolve_conj().resolve_neg(), non_blocking=True)
        self._copied = torch.cuda.Event()
        self._copied.record(torch.cuda.current_stream(tensor.device))

    def rows(self) -> NDArray[Any]:
        """The values, as soon as they are there."""
        self._copied.synchronize()
        return np.asarray(self._values.numpy())


class Rows(Protocol):
    """Destination of responses, written row by row."""

    def __setitem__(self, rows: Any, values: Any, /) -> None: ...


@dataclass
class Pass:
    """Runs stimuli through a model."""

    # Makes a `Recorder`. The one of the first sample also records all stimuli, since it may have counted how often
    # modules run; those of further samples are like new.
    new_recorder: Callable[[], Recorder]
    loader: Loader  # reads and preprocesses stimuli
    batch_size: int  # number of stimuli in a batch; halved whenever memory runs out
    at_once: int  # largest number of them that are in the network together
    output_format: OutputFormat  # what is recorded of each layer's output
    hooks: Mapping[int, Callable[[Any], Any]] = field(default_factory=dict)  # users' hooks on batches
    _recorder: Recorder | None = field(default=None, init=False, repr=False)
    _transfers: "deque[tuple[Rows, str, NDArray[np.intp], _Transfer]]" = field(
        default_factory=deque, init=False, repr=False
    )

    def inputs(self, paths: Sequence[Any]) -> Any:
        """Preprocessed inputs of a few stimuli."""
        ((_, images),) = self.loader.batches(paths, [slice(0, len(paths))])
        return images

    def sample(self, images: Any, layers: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Responses of each layer to a few preprocessed stimuli, stimuli × its output's shape."""
        recorder = self.new_recorder()
        self._recorder = self._recorder or recorder
        with recorder(layers) as forward:
            outputs = [
                self._collected(forward, images[start : start + self.at_once], layers)
                for start in range(0, len(images), self.at_once)
            ]
        return {layer: np.concatenate([output[layer] for output in outputs]) for layer in layers}

    def record(
        self,
        paths: Sequence[Any],
        shifts: Shifts | None,
        destinations: Mapping[str, Rows],
        *,
        name: str,
        after_batch: Callable[[], None] = lambda: None,
    ) -> None:
        """Write the responses to all stimuli.

        Row ``stimulus · trials + trial`` of a destination gets the response to the stimulus in the trial. `after_batch`
        is called after each batch of a trial has passed the model.
        """
        trials = 1 if shifts is None else len(shifts.pixels)
        bounds = [
            slice(first, min(first + self.batch_size, len(paths))) for first in range(0, len(paths), self.batch_size)
        ]
        with (
            (self._recorder or self.new_recorder())(list(destinations)) as forward,
            stage(f"activations of {name}", len(paths), unit="stimuli") as extraction,
        ):
            for batch, images in self.loader.batches(paths, bounds):
                for trial in range(trials):
                    moved = images if shifts is None else shift_images(stack_images(images), shifts.pixels[trial])
                    rows = np.arange(batch.start, batch.stop) * trials + trial
                    self._in_parts(forward, moved, rows, destinations)
                    after_batch()
                extraction.done = batch.stop
            self._finish_transfers()

    def _finish_transfers(self, newest: int = 0) -> None:
        """Write what was copied from a GPU, except the `newest` transfers, which began in the last forward pass."""
        while len(self._transfers) > newest:
            destination, layer, rows, transfer = self._transfers.popleft()
            _put(destination, layer, rows, transfer.rows())

    def _in_parts(
        self, forward: Forward, images: Any, rows: NDArray[np.intp], destinations: Mapping[str, Rows]
    ) -> None:
        start = 0
        while start < len(rows):
            batch = slice(start, start + min(self.batch_size, self.at_once))
            start += len(rows[batch])
            self._write(forward, images[batch], rows[batch], destinations)

    def _write(self, forward: Forward, images: Any, rows: NDArray[np.intp], destinations: Mapping[str, Rows]) -> None:
        """Run one batch; in halves if memory does not suffice for the whole batch."""
        written: set[str] = set()  # layers that were written before memory ran out are not repeated
        before = len(self._transfers)

        def write(layer: str, output: Any) -> None:
            if layer in destinations:
                transfer = self.output_format.transfer(layer, output)
                if transfer is None:
                    _put(destinations[layer], layer, rows, self.output_format.rows(layer, output))
                else:
                    self._transfers.append((destinations[layer], layer, rows, transfer))
                written.add(layer)

        try:
            if self.hooks:
                for layer, values in self._collected(forward, images, list(destinations)).items():
                    _put(destinations[layer], layer, rows, values)
                    written.add(layer)
            else:
                forward(images, write)
                self._finish_transfers(len(self._transfers) - before)
        except Exception as error:
            if len(rows) == 1 or not _out_of_memory(error):
                raise
        else:
            return
        half = len(rows) // 2
        self.batch_size = min(self.batch_size, max(1, half))
        _free()
        unwritten = {layer: rows_ for layer, rows_ in destinations.items() if layer not in written}
        self._write(forward, images[:half], rows[:half], unwritten)
        self._write(forward, images[half:], rows[half:], unwritten)

    def _collected(self, forward: Forward, images: Any, layers: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Copied responses of one batch, after the users' hooks."""
        responses: dict[str, NDArray[Any]] = {}

        def copy(layer: str, output: Any) -> None:
            responses[layer] = np.array(self.output_format.rows(layer, output))

        forward(images, copy)
        missing = [layer for layer in layers if layer not in responses]
        if missing:
            raise UserError(f"the model returned nothing for {', '.join(missing)}", remedy="choose other layers")
        batch: Any = OrderedDict((layer, responses[layer]) for layer in layers)
        for hook in tuple(self.hooks.values()):
            batch = hook(batch)
        return dict(batch)


def stack_images(images: Any) -> Any:
    """Stack a batch's images to one array or tensor, … × height × width."""
    if isinstance(images, list | tuple) and images and all(hasattr(image, "shape") for image in images):
        if all(isinstance(image, np.ndarray) for image in images):
            return np.stack(images)
        import torch

        return torch.stack([torch.as_tensor(image) for image in images])
    if not hasattr(images, "shape") or len(images.shape) < 4:
        raise UserError(
            "images can only be displaced in an array, stimuli × channels × height × width",
            remedy="return such an array from preprocessing, or do not request variance",
        )
    return images


def _one_for_each(layer: str, values: Any, stimuli: int) -> Any:
    if len(values) != stimuli:
        raise UserError(
            f"layer {layer!r} returned {len(values)} responses to {stimuli} stimuli",
            remedy="the first axis of a layer's output must be the stimuli; choose another layer",
        )
    return values


def _put(destination: Rows, layer: str, rows: NDArray[np.intp], values: NDArray[Any]) -> None:
    try:
        first, last = int(rows[0]), int(rows[-1])
        consecutive = last - first == len(rows) - 1  # a slice is faster to write
        destination[slice(first, last + 1) if consecutive else rows] = _one_for_each(layer, values, len(rows))
    except ValueError as error:
        raise UserError(
            f"layer {layer!r} returned {' × '.join(map(str, values.shape))} values for {len(rows)} stimuli, other than "
            f"for the first stimulus alone: {error}",
            remedy="choose a layer whose response to a stimulus does not depend on the other stimuli",
        ) from error


def _out_of_memory(error: Exception) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and ("out of memory" in text or "not enough memory" in text)


def _free() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def as_rows(output: Any) -> NDArray[Any]:
    """Convert a tensor to a contiguous array on the CPU, without copying if possible; bfloat16 becomes float32."""
    if isinstance(output, np.ndarray):
        return output
    if hasattr(output, "detach"):
        import torch

        tensor = output.detach()
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()
        return tensor.cpu().resolve_conj().resolve_neg().contiguous().numpy()  # copies in several threads
    return np.asarray(output)


def tensor_of(output: Any, layer: str) -> Any:
    """The tensor in a layer's output: itself, the first of several, or ``last_hidden_state`` of a model output.

    Quantised values become floating-point numbers, and sparse tensors dense ones.

    A UserError if there is no tensor, or one that cannot be recorded: a single number, complex numbers, a nested
    tensor.
    """
    tensor = next(_tensors(output), None)
    if tensor is None:
        problem = f"returns a {type(output).__name__} without a tensor"
    elif getattr(tensor, "is_nested", False):
        problem = "returns a nested tensor, whose rows have different lengths"
    elif tensor.ndim == 0:
        problem = "returns a single number for all stimuli"
    elif tensor.is_complex() if hasattr(tensor, "is_complex") else np.iscomplexobj(tensor):
        problem = "returns complex numbers, which metrics cannot compare"
    else:
        if getattr(tensor, "is_quantized", False):
            return tensor.dequantize()
        return tensor.to_dense() if getattr(tensor, "is_sparse", False) else tensor
    raise UserError(
        f"layer {layer!r} {problem}",
        remedy="choose another layer, or a module of your own that returns them as one tensor of real numbers, stimuli "
        "first",
    )


def _tensors(output: Any) -> Iterator[Any]:
    """Tensors and arrays in a layer's output, ``last_hidden_state`` first."""
    if getattr(output, "is_nested", False) or hasattr(output, "shape"):
        yield output
        return
    named = getattr(output, "last_hidden_state", None)
    if named is not None:
        yield named
    members: Any = output
    if isinstance(output, Mapping):
        members = list(output.values())
    elif is_dataclass(output):
        members = [getattr(output, item.name) for item in fields(output)]
    for member in members if isinstance(members, list | tuple) else []:
        yield from _tensors(member)
