"""Responses with their coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers._packaging import presentation_coords
from brainscore_vision.model_helpers.activations._microsaccades import Shifts
from brainscore_vision.model_helpers.activations._neuroids import LayerUnits, neuroid_coords
from brainscore_vision.model_helpers.activations._presentations import Presentations

__all__ = ["Shown", "assembly", "with_stimulus_columns"]


@dataclass(frozen=True)
class Shown:
    """What was presented, how often, and by how much the image was displaced in each trial.

    `moving` says whether trials differ, so that each has rows of its own.
    """

    presentations: Presentations
    trials: int
    shifts: Shifts
    moving: bool

    @property
    def rows(self) -> NDArray[np.intp]:
        """Row of the recorded values for each presentation and trial, stimulus by stimulus, trial by trial."""
        rows = np.repeat(self.presentations.rows, self.trials)
        return rows * self.trials + self._each(np.arange(self.trials)) if self.moving else rows

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
    """Activations for files, with the columns of the stimulus set that the files belong to."""
    shown = np.array([str(files[stimulus_id]) for stimulus_id in stimulus_set["stimulus_id"]], dtype=object)
    trials = max(activations.sizes["presentation"] // max(len(shown), 1), 1)
    if not np.array_equal(activations["stimulus_path"].values.astype(object), np.repeat(shown, trials)):
        raise UserError(
            "from_paths of the extractor does not return the presentations in the order of the files",
            remedy="keep the order of stimulus_path, trial after trial of each file",
        )
    columns = presentation_coords(stimulus_set)
    return activations.assign_coords(
        {name: (dim, np.repeat(values, trials)) for name, (dim, values) in columns.items()}
    )


def assembly(
    identifier: str,
    shown: Shown,
    layers: Sequence[LayerUnits],
    values: NDArray[Any],
    time_bins: Sequence[tuple[float, float]] | None = None,
) -> NeuroidAssembly:
    """Recorded values, rows × [time ×] units of `layers`, as an assembly; not copied where each row is used once."""
    rows = shown.rows
    if not np.array_equal(rows, np.arange(len(values))):
        values = values[rows]
    made = [
        DataAssembly(np.empty(len(rows)), coords=shown.coords, dims=["presentation"]).coords,
        neuroid_coords(identifier, layers),
    ]
    dims = ["presentation", "neuroid"]
    if time_bins is not None:
        starts, ends = np.array(time_bins).T
        bins = {"time_bin_start": ("time_bin", starts), "time_bin_end": ("time_bin", ends)}
        made.append(DataAssembly(np.empty(len(starts)), coords=bins, dims=["time_bin"]).coords)
        values = np.moveaxis(values, 1, 2)
        dims.append("time_bin")
    variables: dict[Any, Any] = {}
    indexes: dict[Any, Any] = {}
    for coords in made:
        variables |= coords.variables
        indexes |= dict(coords.xindexes)
    name = shown.presentations.identifier
    attrs = {} if name is None else {"stimulus_set_identifier": name}
    # complete as it is, so that nothing is copied or gathered anew
    return NeuroidAssembly(xr.Variable(dims, values, attrs), coords=variables, indexes=indexes, fastpath=True)
