"""Benchmarks that compare the distributions of a property over a model's and recorded neuroids.

The functions ``calc_…`` have the names and arguments of brainscore-vision 2.4.2.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.benchmarks import BenchmarkBase, bound_score, ceil_score
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Metric, Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, PropertyAssembly
from brainscore_vision.benchmark_helpers import neuronal_properties as properties
from brainscore_vision.benchmark_helpers.firing_rates import (
    BLANK_STIM_NAME,
    MEDIAN_MAX_RESP,
    MEDIAN_SPONTANEOUS,
    ORIENTATION_NUMBER_OF_TRIALS,
    ORIENTATION_STIM_NAME,
    RESP_THRESH,
    RF_DELTA,
    RF_NUMBER_OF_TRIALS,
    RF_STIM_NAME,
    RF_THRSH,
    SINGLE_MAX_RESP,
    FiringRates,
    record_from_model,
    require_known_rates,
)
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, one_region
from brainscore_vision.benchmark_helpers.stimulus_designs import column
from brainscore_vision.benchmark_helpers.stimulus_designs import (
    require_grating_order as _assert_grating_activations,
)
from brainscore_vision.benchmark_helpers.stimulus_designs import (
    require_texture_order as _assert_texture_activations,
)
from brainscore_vision.benchmark_helpers.stimulus_designs import single_position as get_stimulus_position
from brainscore_vision.model_interface import BrainModel

__all__ = [
    "BLANK_STIM_NAME",
    "HIGH_INTERVAL_MAX_RESP",
    "HIGH_INTERVAL_PERCENTILE",
    "LOW_INTERVAL_MAX_RESP",
    "LOW_INTERVAL_PERCENTILE",
    "MEDIAN_MAX_RESP",
    "MEDIAN_SPONTANEOUS",
    "ORIENTATION_NUMBER_OF_TRIALS",
    "ORIENTATION_STIM_NAME",
    "RESP_THRESH",
    "RF_DELTA",
    "RF_NUMBER_OF_TRIALS",
    "RF_STIM_NAME",
    "RF_THRSH",
    "SINGLE_MAX_RESP",
    "PropertiesBenchmark",
    "_assert_grating_activations",
    "_assert_texture_activations",
    "calc_bandwidth",
    "calc_circular_variance",
    "calc_orthogonal_preferred_ratio",
    "calc_size_tuning",
    "calc_sparseness",
    "calc_spatial_frequency_tuning",
    "calc_texture_modulation",
    "calc_variance",
    "calc_variance_ratio",
    "filter_receptive_fields",
    "firing_rates_affine",
    "get_firing_rates",
    "get_stimulus_position",
    "map_receptive_field_locations",
    "record_from_model",
]


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


def calc_variance(response: ArrayLike) -> tuple[Any, Any, Any]:
    """Mean squares (residual, sample, family) of families × samples[ × repetitions].

    See :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.mean_squares`.
    """
    return tuple(properties.mean_squares(response, repetitions=np.ndim(response) == 3))


def calc_variance_ratio(response: ArrayLike) -> tuple[Any, Any, Any]:
    """Variance ratio, and the shares of sample and family variance, of families × samples[ × repetitions].

    See :func:`~brainscore_vision.benchmark_helpers.neuronal_properties.variance_ratio`.
    """
    return tuple(properties.variance_ratio(response, repetitions=np.ndim(response) == 3))


# 10th and 90th percentile of the recorded population
LOW_INTERVAL_MAX_RESP = {"V1": 11.14}
HIGH_INTERVAL_MAX_RESP = {"V1": 86.27}
LOW_INTERVAL_PERCENTILE = 10
HIGH_INTERVAL_PERCENTILE = 90


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
        neuroids = experiment.near(get_stimulus_position(stimuli))
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


def map_receptive_field_locations(
    model_identifier: str, model: BrainModel, region: str
) -> tuple[DataAssembly, DataAssembly]:
    """Map the receptive fields of a model whose recording was started.

    `model_identifier`: unused: nothing is stored under this name. Result: `centres`: neuroid × axis; in degrees, axis
    ``'y'`` and ``'x'``; NaN for neuroids that do not respond to gratings; `maps`: neuroid × position_y × position_x;
    largest responses minus the response to a blank.
    """
    fields = FiringRates(model, region).receptive_fields()
    centres = DataAssembly(fields.centres, coords={**fields.coords, "axis": ["y", "x"]}, dims=["neuroid", "axis"])
    positions = {"position_y": fields.position_y, "position_x": fields.position_x}
    return centres, DataAssembly(
        fields.maps, coords={**fields.coords, **positions}, dims=["neuroid", "position_y", "position_x"]
    )


def filter_receptive_fields(
    model_identifier: str, model: BrainModel, region: str, pos: ArrayLike, rf_delta: float = RF_DELTA
) -> NDArray[np.intp]:
    """Neuroids whose receptive field is centred within `rf_delta` degrees of `pos` (vertical, horizontal).

    `model_identifier`, `model`, `region`: as for :func:`map_receptive_field_locations`. `pos`: in degrees from
    fixation.
    """
    return FiringRates(model, region).near(pos, rf_delta)


def firing_rates_affine(model_identifier: str, model: BrainModel, region: str) -> DataAssembly:
    """Slope and offset that convert activations to spikes per second.

    `model_identifier`, `model`, `region`: as for :func:`map_receptive_field_locations`.
    """
    scale = FiringRates(model, region).scale()
    return DataAssembly([scale.slope, scale.offset], dims=["parameter"])


def get_firing_rates(
    model_identifier: str,
    model: BrainModel,
    region: str,
    stimulus_identifier: str,
    number_of_trials: int,
    in_rf: ArrayLike,
) -> DataAssembly:
    """Responses to a stimulus set in spikes per second.

    `model_identifier`, `model`, `region`: as for :func:`map_receptive_field_locations`. `stimulus_identifier`: name in
    the stimulus set registry. `number_of_trials`: how often each stimulus is shown. `in_rf`: neuroids, as from
    :func:`filter_receptive_fields`. Result: neuroid × presentation; never below 0.
    """
    return FiringRates(model, region).rates(stimulus_identifier, number_of_trials, in_rf)


def _number_of_trials(assembly: DataAssembly, identifier: str) -> int:
    trials: Any = assembly.attrs.get("number_of_trials")
    if trials is None or int(trials) < 1:
        raise UserError(
            f"the attribute number_of_trials of the assembly of {identifier!r} is {trials}; it must be 1 or more",
            remedy="set assembly.attrs['number_of_trials'] to the number of times that each stimulus was shown",
        )
    return int(trials)
