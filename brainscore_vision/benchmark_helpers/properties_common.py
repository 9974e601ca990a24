"""Benchmarks that compare the distributions of a property over a model's and recorded neuroids.

Activations of a model are scaled to firing rates, and its receptive fields are mapped.

The functions ``calc_…`` and ``_assert_…`` have the names and arguments of brainscore-vision 2.4.2.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.benchmarks import BenchmarkBase, bound_score, ceil_score
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Metric, Score
from brainscore_core.supported_data_standards.brainio.assemblies import (
    DataAssembly,
    NeuroidAssembly,
    PropertyAssembly,
    walk_coords,
)
from brainscore_vision.benchmark_helpers import neuronal_properties as properties
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, one_region
from brainscore_vision.benchmark_helpers.neural_common import average_repetition, rows_in_order
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
    require_grating_order,
    single_position,
    texture_design,
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
            crossed = [name for name in GRATING_COLUMNS if len(np.unique(column(recordings, name))) > 1]
            design = grating_design(recordings, (*_GRID_AXES, *(name for name in crossed if name not in _GRID_AXES)))
            y, x = design.levels["position_y"], design.levels["position_x"]
            maps = receptive_field_maps(recordings.values, blank.values[0], design.order)
            centres = receptive_field_centres(maps, y, x, threshold=RF_THRSH)
            coords = {name: (dims, values) for name, dims, values in walk_coords(recordings) if dims == ("neuroid",)}
            self._fields = ReceptiveFields(centres, maps, y, x, coords)
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
    rows = rows_in_order(recordings, stimuli["stimulus_id"])
    if not np.array_equal(rows, np.arange(len(rows))):
        recordings = recordings.isel(presentation=rows)
    columns = {
        str(name): ("presentation", stimuli[name].to_numpy())
        for name in stimuli.columns
        if name not in recordings.coords and name not in recordings.dims
    }
    return recordings.assign_coords(columns) if columns else recordings  # type: ignore[return-value] # as it was made


def _key(stimulus_identifier: str, number_of_trials: int, neuroids: NDArray[np.intp]) -> tuple[str, int, bytes]:
    return stimulus_identifier, number_of_trials, neuroids.tobytes()


def _rectified(values: ArrayLike) -> NDArray[np.float64]:
    return np.maximum(np.asarray(values, dtype=np.float64), 0)


_assert_grating_activations, _assert_texture_activations = require_grating_order, texture_design


def calc_circular_variance(orientation_curve: ArrayLike, orientation: ArrayLike) -> Any:
    """Circular variance; see :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.circular_variance`."""
    return properties.circular_variance(orientation_curve, orientation)


def calc_bandwidth(
    orientation_curve: ArrayLike,
    orientation: ArrayLike,
    filt_type: str | None = "hanning",
    thrsh: float = 0.5,
    mode: str = "full",
) -> tuple[Any, Any, NDArray[np.float64], NDArray[np.float64]]:
    """Orientation bandwidth, preferred orientation, and the fitted curve.

    Parameters
    ----------
    orientation_curve, orientation, filt_type, thrsh
        `curve`, `orientation`, `smoothing` and `threshold` of
        :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.orientation_tuning`.
    mode : {'full', 'half'}
        Whether the bandwidth is halved.

    Returns
    -------
    bandwidth : float
        In degrees, or NaN.
    preferred : int
        In degrees, 0 to 179; NaN for a flat curve.
    orientation, fit : array (180,)
        0° to 179°, and the curve there.
    """
    tuning = properties.orientation_tuning(
        orientation_curve, orientation, smoothing=filt_type, threshold=thrsh, half=mode == "half"
    )
    single = np.ndim(tuning.preferred) == 0 and not np.isnan(tuning.preferred)
    chosen = int(tuning.preferred) if single else tuning.preferred  # indexes `orientation` and `fit`
    return tuning.bandwidth, chosen, tuning.orientation, tuning.fit


def calc_orthogonal_preferred_ratio(orientation_curve: ArrayLike, orientation: ArrayLike) -> Any:
    """Orthogonal over preferred response.

    See :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.orthogonal_preferred_ratio`.
    """
    return properties.orthogonal_preferred_ratio(orientation_curve)


def calc_spatial_frequency_tuning(
    y: ArrayLike, sf: ArrayLike, filt_type: str | None = "triangle", thrsh: float = 0.707, mode: str = "ratio"
) -> tuple[Any, Any, Any, NDArray[np.float64], NDArray[np.float64]]:
    """Spatial frequency bandwidth, peak, R², and the fitted curve.

    Parameters
    ----------
    y, sf, filt_type, thrsh
        `curve`, `spatial_frequency`, `smoothing` and `threshold` of
        :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.spatial_frequency_tuning`.
    mode : str
        ``'oct'``; any other value for the ratio.

    Returns
    -------
    bandwidth, peak, r_squared : float
    spatial_frequency, fit : array (100,)
    """
    tuning = properties.spatial_frequency_tuning(
        y, sf, smoothing=filt_type, threshold=thrsh, mode="oct" if mode == "oct" else "ratio"
    )
    return tuple(tuning)


def calc_size_tuning(size_curve: ArrayLike, radius: ArrayLike) -> tuple[Any, Any, Any, Any]:
    """Grating summation field, surround diameter, their ratio, and surround suppression index.

    See :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.properties`.
    """
    return tuple(properties.size_tuning(size_curve, radius))


def calc_texture_modulation(response: ArrayLike) -> tuple[Any, NDArray[np.float64]]:
    """Texture modulation index, and that of each family, of 2 × families (noise, texture).

    See :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.texture_modulation`.
    """
    return tuple(properties.texture_modulation(response))


def calc_sparseness(response: ArrayLike) -> Any:
    """Sparseness over all entries of `response`, whatever its shape.

    See :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.sparseness`.
    """
    return properties.sparseness(np.ravel(response))


def calc_variance_ratio(response: ArrayLike) -> tuple[Any, Any, Any]:
    """Variance ratio, and the shares of sample and family variance, of families × samples[ × repetitions].

    See :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.variance_ratio`.
    """
    return tuple(properties.variance_ratio(response, repetitions=np.ndim(response) == 3))


class PropertiesBenchmark(BenchmarkBase):
    """Compares the distribution of a property over a model's neuroids with that over recorded neurons [1]_.

    Receptive fields are mapped with small gratings; neuroids within 0.15° of the stimuli are recorded. Their
    activations are scaled so that the medians of the largest and the spontaneous response are those of macaque neurons.
    The property is then computed for each neuroid as for the neurons.

    Parameters
    ----------
    identifier : str
        Unique name, by convention ``AuthorYear_DataYear-property``.
    assembly : PropertyAssembly
        The neurons' properties, neuroid × neuronal_property, with the coordinate ``region``, the attributes
        ``number_of_trials`` and ``<property>_bins``, and the ``stimulus_set``, which has the columns ``degrees``,
        ``position_x`` and ``position_y``.
    neuronal_property : callable
        ``neuronal_property(model_identifier=…, responses=…, baseline=…)`` returns the model's PropertyAssembly.
        `responses` (neuroid × presentation, with the stimulus set's columns) and `baseline` (response to
        a blank, one presentation) are in spikes per second.
    similarity_metric : Metric
        Compares both properties, such as ``load_metric('ks_similarity', property_name='circular_variance')``.
    timebins : sequence of (int, int)
        One time bin, in milliseconds after stimulus onset.
    ceiling_func : callable
        Takes the assembly and returns its ceiling, such as ``NeuronalPropertyCeiling(similarity_metric)``.
    version, parent, bibtex
        As for :class:`~brainscore_core.benchmarks.BenchmarkBase`.

    Notes
    -----
    The score is raw / ceiling, clamped to [0, 1]; ``attrs['unclamped']`` is the value before. ``attrs['raw']`` has the
    model's properties in ``attrs['model_property']``.

    References
    ----------
    .. [1] Marques, Schrimpf & DiCarlo (2021). https://doi.org/10.1101/2021.03.01.433495
    """

    def __init__(
        self,
        identifier: str,
        assembly: PropertyAssembly,
        neuronal_property: Callable[..., DataAssembly],
        similarity_metric: Metric,
        timebins: Sequence[tuple[int, int]],
        *,
        ceiling_func: Callable[[DataAssembly], Score],
        version: int | str,
        parent: str | None = None,
        bibtex: str | None = None,
    ) -> None:
        super().__init__(
            identifier=identifier,
            ceiling_func=lambda: ceiling_func(assembly),
            version=version,
            parent=parent,
            bibtex=bibtex,
        )
        self._assembly = assembly
        self._neuronal_property = neuronal_property
        self._similarity_metric = similarity_metric
        self.timebins = [(int(start), int(end)) for start, end in timebins]
        self.region = one_region(assembly, identifier)
        require_known_rates(self.region)
        self._number_of_trials = _number_of_trials(assembly, identifier)

    def measurements(self) -> VisualMeasurements:
        """Properties of the recorded neuroids."""
        angles = np.unique(column(self._assembly.stimulus_set, "degrees"))
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self._assembly,
            compares="properties",
            metric=self._similarity_metric,
            relate=ceil_score,
            region=self.region,
            time_bins=tuple(self.timebins),
            number_of_trials=self._number_of_trials,
            visual_degrees=float(angles[0]) if len(angles) == 1 else None,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare.

        Returns
        -------
        Score
            In [0, 1], with ``raw``, ``ceiling``, ``error`` and ``ci`` in its attributes.

        Raises
        ------
        NotApplicable
            If no neuroid of the candidate has its receptive field at the stimuli, responds to gratings, or responds
            enough for the property.
        """
        stimuli = self._assembly.stimulus_set
        candidate.start_recording(self.region, time_bins=self.timebins)
        experiment = FiringRates(candidate, self.region)
        neuroids = experiment.near(single_position(stimuli))
        responses = experiment.rates(stimuli.identifier, self._number_of_trials, neuroids)
        baseline = experiment.rates(BLANK_STIM_NAME, self._number_of_trials, neuroids)
        model_property = self._neuronal_property(
            model_identifier=candidate.identifier, responses=responses, baseline=baseline
        )
        if not model_property.sizes["neuroid"]:
            raise NotApplicable(
                f"none of {len(neuroids)} neuroids of {self.region} in {candidate.identifier!r} responds to "
                f"{stimuli.identifier!r} enough to have properties"
            )
        raw = self._similarity_metric(model_property, self._assembly)
        raw.attrs["model_property"] = model_property
        return bound_score(ceil_score(raw, self.ceiling))


def _number_of_trials(assembly: DataAssembly, identifier: str) -> int:
    trials: Any = assembly.attrs.get("number_of_trials")
    if trials is None or int(trials) < 1:
        raise UserError(
            f"the attribute number_of_trials of the assembly of {identifier!r} is {trials}; it must be 1 or more",
            remedy="set assembly.attrs['number_of_trials'] to the number of times that each stimulus was shown",
        )
    return int(trials)
