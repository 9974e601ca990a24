"""One pass of stimuli through a model: batches, trials, and where each layer's responses go."""

import gc
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations._loading import Loader
from brainscore_vision.model_helpers.activations._microsaccades import Shifts, shift_images

__all__ = ["Forward", "Pass", "Recorder", "Take", "plain_recorder", "stacked"]

_SHOW_PROGRESS_FROM = 1000  # stimuli

Take = Callable[[str, Any], None]
#: runs inputs through the model and hands each layer's output to `take` as soon as it is there
Forward = Callable[[Any, Take], None]
#: makes a model ready for recording from layers
Recorder = Callable[[Sequence[str]], AbstractContextManager[Forward]]


class Rows(Protocol):
    """Where responses are written to, row by row."""

    def __setitem__(self, rows: Any, values: Any, /) -> None: ...


@dataclass
class Pass:
    """How stimuli go through a model.

    Attributes
    ----------
    recorder : callable
        See `Recorder`.
    loader : Loader
        Reads and preprocesses.
    batch_size : int
        Stimuli that are read at once; halved whenever memory runs out.
    at_once : int
        Most of them that are in the network at once.
    kept : callable
        Layer and its output → array of what is recorded of it, stimuli first.
    hooks : mapping
        Users' hooks on batches.
    """

    recorder: Recorder
    loader: Loader
    batch_size: int
    at_once: int
    kept: Callable[[str, Any], NDArray[Any]]
    hooks: Mapping[int, Callable[[Any], Any]] = field(default_factory=dict)

    def first(self, path: Any, layers: Sequence[str]) -> tuple[dict[str, NDArray[Any]], Any]:
        """Responses of each layer to one stimulus, 1 × its output's shape; and the input that was made of it."""
        ((_, images),) = self.loader.batches([path], [slice(0, 1)])
        with self.recorder(layers) as forward:
            return self._collected(forward, images, layers), images

    def rest(
        self,
        paths: Sequence[Any],
        shifts: Shifts | None,
        destinations: Mapping[str, Rows],
        *,
        skip: int,
        name: str,
    ) -> None:
        """Write every stimulus's responses but those of the first `skip` presentations of trial 0.

        Row ``stimulus · trials + trial`` of a destination gets that stimulus's response in that trial.
        """
        trials = 1 if shifts is None else len(shifts.pixels)
        start = skip if trials == 1 else 0
        bounds = [
            slice(first, min(first + self.batch_size, len(paths)))
            for first in range(start, len(paths), self.batch_size)
        ]
        if not bounds:
            return
        with self.recorder(list(destinations)) as forward:
            for batch, images in _progress(self.loader.batches(paths, bounds), len(paths), name):
                for trial in range(trials):
                    moved = images if shifts is None else shift_images(stacked(images), shifts.pixels[trial])
                    first = max(skip - batch.start, 0) if trial == 0 else 0
                    rows = np.arange(batch.start + first, batch.stop) * trials + trial
                    self._in_parts(forward, moved[first:] if first else moved, rows, destinations)

    def _in_parts(
        self, forward: Forward, images: Any, rows: NDArray[np.intp], destinations: Mapping[str, Rows]
    ) -> None:
        start = 0
        while start < len(rows):
            part = slice(start, start + min(self.batch_size, self.at_once))
            start += len(rows[part])
            self._write(forward, images[part], rows[part], destinations)

    def _write(self, forward: Forward, images: Any, rows: NDArray[np.intp], destinations: Mapping[str, Rows]) -> None:
        """Run one batch; in halves where memory does not suffice for all of it."""
        done: set[str] = set()  # a row is written once: what got through before memory ran out is left alone then

        def put(layer: str, values: NDArray[Any]) -> None:
            if len(values) != len(rows):
                raise UserError(
                    f"layer {layer!r} gave {len(values)} responses to {len(rows)} stimuli",
                    remedy="the first axis of a layer's output must be the stimuli; choose another layer",
                )
            destinations[layer][_slice(rows)] = values
            done.add(layer)

        try:
            if self.hooks:
                for layer, values in self._collected(forward, images, list(destinations)).items():
                    put(layer, values)
            else:
                forward(
                    images,
                    lambda layer, output: put(layer, self.kept(layer, output)) if layer in destinations else None,
                )
        except Exception as error:
            if len(rows) == 1 or not _out_of_memory(error):
                raise
        else:
            return
        half = len(rows) // 2
        self.batch_size = min(self.batch_size, max(1, half))
        _free()
        left = {layer: rows_ for layer, rows_ in destinations.items() if layer not in done}
        self._write(forward, images[:half], rows[:half], left)
        self._write(forward, images[half:], rows[half:], left)

    def _collected(self, forward: Forward, images: Any, layers: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Responses of one batch, copied, after the users' hooks."""
        found: dict[str, NDArray[Any]] = {}
        forward(images, lambda layer, output: found.__setitem__(layer, np.array(self.kept(layer, output))))
        missing = [layer for layer in layers if layer not in found]
        if missing:
            raise UserError(f"the model returned nothing for {', '.join(missing)}", remedy="choose other layers")
        batch: Any = OrderedDict((layer, found[layer]) for layer in layers)
        for hook in tuple(self.hooks.values()):
            batch = hook(batch)
        return dict(batch)


def plain_recorder(get_activations: Callable[[Any, list[str]], Mapping[str, Any]]) -> Recorder:
    """Recorder of a function that returns each layer's output."""

    @contextmanager
    def recorder(layers: Sequence[str]) -> Iterator[Forward]:
        def forward(images: Any, take: Take) -> None:
            for layer, output in get_activations(images, list(layers)).items():
                take(layer, output)

        yield forward

    return recorder


def stacked(images: Any) -> Any:
    """One array or tensor of a batch's images, … × height × width."""
    if isinstance(images, list | tuple) and images and all(hasattr(image, "shape") for image in images):
        if all(isinstance(image, np.ndarray) for image in images):
            return np.stack(images)
        import torch

        return torch.stack([torch.as_tensor(image) for image in images])
    if not hasattr(images, "shape") or len(images.shape) < 4:
        raise UserError(
            "the model's input is no array of images, stimuli × channels × height × width, that could be displaced",
            remedy="let preprocessing return such an array, or do not ask for variance",
        )
    return images


def _slice(rows: NDArray[np.intp]) -> Any:
    """Rows that follow each other as a slice, which is quicker to write to."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first == len(rows) - 1 else rows


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


def _progress(batches: Iterator[tuple[slice, Any]], stimuli: int, name: str) -> Iterator[tuple[slice, Any]]:
    """Go through `batches`; a run long enough to wait for shows how far it is, in a terminal only."""
    if stimuli < _SHOW_PROGRESS_FROM or not sys.stderr.isatty():
        yield from batches
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(f"{name}: {stimuli} stimuli", total=stimuli)
        for batch, images in batches:
            yield batch, images
            progress.update(task, completed=batch.stop)
