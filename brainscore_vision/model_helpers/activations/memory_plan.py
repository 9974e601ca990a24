"""Plan of a run's memory and disk space before it starts, with advice if they do not suffice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shutil import disk_usage
from tempfile import gettempdir
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import DTypeLike

from brainscore_core.errors import UserError
from brainscore_core.memory import format_size, memory_limit, resident_memory
from brainscore_vision.model_helpers.activations.reduction import IncrementalPCA, learning_bytes, make_reduction

if TYPE_CHECKING:
    from brainscore_core.activation_store import ActivationStore

_WORKING = 3.0  # a running network holds about this multiple of its input and the recorded activations
_CHUNKS = 1 << 27  # bytes in which regressions work through large features, and through groups of splits
_NAMES = 800  # bytes of coordinates for each neuroid: those of an assembly, and of a second one made from it
_SQUARES = 4  # stimuli × stimuli or features × features matrices that a regression holds together
_GEOMETRY_CHUNKS = 1 << 25  # bytes of the chunks of metrics of geometries, such as rdm and cka
_GEOMETRY_SQUARES = 8  # stimuli × stimuli matrices that these hold together, with the interval


@dataclass(frozen=True)
class MemoryPlan:
    """How a run fits into memory."""

    dtype: str  # type that activations are stored in
    batch_size: int  # number of stimuli that pass the network together, at most the requested number
    # As for :func:`~brainscore_vision.model_helpers.activations.reduction.make_reduction`; None if activations are not
    # reduced
    reduction: str | None
    # predicted_peak and limit: largest memory of the run and its limit, in bytes
    predicted_peak: int
    limit: int
    # disk and room: disk space of the stored layers and available space, in bytes. Both 0 without a store, unless
    # components are learned, for which layers are kept in a temporary folder
    disk: int
    room: int
    numbers: dict[str, int]  # parts of the peak, in bytes

    @property
    def fits(self) -> bool:
        """Whether memory and disk suffice."""
        return self.predicted_peak <= self.limit and self.disk <= self.room


def plan(
    shapes: Mapping[str, int | Sequence[int]],
    stimuli: int,
    *,
    limit: int | str | None = None,
    dtype: DTypeLike | None = None,
    batch_size: int = 64,
    input_bytes: int = 0,
    process_bytes: int | None = None,
    together: bool = False,
    reduction: str | Literal["auto"] | None = None,
    store: ActivationStore | None = None,
) -> MemoryPlan:
    """Predict the memory of extracting and scoring, and choose settings that keep it within the limit.

    Layers are streamed to disk, so that memory holds one batch of each rather than all stimuli; a metric then reads a
    layer from its memory map. Memory contains the process with the network, one batch in the network, and the weights
    of a reduction; afterwards the coordinates of the neuroids and the arrays of the metric; and, without a store, all
    activations.

    `shapes`: features of each layer for one stimulus, from a probe. `stimuli`: number of presentations, including
    repeated trials. `limit`: memory limit; by default :func:`~brainscore_core.memory.memory_limit`. `dtype`: type to
    store; by default float32. float16 is never chosen automatically. `batch_size`: requested number of stimuli in a
    batch. `input_bytes`: size of one preprocessed stimulus. `process_bytes`: memory before the run, including the
    network; by default the current memory of this process. `together`: whether the layers will be side by side in
    memory, not each alone. `reduction`: a reduction to apply, such as ``'projection'`` or ``'pca:300'``; ``'auto'`` for
    a random projection if activations do not fit into memory or on disk otherwise. By default there is none. `store`:
    where activations are stored. Without a store they stay in memory. Result: a MemoryPlan with the largest batch that
    fits. A UserError if the run cannot fit; the message has the numbers and possible remedies.

    Examples
    --------
    >>> shapes = {"conv1": (64, 55, 55), "fc": 1000}
    >>> result = plan(shapes, 5000, limit="4GB", process_bytes=500_000_000, reduction="auto")
    >>> result.reduction, result.batch_size, result.predicted_peak < result.limit
    ('projection', 64, True)
    """
    features = {layer: int(np.prod(shape, dtype=object)) for layer, shape in shapes.items()}
    if not features:
        raise ValueError("there are no layers; shapes must contain each recorded layer")
    if stimuli < 1 or batch_size < 1:
        raise ValueError(f"{stimuli} stimuli in batches of {batch_size}: both need to be above 0")
    allowed = memory_limit(limit)
    stored = np.dtype("float32" if dtype is None else dtype)
    process = resident_memory() if process_bytes is None else process_bytes
    learned = reduction not in (None, "auto") and isinstance(make_reduction(str(reduction)), IncrementalPCA)
    room = store.room() if store is not None else disk_usage(gettempdir()).free if learned else 0

    for spec in [None, "projection"] if reduction == "auto" else [reduction]:
        width, weights, learning = dict(features), 0, 0
        if spec is not None:
            for layer, count in features.items():
                reducer = make_reduction(spec)
                width[layer] = reducer.width(count)
                if isinstance(reducer, IncrementalPCA):  # layers are reduced one after another, after the run
                    learning = max(learning, learning_bytes(reducer.n_components, count, stimuli, stored.itemsize))
                else:
                    weights += reducer.nbytes(count)
        recorded = sum(features.values())
        one_stimulus = input_bytes + int(_WORKING * (input_bytes + 4 * recorded)) + (4 + stored.itemsize) * recorded
        size = stimuli * stored.itemsize * sum(width.values())
        # activations that components are learned from are stored, too
        whole = stimuli * stored.itemsize * sum(features[layer] for layer in width if width[layer] < features[layer])
        widest = sum(width.values()) if together else max(width.values())
        buffers, names = size if store is None else 0, _NAMES * widest
        metric = _metric(widest, stimuli, stored.itemsize if together and len(width) > 1 else 0)
        fitting = (allowed - process - buffers - weights) // max(one_stimulus, 1)
        batch = max(1, int(min(batch_size, stimuli, fitting)))
        result = MemoryPlan(
            dtype=stored.name,
            batch_size=batch,
            reduction=spec,
            predicted_peak=process + buffers + max(weights + batch * one_stimulus, learning, names + metric),
            limit=allowed,
            disk=(0 if store is None else size) + (whole if learned else 0),
            room=room,
            numbers={
                "process and network": process,
                f"batch of {batch} in the network": batch * one_stimulus,
                "reduction": weights + learning,
                "activations kept in memory": buffers,
                "coordinates of neuroids": names,
                "metric": metric,
            },
        )
        if result.fits:
            return result
    raise _refusal(result, f"{stimuli} stimuli × {recorded} features", reduction)


def _metric(features: int, stimuli: int, itemsize: int) -> int:
    """Bytes of a copy of the features, 0 bytes each if there is none, and of matrices of the smaller dimension."""
    regression = _CHUNKS + _SQUARES * 8 * min(stimuli, features) ** 2
    geometry = _GEOMETRY_CHUNKS + _GEOMETRY_SQUARES * 8 * stimuli**2
    return stimuli * features * itemsize + max(regression, geometry)


def _refusal(refused: MemoryPlan, shown: str, reduction: str | None) -> UserError:
    problems, remedies = [], []
    if refused.predicted_peak > refused.limit:
        allowed = format_size(refused.limit)
        problems.append(f"{format_size(refused.predicted_peak)} of memory needed, {allowed} allowed")
        remedies.append("allow more with --max-memory or BRAINSCORE_MAX_MEMORY")
    if refused.disk > refused.room:
        available = format_size(refused.room)
        problems.append(f"{format_size(refused.disk)} of disk needed, {available} available for activations")
        remedies.append("raise BRAINSCORE_ACTIVATIONS_LIMIT or name another folder with BRAINSCORE_ACTIVATIONS")
    if refused.numbers["activations kept in memory"]:
        remedies.append("store activations on disk (BRAINSCORE_ACTIVATIONS)")
    remedies.append("record from fewer layers at once")
    if reduction is None:
        remedies.append("pool, or reduce them (reduction='projection')")
    numbers = ", ".join(f"{name} {format_size(value)}" for name, value in refused.numbers.items() if value)
    return UserError(f"{shown} do not fit: {'; '.join(problems)}\n({numbers})", remedy="; or ".join(remedies))
