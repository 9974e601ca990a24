"""Responses over time, averaged into the time bins of a recording."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, walk_coords
from brainscore_vision.model_helpers.activations.assemblies import with_dimension

AssemblyT = TypeVar("AssemblyT", bound=DataAssembly)


TimeBins = Sequence[tuple[float, float]]
Mode = Literal["portion", "center"]
_RENAMED = {"time_bin_level_0": "time_bin_start", "time_bin_level_1": "time_bin_end"}


class TemporalAligned:
    """Converts the recordings of another model to the requested time bins.

    :class:`ModelCommitment` does this itself; this class is for models that support only regions, such as those in
    scripts for brain-score 2.x.

    Parameters
    ----------
    layer_model : BrainModel
        Its ``start_recording`` takes a region; its ``look_at`` returns presentation × neuroid[ × time_bin].
    """

    def __init__(self, layer_model: Any) -> None:
        self._layer_model = layer_model
        self._time_bins: TimeBins | None = None

    def start_recording(self, recording_target: str, time_bins: Any = None) -> None:
        """Record from a region in these time bins."""
        self._time_bins = checked_time_bins(time_bins)
        self._layer_model.start_recording(recording_target)

    def look_at(self, stimuli: Any, number_of_trials: int = 1, **options: Any) -> NeuroidAssembly:
        """Recordings in the time bins; see :func:`in_time_bins`."""
        responses = self._layer_model.look_at(stimuli, number_of_trials=number_of_trials, **options)
        return in_time_bins(responses, self._time_bins)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._layer_model, name)


def checked_time_bins(time_bins: Any) -> list[tuple[float, float]] | None:
    """Convert time bins to pairs of numbers; None stays None.

    A UserError if the sequence is empty, or a time bin is not a pair or ends before it starts.

    Examples
    --------
    >>> checked_time_bins(np.array([[70, 170]]))
    [(70, 170)]
    """
    if time_bins is None:
        return None
    try:
        bins = [tuple(np.asarray(time_bin).tolist()) for time_bin in time_bins]
        valid = bool(bins) and all(len(time_bin) == 2 and time_bin[0] <= time_bin[1] for time_bin in bins)
    except TypeError:
        valid = False
    if not valid:
        raise UserError(
            f"time_bins are {time_bins!r}",
            remedy="pass start and end of each time bin in milliseconds after stimulus onset, such as [(70, 170)]",
        )
    return [(start, end) for start, end in bins]


def time_align(source_time_bins: ArrayLike, target_time_bins: ArrayLike, mode: Mode = "portion") -> NDArray[np.float64]:
    """Weights of source time bins in target time bins.

    Targets × sources, of bins in milliseconds. ``'portion'``: the share of a source bin that is in the target bin.
    ``'center'``: 1 for a source bin that contains the middle of the target bin. All 0 for a target that the sources do
    not cover (``'portion'``: completely; ``'center'``: at its middle).

    Examples
    --------
    >>> time_align([(0, 100), (100, 200)], [(50, 150), (150, 250)])
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    source = np.asarray(source_time_bins, dtype=np.float64).reshape(-1, 2)
    target = np.asarray(target_time_bins, dtype=np.float64).reshape(-1, 2)
    starts, ends = target[:, :1], target[:, 1:]
    if mode == "center":
        middles = (starts + ends) / 2
        return ((middles >= source[:, 0]) & (middles < source[:, 1])).astype(np.float64)
    if mode != "portion":
        raise ValueError(f"mode is {mode!r}; known: 'portion', 'center'")
    overlap = np.clip(np.minimum(ends, source[:, 1]) - np.maximum(starts, source[:, 0]), 0, None)
    with np.errstate(invalid="ignore"):
        weights = np.nan_to_num(overlap / (source[:, 1] - source[:, 0]))
    covered = np.array([_covers(source, start, end) for start, end in target], dtype=bool)
    return weights * covered[:, np.newaxis]


def assembly_time_align(source: AssemblyT, target_time_bins: TimeBins, mode: Mode = "portion") -> AssemblyT:
    """Average the time bins of an assembly into other time bins.

    Parameters
    ----------
    source : DataAssembly, … × time_bin
        With ``time_bin_start`` and ``time_bin_end``.
    target_time_bins : sequence of (start, end)
        In milliseconds.
    mode : {'portion', 'center'}
        Weights of the average; see :func:`time_align`.

    Returns
    -------
    DataAssembly
        Of the class and, if floating-point, the precision of `source`; NaN in a source bin gives NaN in all target bins
        that contain part of it. ``time_bin`` is the last dimension.

    Raises
    ------
    UserError
        If there are no time bins, or they do not cover the target time bins.

    Examples
    --------
    >>> assembly = NeuroidAssembly(
    ...     [[[1.0, 3.0]]],
    ...     coords={"stimulus_id": ("presentation", ["a"]), "neuroid_id": ("neuroid", [0]),
    ...             "time_bin_start": ("time_bin", [0, 100]), "time_bin_end": ("time_bin", [100, 200])},
    ...     dims=["presentation", "neuroid", "time_bin"],
    ... )
    >>> assembly_time_align(assembly, [(50, 150), (100, 200)]).values
    array([[[2., 3.]]])
    """
    missing = [name for name in ("time_bin_start", "time_bin_end") if name not in source.coords]
    if "time_bin" not in source.dims or missing:
        raise UserError(
            f"an assembly of dimensions {source.dims} has no {' and '.join(missing) or 'time_bin'}",
            remedy="give its dimension 'time_bin' the coordinates 'time_bin_start' and 'time_bin_end'",
        )
    targets = checked_time_bins(target_time_bins) or []
    bins = np.stack([source["time_bin_start"].values, source["time_bin_end"].values], axis=1)
    weights = time_align(bins, targets, mode)
    uncovered = [time_bin for time_bin, row in zip(targets, weights, strict=True) if not row.any()]
    if uncovered:
        raise UserError(
            f"the time bins {', '.join(map(_shown, map(tuple, bins.tolist())))} do not cover "
            f"{', '.join(map(_shown, uncovered))}",
            remedy="request time bins within them; a network that takes clips is recorded for longer with a larger "
            "duration (img_duration of PytorchWrapper)",
        )
    source = source.transpose(..., "time_bin")
    values = source.values
    dtype = values.dtype if np.issubdtype(values.dtype, np.floating) else np.dtype(np.float64)
    aligned = np.empty((*values.shape[:-1], len(targets)), dtype=dtype)
    for number, row in enumerate(weights):
        covered = np.flatnonzero(row)
        share = row[covered] / row[covered].sum()
        aligned[..., number] = sum(values[..., index] * weight for index, weight in zip(covered, share, strict=True))
    return _with_time_bins(source, aligned, targets)


def fix_timebin_naming(assembly: AssemblyT) -> AssemblyT:
    """Rename ``time_bin_level_0`` to ``time_bin_start`` and ``time_bin_level_1`` to ``time_bin_end``.

    Some versions of xarray named the levels of ``time_bin`` so; other assemblies are returned unchanged.
    """
    coords: dict[Any, Any] = {
        _RENAMED.get(str(name), name): (dims, values) for name, dims, values in walk_coords(assembly)
    }
    return type(assembly)(assembly.values, coords=coords, dims=assembly.dims, attrs=assembly.attrs)


def in_time_bins(responses: NeuroidAssembly, time_bins: TimeBins | None) -> NeuroidAssembly:
    """Responses in the requested time bins; a single time bin is squeezed.

    Without a time course, the response is the same in each bin: a read-only view. With a time course, see
    :func:`assembly_time_align`.
    """
    if time_bins is None:
        return responses
    if "time_bin" in responses.dims:
        aligned = assembly_time_align(responses, time_bins)
        return aligned.isel(time_bin=0, drop=True) if len(time_bins) == 1 else aligned
    if len(time_bins) == 1:
        return responses
    values = responses.values
    repeated = np.broadcast_to(values[..., np.newaxis], (*values.shape, len(time_bins)))
    return _with_time_bins(responses, repeated, time_bins)


def steps_for(when: Mapping[int, tuple[float, float]], time_bins: TimeBins | None) -> list[int]:
    """Time step of a recurrent model for each time bin.

    Times are in milliseconds. Each bin gets the step whose start is nearest to its start, the earlier of two equally
    near ones, as published for CORnet-S (https://doi.org/10.48550/arXiv.1909.06161). Without bins, every step once.

    Examples
    --------
    >>> steps_for({0: (100, 200), 1: (200, 300)}, [(70, 170), (170, 270)])
    [0, 1]
    """
    steps = sorted(when, key=lambda step: (when[step], step))
    if time_bins is None:
        return steps
    starts = np.array([when[step][0] for step in steps], dtype=np.float64)
    return [steps[int(np.abs(starts - start).argmin())] for start, _ in time_bins]


def steps_in_time(
    responses: Mapping[int, NeuroidAssembly], steps: Sequence[int], time_bins: TimeBins
) -> NeuroidAssembly:
    """Combine responses of a recurrent model, one step per time bin.

    Responses are presentation × neuroid, of the same neuroids at each step; the result has × time_bin if there are
    several.
    """
    first = responses[steps[0]]
    if len(time_bins) == 1:
        return first
    shapes = {responses[step].shape for step in steps}
    if len(shapes) > 1:
        raise UserError(
            f"the time steps have different neuroids: {', '.join(f'{a} × {b}' for a, b in sorted(shapes))}",
            remedy="map layers of one shape to a region",
        )
    return _with_time_bins(first, np.stack([responses[step].values for step in steps], axis=-1), time_bins)


def _with_time_bins(assembly: AssemblyT, values: NDArray[Any], time_bins: TimeBins) -> AssemblyT:
    """Make an assembly of `values`, … × time_bin, with the other coordinates and the attributes of `assembly`."""
    ends = np.asarray(time_bins).T
    levels: dict[str, Any] = {
        name: np.unique(column, return_inverse=True)
        for name, column in zip(("time_bin_start", "time_bin_end"), ends, strict=True)
    }
    return with_dimension(assembly, values, "time_bin", levels)


def _covers(bins: NDArray[np.float64], start: float, end: float) -> bool:
    """Whether every moment from `start` to `end` is in one of `bins`."""
    reached = start
    for low, high in bins[np.argsort(bins[:, 0], kind="stable")]:
        if low <= reached <= high:
            reached = max(reached, high)
    return bool(reached >= end and (bins[:, 0] <= start).any() and start < end)


def _shown(time_bin: tuple[float, float]) -> str:
    return f"{time_bin[0]:g}–{time_bin[1]:g} ms"
