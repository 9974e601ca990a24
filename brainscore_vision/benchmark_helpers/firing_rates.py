"""Responses of a model's neuroids in spikes per second, for the property benchmarks."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, walk_coords
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.neural_common import average_repetition
from brainscore_vision.benchmark_helpers.neuronal_properties import (
    RateScale,
    rate_scale,
    receptive_field_centres,
    receptive_field_maps,
)
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmark_helpers.stimulus_designs import (
    GRATING_COLUMNS,
    column,
    cycle_design,
    grating_design,
    single_position,
)
from brainscore_vision.model_interface import BrainModel

BLANK_STIM_NAME = "Marques2020_blank"
RF_STIM_NAME = "Marques2020_receptive_field"
ORIENTATION_STIM_NAME = "Marques2020_orientation"
RF_NUMBER_OF_TRIALS = 10
ORIENTATION_NUMBER_OF_TRIALS = 20
RF_THRSH = 0.05
"""Positions with a smaller share of the largest response do not belong to a receptive field."""
RF_DELTA = 0.15
"""Largest distance between the stimuli and the receptive field's centre of a recorded neuroid, in degrees."""
MEDIAN_MAX_RESP = {"V1": 33.8}
"""Median over recorded neurons of the largest response, in spikes per second."""
MEDIAN_SPONTANEOUS = {"V1": 0.82}
SINGLE_MAX_RESP = {"V1": 243.1}
RESP_THRESH = {"V1": 5}

_GRID_AXES = ("position_y", "position_x")


class ReceptiveFields(NamedTuple):
    """Receptive fields of all neuroids."""

    # neuroids × 2; vertical, horizontal, in degrees; NaN for neuroids that do not respond to gratings
    centres: NDArray[np.float64]
    # neuroids × vertical positions × horizontal positions; largest responses minus the response to a blank
    maps: NDArray[np.floating]
    position_y: NDArray[np.float64]
    position_x: NDArray[np.float64]
    coords: dict[str, Any]  # coordinates of the neuroids


class FiringRates:
    """A model in an experiment; its receptive fields are mapped and its activations scaled once.

    `region`: region whose recorded firing rates the activations are scaled to.
    """

    def __init__(self, model: BrainModel, region: str) -> None:
        self._model = model
        self._region = region
        self._fields: ReceptiveFields | None = None
        self._scale: RateScale | None = None
        self._recordings: dict[tuple[str, int, bytes], DataAssembly] = {}

    def receptive_fields(self) -> ReceptiveFields:
        """Receptive fields, mapped on first use."""
        if self._fields is None:
            blank = record_from_model(self._model, BLANK_STIM_NAME, RF_NUMBER_OF_TRIALS)
            recordings = record_from_model(self._model, RF_STIM_NAME, RF_NUMBER_OF_TRIALS)
            design = _mapping_design(recordings)
            y, x = design.levels["position_y"], design.levels["position_x"]
            maps = receptive_field_maps(recordings.values, blank.values[0], design.order)
            centres = receptive_field_centres(maps, y, x, threshold=RF_THRSH)
            self._fields = ReceptiveFields(centres, maps, y, x, _neuroid_coords(recordings))
        return self._fields

    def near(self, position: ArrayLike, delta: float = RF_DELTA) -> NDArray[np.intp]:
        """Neuroids whose receptive field's centre is within `delta` degrees of `position` (vertical, horizontal)."""
        centres = self.receptive_fields().centres
        distance = np.linalg.norm(centres - np.asarray(position, dtype=np.float64), axis=1)
        neuroids = np.flatnonzero(distance <= delta)
        if not neuroids.size:
            mapped = ~np.isnan(distance)
            y, x = np.asarray(position, dtype=np.float64)
            nearest = (
                f"the nearest is {np.nanmin(distance):.2f}° away" if mapped.any() else "none responds to a grating"
            )
            raise NotApplicable(
                f"none of {len(centres)} neuroids of {self._region} in {self._model.identifier!r} has its receptive "
                f"field within {delta:.2g}° of the stimuli ({x:.2g}° right, {y:.2g}° down): {nearest}"
            )
        return neuroids

    def scale(self) -> RateScale:
        """Scale from activations to spikes per second, computed on first use.

        A UserError if firing rates of the region are not known.
        """
        if self._scale is None:
            require_known_rates(self._region)
            blank = record_from_model(self._model, BLANK_STIM_NAME, ORIENTATION_NUMBER_OF_TRIALS)
            recordings = record_from_model(self._model, ORIENTATION_STIM_NAME, ORIENTATION_NUMBER_OF_TRIALS)
            neuroids = self.near(single_position(recordings))
            blank, recordings = blank.isel(neuroid=neuroids), recordings.isel(neuroid=neuroids)
            # later experiments with these gratings reuse the recordings
            self._recordings[_key(BLANK_STIM_NAME, ORIENTATION_NUMBER_OF_TRIALS, neuroids)] = blank
            self._recordings[_key(ORIENTATION_STIM_NAME, ORIENTATION_NUMBER_OF_TRIALS, neuroids)] = recordings
            responses = _rectified(recordings.values)[cycle_design(recordings).order]
            scale = rate_scale(
                responses.mean(axis=3).reshape(-1, len(neuroids)).max(axis=0),
                _rectified(blank.values[0]),
                median_largest=MEDIAN_MAX_RESP[self._region],
                median_blank=MEDIAN_SPONTANEOUS[self._region],
                least=RESP_THRESH[self._region] / SINGLE_MAX_RESP[self._region],
            )
            if not scale.responsive:
                raise NotApplicable(
                    f"none of {len(neuroids)} neuroids of {self._region} in {self._model.identifier!r} responds to "
                    f"gratings ({ORIENTATION_STIM_NAME}) more than to a blank: their activations cannot be scaled to "
                    "firing rates"
                )
            self._scale = scale
        return self._scale

    def rates(self, stimulus_identifier: str, number_of_trials: int, neuroids: ArrayLike) -> DataAssembly:
        """Responses to a stimulus set in spikes per second, never below 0: neuroid × presentation."""
        slope, offset, _ = self.scale()
        rows = np.atleast_1d(np.asarray(neuroids, dtype=np.intp))
        chosen = self._recordings.get(_key(stimulus_identifier, number_of_trials, rows))
        if chosen is None:
            recordings = record_from_model(self._model, stimulus_identifier, number_of_trials)
            chosen = recordings.isel(neuroid=rows)
        values = np.maximum(slope * _rectified(chosen.values) + offset, 0)
        coords = {name: (dims, level) for name, dims, level in walk_coords(chosen)}
        return DataAssembly(values.T, coords=coords, dims=["neuroid", "presentation"], attrs=dict(chosen.attrs))


def require_known_rates(region: str) -> None:
    """Raise an error for a region without known firing rates."""
    if region not in MEDIAN_MAX_RESP:
        raise UserError(
            f"firing rates in {region} are not known, so activations cannot be scaled to them",
            remedy=f"known regions: {', '.join(MEDIAN_MAX_RESP)}",
        )


def record_from_model(model: BrainModel, stimulus_identifier: str, number_of_trials: int) -> NeuroidAssembly:
    """Show a registered stimulus set at the angle in its column ``degrees``.

    `model`: model whose recording was started, in one time bin. `stimulus_identifier`: name in the stimulus set
    registry. `number_of_trials`: how often each stimulus is shown; repetitions are averaged. Result: a NeuroidAssembly
    (presentation × neuroid) in the order of the stimulus set, with its columns on ``presentation``. A UserError if the
    model did not return each stimulus once, or several time bins.
    """
    from brainscore_vision.registries import load_stimulus_set

    stimuli = load_stimulus_set(stimulus_identifier)
    shown = place_on_screen(stimuli, target_visual_degrees=model.visual_degrees())
    recordings: DataAssembly = model.look_at(shown, number_of_trials=number_of_trials)
    if "time_bin" in recordings.dims:
        if recordings.sizes["time_bin"] != 1:
            raise UserError(
                f"{model.identifier!r} returned {recordings.sizes['time_bin']} time bins",
                remedy="properties are computed for one time bin: pass one to the benchmark",
            )
        recordings = recordings.isel(time_bin=0, drop=True)
    recordings = average_repetition(recordings).transpose("presentation", "neuroid")
    return _in_order(recordings, stimuli, model.identifier)


def _in_order(recordings: DataAssembly, stimuli: StimulusSet, model: str) -> NeuroidAssembly:
    expected = stimuli["stimulus_id"].astype(str).tolist()
    if "stimulus_id" not in recordings.coords:
        raise UserError(
            f"the recordings of {model!r} have no coordinate 'stimulus_id'", remedy="look_at must return it"
        )
    returned = [str(name) for name in recordings["stimulus_id"].values]
    if returned != expected:
        row_of = {name: row for row, name in enumerate(returned)}
        missing = [name for name in expected if name not in row_of]
        if missing or len(row_of) != len(returned) or len(returned) != len(expected):
            raise UserError(
                f"{model!r} returned {len(returned)} presentations of {len(row_of)} stimuli; {len(expected)} were shown"
                + (f"; {missing[0]!r} is missing" if missing else ""),
                remedy="look_at must return one presentation for each stimulus, with its stimulus_id",
            )
        recordings = recordings.isel(presentation=[row_of[name] for name in expected])
    columns = {
        str(name): ("presentation", stimuli[name].to_numpy())
        for name in stimuli.columns
        if name not in recordings.coords and name not in recordings.dims
    }
    return recordings.assign_coords(columns) if columns else recordings  # type: ignore[return-value] # as it was made


def _mapping_design(recordings: Any) -> Any:
    """Design of gratings at a grid of positions, crossed with all other varying parameters."""
    several = [
        name for name in GRATING_COLUMNS if name not in _GRID_AXES and len(np.unique(column(recordings, name))) > 1
    ]
    return grating_design(recordings, (*_GRID_AXES, *several))


def _key(stimulus_identifier: str, number_of_trials: int, neuroids: NDArray[np.intp]) -> tuple[str, int, bytes]:
    return stimulus_identifier, number_of_trials, neuroids.tobytes()


def _neuroid_coords(recordings: DataAssembly) -> dict[str, Any]:
    return {name: (dims, values) for name, dims, values in walk_coords(recordings) if dims == ("neuroid",)}


def _rectified(values: ArrayLike) -> NDArray[np.float64]:
    return np.maximum(np.asarray(values, dtype=np.float64), 0)
