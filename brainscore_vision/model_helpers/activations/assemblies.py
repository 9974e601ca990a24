"""Coordinates of presentations and neuroids, and the assemblies made of recorded responses."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from xarray.indexes import PandasMultiIndex

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import stimulus_files
from brainscore_vision.model_helpers.activations.fingerprints import fingerprint
from brainscore_vision.model_helpers.activations.layouts import Layout

EXTENT_DEGREES = 0.05


class Shifts(NamedTuple):
    """Horizontal and vertical displacement of the image in each trial, trials × 2."""

    pixels: NDArray[np.float64]
    degrees: NDArray[np.float64]


def spiral(trials: int, *, height: int, visual_degrees: float | None) -> Shifts:
    """Position of the image in each trial: points spread evenly over a disc, from its centre outwards.

    Point i of n has radius √(i / n) · R and angle 2π · √i / √n, where R is 0.05° in pixels.

    R is given in degrees by the height of the image in pixels and the visual angle that it spans.

    References
    ----------
    Rolfs, M. (2009). Microsaccades: small steps on a long way. Vision Research, 49(20), 2415-2441.
    https://doi.org/10.1016/j.visres.2009.08.010

    Examples
    --------
    >>> spiral(2, height=224, visual_degrees=8).pixels.round(3)
    array([[ 0.   ,  0.   ],
           [-0.264, -0.954]])
    """
    if trials == 1:
        return Shifts(np.zeros((1, 2)), np.zeros((1, 2)))
    if visual_degrees is None:
        raise UserError(
            "the visual angle of the model's input is not known, so that eye movements have no size in pixels",
            remedy="call, for example, set_visual_degrees(8), or make a ModelCommitment of the activations model",
        )
    step = np.sqrt(np.arange(trials) / trials)
    pixels_per_degree = height / visual_degrees
    radius, angle = step * EXTENT_DEGREES * pixels_per_degree, 2 * np.pi * step
    pixels = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return Shifts(pixels, pixels / pixels_per_degree)


def shift_images(images: Any, shift: NDArray[np.float64]) -> Any:
    """Displace images by fractions of pixels, with bilinear interpolation; border pixels are repeated.

    `images` are … × height × width; `shift` is in pixels to the right and down.
    """
    if not np.any(shift):
        return images
    for axis, distance in ((-1, float(shift[0])), (-2, float(shift[1]))):
        images = _along(images, axis, distance)
    return images


def _along(images: Any, axis: int, distance: float) -> Any:
    size = images.shape[axis]
    whole = int(np.floor(-distance))
    fraction = -distance - whole
    before = _rows_at(images, np.clip(np.arange(size) + whole, 0, size - 1), axis)
    if fraction == 0:
        return before
    after = _rows_at(images, np.clip(np.arange(size) + whole + 1, 0, size - 1), axis)
    if isinstance(before, np.ndarray):
        fraction = before.dtype.type(fraction)
    before *= 1 - fraction
    after *= fraction
    before += after
    return before


def _rows_at(images: Any, positions: NDArray[np.intp], axis: int) -> Any:
    if isinstance(images, np.ndarray):
        return np.take(images if images.dtype.kind == "f" else images.astype(np.float32), positions, axis=axis)
    import torch

    images = images if images.is_floating_point() else images.float()
    return images.index_select(axis, torch.as_tensor(positions, device=images.device))


AssemblyT = TypeVar("AssemblyT", bound=DataAssembly)


def presentation_coords(stimuli: StimulusSet) -> dict[str, tuple[str, NDArray[Any]]]:
    """Coordinates of ``presentation`` from all columns of a stimulus set."""
    return {str(column): ("presentation", stimuli[column].to_numpy()) for column in stimuli.columns}


_READERS = max(2, os.cpu_count() or 1)
_FIRST = 16  # stimuli of which one is shown alone


@dataclass(frozen=True)
class Presentations:
    """Files in the order of presentation, with the coordinates of ``presentation``."""

    paths: tuple[Path, ...]
    coords: dict[str, tuple[str, NDArray[Any]]]
    identifier: str | None
    by_path: bool = False

    @classmethod
    def of(
        cls, stimuli: StimulusSet | Sequence[Any], identifier: str | None, *, by_path: bool = False
    ) -> "Presentations":
        """Make from a stimulus set or a list of paths; `by_path`: files of equal content but other names differ."""
        if isinstance(stimuli, StimulusSet):
            files = stimulus_files(stimuli)
            paths = tuple(files[stimulus_id] for stimulus_id in stimuli["stimulus_id"])
            return cls(paths, presentation_coords(stimuli), identifier or stimuli.identifier, by_path)
        paths = tuple(Path(path) for path in stimuli)
        missing = [str(path) for path in paths if not path.is_file()]
        if missing:
            raise UserError(
                f"{len(missing)} of {len(paths)} stimuli do not exist, the first is {missing[0]}",
                remedy="pass a StimulusSet or paths of files",
            )
        names = np.array([str(path) for path in stimuli], dtype=object)
        return cls(paths, {"stimulus_path": ("presentation", names)}, identifier, by_path)

    @cached_property
    def contents(self) -> list[str]:
        """Identity of each presentation's file: its hash, and its path if `by_path` is set."""
        distinct = list(dict.fromkeys(self.paths))
        shares = [
            distinct[start::_READERS] for start in range(_READERS)
        ]  # a job per file would cost more than reading the file
        digests: dict[Path, str] = {}
        with ThreadPoolExecutor(_READERS) as pool:
            for results in pool.map(lambda share: {path: file_digest(path, "sha256") for path in share}, shares):
                digests |= results
        return [f"{digests[path]} {path}" if self.by_path else digests[path] for path in self.paths]

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """For each presentation, the number of its content in :attr:`distinct`."""
        number = {content: row for row, content in enumerate(dict.fromkeys(self.contents))}
        return np.array([number[content] for content in self.contents], dtype=np.intp)

    @cached_property
    def distinct(self) -> list[Path]:
        """Files of different content in the order of their first presentation, without duplicates."""
        first: dict[str, Path] = {}
        for path, content in zip(self.paths, self.contents, strict=True):
            first.setdefault(content, path)
        return list(first.values())

    @cached_property
    def sample(self) -> int:
        """Number in :attr:`distinct` of the stimulus that is shown alone first.

        Of the first ones, one whose file is larger than most: blank screens hide differences between responses, and the
        largest values of a batch may be those of the largest file.
        """
        numbers = range(min(len(self.distinct), _FIRST))
        return sorted(numbers, key=lambda number: self.distinct[number].stat().st_size)[len(numbers) * 3 // 4]

    @property
    def fingerprint(self) -> str:
        """Hash of the distinct contents in order."""
        return fingerprint(list(dict.fromkeys(self.contents)))


_PLACES = {
    1: ("channel",),
    2: ("channel", "embedding"),
    3: ("channel", "channel_x", "channel_y"),
    4: ("channel_temporal", "channel_x", "channel_y", "channel"),
}


class LayerUnits(NamedTuple):
    """A recorded layer: its name, and the shape of its output for one stimulus (None if it was reduced).

    `channels_last`: whether the channels of a feature map are its last axis; None if not known.
    """

    name: str
    shape: tuple[int, ...] | None
    features: int
    channels_last: bool | None = False

    def in_layout(self, layout: Callable[[str, tuple[int, ...]], Layout]) -> "LayerUnits":
        """The layer with the position of its channels."""
        if self.shape is None or len(self.shape) != 3:
            return self
        return self._replace(channels_last=layout(self.name, self.shape).channels_last)

    @property
    def axes(self) -> tuple[str, ...] | None:
        """Names of the axes of its output; None if they have none."""
        if self.shape is None or self.channels_last is None:
            return None
        names = _PLACES.get(len(self.shape))
        return names if names is None or not self.channels_last else (*names[1:], names[0])


def neuroid_coords(identifier: str, layers: Sequence[LayerUnits]) -> xr.Coordinates:
    """Coordinates of dimension ``neuroid`` for layers side by side.

    ``neuroid_num``, ``model``, ``layer``, ``neuroid_id``; for outputs of 1 to 4 dimensions also ``channel``,
    ``channel_x``, ``channel_y``, ``embedding``, ``channel_temporal``, NaN if a layer does not have the dimension, or it
    is not known which one it is.
    """
    sizes = [layer.features for layer in layers]
    numbers = np.concatenate([np.arange(size) for size in sizes]) if layers else np.arange(0)
    names = list(dict.fromkeys(layer.name for layer in layers))
    ids = [f"{identifier}.{layer.name}.{number}" for layer in layers for number in range(layer.features)]
    levels: dict[str, tuple[pd.Index, NDArray[np.intp]]] = {
        "neuroid_num": (pd.RangeIndex(max(sizes, default=0)), numbers),
        "model": (_strings([identifier]), np.zeros(len(numbers), dtype=np.intp)),
        "layer": (_strings(names), np.repeat([names.index(layer.name) for layer in layers], sizes).astype(np.intp)),
        "neuroid_id": (_strings(ids), np.arange(len(ids))),
    }
    for name, codes in _places(layers).items():
        values = np.arange(codes.max(initial=-1) + 1)
        levels[name] = (pd.Index(values if (codes >= 0).all() else values.astype(float)), codes)
    return _as_coords("neuroid", levels)


def _places(layers: Sequence[LayerUnits]) -> dict[str, NDArray[np.intp]]:
    """Position of each unit along each named dimension of its layer's output; −1 without such a dimension."""
    axes = [layer.axes for layer in layers]
    level_names = {name for layer in layers if layer.shape is not None for name in _PLACES.get(len(layer.shape), ())}
    if any(names == ("channel",) for names in axes):  # as published: NaN for features without positions
        level_names |= {"channel_x", "channel_y"}
    positions: dict[str, list[NDArray[np.intp]]] = {name: [] for name in sorted(level_names)}
    for layer, names in zip(layers, axes, strict=True):
        here: Mapping[str, NDArray[np.intp]] = {}
        if names is not None and layer.shape is not None:
            here = dict(zip(names, np.indices(layer.shape).reshape(len(layer.shape), -1), strict=True))
        for name, columns in positions.items():
            columns.append(here.get(name, np.full(layer.features, -1)))
    return {name: np.concatenate(columns) for name, columns in positions.items()}


def _as_coords(dim: str, levels: Mapping[str, tuple[Any, NDArray[np.intp]]]) -> xr.Coordinates:
    """Coordinates of a dimension: name → distinct values, and for each position the index of its value among them."""
    # the order of levels in assemblies: otherwise all coordinates would be sorted again
    names = sorted(levels, key=lambda name: name.removesuffix("_end") + "_start_" if name.endswith("_end") else name)
    index: Any = pd.MultiIndex(
        levels=[levels[name][0] for name in names],
        codes=[levels[name][1] for name in names],  # type: ignore[misc] # codes of any type
        names=names,
        verify_integrity=False,
    )
    types: dict[Any, Any] = {name: np.asarray(levels[name][0]).dtype for name in names}
    wrapped = PandasMultiIndex(index, dim, types)
    return xr.Coordinates(wrapped.create_variables(), indexes=dict.fromkeys([dim, *names], wrapped))


def _strings(values: Sequence[str]) -> pd.Index:
    return pd.Index(np.array(values, dtype=object), dtype=object)


@dataclass(frozen=True)
class ShownStimuli:
    """The stimuli presented, the number of trials, and the displacement of the image in each trial.

    `moving`: whether trials differ, so that each trial has its own rows.
    """

    presentations: Presentations
    trials: int
    shifts: Shifts
    moving: bool

    @property
    def rows(self) -> NDArray[np.intp]:
        """Row of the recorded values for each presentation and trial, ordered by stimulus, then by trial."""
        rows = np.repeat(self.presentations.rows, self.trials)
        return rows * self.trials + self._each(np.arange(self.trials)) if self.moving else rows

    @property
    def row_count(self) -> int:
        """Number of rows to record: one for each distinct stimulus, or for each of its trials."""
        return len(self.presentations.distinct) * (self.trials if self.moving else 1)

    @property
    def coords(self) -> dict[str, tuple[str, NDArray[Any]]]:
        """Coordinates of ``presentation``, in the order of :attr:`rows`."""
        coords = {
            name: (dim, np.repeat(column, self.trials)) for name, (dim, column) in self.presentations.coords.items()
        }
        for axis, direction in enumerate("xy"):
            for unit, moved in zip(("pixels", "degrees"), self.shifts, strict=True):
                column = self._each(np.broadcast_to(moved[:, axis], self.trials))
                coords[f"microsaccade_shift_{direction}_{unit}"] = ("presentation", column)
        if self.trials > 1:
            coords["repetition"] = ("presentation", self._each(np.arange(self.trials)))
        return coords

    def _each(self, trials: NDArray[Any]) -> NDArray[Any]:
        return np.tile(trials, len(self.presentations.paths))


def with_stimulus_columns(
    activations: NeuroidAssembly, stimulus_set: StimulusSet, files: Mapping[str, Path]
) -> NeuroidAssembly:
    """Add the columns of a stimulus set to the activations for its files."""
    shown = np.array([str(files[stimulus_id]) for stimulus_id in stimulus_set["stimulus_id"]], dtype=object)
    trials = max(activations.sizes["presentation"] // max(len(shown), 1), 1)
    if not np.array_equal(activations["stimulus_path"].values.astype(object), np.repeat(shown, trials)):
        raise UserError(
            "from_paths of the extractor does not return the presentations in the order of the files",
            remedy="keep the order of stimulus_path, with the trials of each file together",
        )
    columns = presentation_coords(stimulus_set)
    return activations.assign_coords(
        {name: (dim, np.repeat(values, trials)) for name, (dim, values) in columns.items()}
    )


def make_assembly(
    identifier: str,
    shown: ShownStimuli,
    layers: Sequence[LayerUnits],
    values: NDArray[Any],
    time_bins: Sequence[tuple[float, float]] | None = None,
) -> NeuroidAssembly:
    """Make an assembly of recorded values, rows × [time ×] units of `layers`; not copied if each row is used once."""
    rows = shown.rows
    if not np.array_equal(rows, np.arange(len(values))):
        values = values[rows]
    coordinates = [
        DataAssembly(np.empty(len(rows)), coords=shown.coords, dims=["presentation"]).coords,
        neuroid_coords(identifier, layers),
    ]
    dims = ["presentation", "neuroid"]
    if time_bins is not None:
        starts, ends = np.array(time_bins).T
        bins = {"time_bin_start": ("time_bin", starts), "time_bin_end": ("time_bin", ends)}
        coordinates.append(DataAssembly(np.empty(len(starts)), coords=bins, dims=["time_bin"]).coords)
        values = np.moveaxis(values, 1, 2)
        dims.append("time_bin")
    variables: dict[Any, Any] = {}
    indexes: dict[Any, Any] = {}
    for coords in coordinates:
        variables |= coords.variables
        indexes |= dict(coords.xindexes)
    name = shown.presentations.identifier
    attrs = {} if name is None else {"stimulus_set_identifier": name}
    # already complete: without fastpath, values and coordinates would be copied
    return NeuroidAssembly(xr.Variable(dims, values, attrs), coords=variables, indexes=indexes, fastpath=True)


def with_level(assembly: AssemblyT, dim: str, name: str, value: str) -> AssemblyT:
    """Add a coordinate with a constant value along a dimension."""
    dim_index = assembly.xindexes.get(dim)
    if not isinstance(dim_index, PandasMultiIndex) or name in dim_index.index.names:
        return assembly.assign_coords({name: (dim, np.full(assembly.sizes[dim], value, dtype=object))})
    index: Any = dim_index.index
    levels: dict[Any, Any] = dict(zip(index.names, zip(index.levels, index.codes, strict=True), strict=True))
    levels[name] = (pd.Index([value], dtype=object), np.zeros(len(index), dtype=np.intp))
    return with_dimension(assembly, assembly.values, dim, levels)


def with_dimension(
    assembly: AssemblyT, values: NDArray[Any], dim: str, levels: Mapping[str, tuple[Any, NDArray[np.intp]]]
) -> AssemblyT:
    """Make an assembly with other values and other coordinates of one dimension; a new dimension is appended.

    `levels` map each name to distinct values, and for each position the index of its value among them.
    """
    new = _as_coords(dim, levels)
    variables = {name: column for name, column in assembly.coords.variables.items() if column.dims != (dim,)}
    indexes = {name: dim_index for name, dim_index in assembly.xindexes.items() if name in variables}
    dims = assembly.dims if dim in assembly.dims else (*assembly.dims, dim)
    # already complete: without fastpath, xarray would copy each dimension's index once for each of its levels
    return type(assembly)(
        xr.Variable(dims, values, assembly.attrs),
        coords=variables | dict(new.variables),
        indexes=indexes | dict(new.xindexes),
        fastpath=True,
    )
