"""Properties of neuroids as the six studies define them, from responses in spikes per second.

Each function takes `responses` (neuroid × presentation) and `baseline`, the response to a blank (neuroid × one
presentation), and returns a PropertyAssembly (neuroid × neuronal_property) of the neuroids that respond enough, with
the neuroids' coordinates; ``model_identifier`` is not needed. A property that a neuroid does not have is NaN.
Presentations may be in any order.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, PropertyAssembly, walk_coords
from brainscore_vision.benchmark_helpers import neuronal_properties as properties
from brainscore_vision.benchmark_helpers.stimulus_designs import cycle_design, grating_design, texture_design

RESPONSE_THRESHOLD = 5
"""Spikes per second beyond the response to a blank that a neuroid's largest response must exceed."""
ORIENTATION_BIN_LIM = 157.5
"""Preferred orientations from here on count as negative, so that horizontal and vertical are in the middle of bins."""
_SIZE_AXES = ("radius", "spatial_frequency", "orientation", "phase")
_SQRT_HALF = 0.707
_SPIKES = 10  # rates are those of a window of 100 ms: a tenth of them are spikes


def cavanaugh2002_properties(
    model_identifier: str | None = None, *, responses: DataAssembly, baseline: DataAssembly
) -> PropertyAssembly:
    """Size tuning at the preferred spatial frequency and orientation, of the mean or the modulated response.

    `responses`: neuroid × presentation; to gratings of crossed radius, spatial frequency, orientation and phase.
    `baseline`: neuroid × presentation. Result: ``surround_suppression_index``, ``strongly_suppressed`` (index of at
    least 0.1), ``grating_summation_field``, ``surround_diameter``, ``surround_grating_summation_field_ratio``.

    References
    ----------
    .. [1] Cavanaugh, Bair & Movshon (2002). https://doi.org/10.1152/jn.00692.2001
    """
    curve, largest, levels = _best_component(responses, baseline, axis="radius")
    tuning = properties.size_tuning(curve, levels["radius"])
    index = tuning.surround_suppression_index
    values = {
        "surround_suppression_index": index,
        "strongly_suppressed": np.where(index >= 0.1, 1.0, 0.0),
        "grating_summation_field": tuning.grating_summation_field,
        "surround_diameter": tuning.surround_diameter,
        "surround_grating_summation_field_ratio": tuning.surround_grating_summation_field_ratio,
    }
    return _assembled(values, responses, keep=largest > RESPONSE_THRESHOLD)


def devalois1982a_properties(
    model_identifier: str | None = None, *, responses: DataAssembly, baseline: DataAssembly
) -> PropertyAssembly:
    """Preferred orientation of the mean response, at the preferred spatial frequency and number of cycles.

    `responses`: neuroid × presentation; to gratings of several numbers of cycles, of crossed spatial frequency,
    orientation and phase. `baseline`: neuroid × presentation. Result: ``preferred_orientation``, from −22.5° up to
    157.5°.

    References
    ----------
    .. [1] De Valois, Yund & Hepler (1982). https://doi.org/10.1016/0042-6989(82)90112-2
    """
    design = cycle_design(responses)
    mean = _crossed(responses, design).mean(axis=-1)
    best = properties.preferred(mean)
    tuning = properties.orientation_tuning(
        best.curve(mean, axis=2), design.levels["orientation"], smoothing="smooth", threshold=0.5
    )
    angle = np.where(tuning.preferred >= ORIENTATION_BIN_LIM, tuning.preferred - 180, tuning.preferred)
    keep = best.response > _of_blank(baseline, responses) + RESPONSE_THRESHOLD
    return _assembled({"preferred_orientation": angle}, responses, keep=keep)


def devalois1982b_properties(
    model_identifier: str | None = None, *, responses: DataAssembly, baseline: DataAssembly
) -> PropertyAssembly:
    """Preferred spatial frequency, of the mean or the modulated response, at the preferred size and orientation.

    `responses`: neuroid × presentation; to gratings of crossed radius, spatial frequency, orientation and phase.
    `baseline`: neuroid × presentation. Result: ``peak_spatial_frequency``, in cycles per degree.

    References
    ----------
    .. [1] De Valois, Albrecht & Thorell (1982). https://doi.org/10.1016/0042-6989(82)90113-4
    """
    curve, largest, levels = _best_component(responses, baseline, axis="spatial_frequency")
    tuning = properties.spatial_frequency_tuning(
        curve, levels["spatial_frequency"], smoothing="smooth", threshold=_SQRT_HALF
    )
    return _assembled({"peak_spatial_frequency": tuning.peak}, responses, keep=largest > RESPONSE_THRESHOLD)


def schiller1976_properties(
    model_identifier: str | None = None, *, responses: DataAssembly, baseline: DataAssembly
) -> PropertyAssembly:
    """Spatial frequency bandwidth of the mean response, at the preferred size and orientation.

    `responses`: neuroid × presentation; to gratings of crossed radius, spatial frequency, orientation and phase.
    `baseline`: neuroid × presentation. Result: ``spatial_frequency_selective`` (1 where there is a bandwidth, else 0),
    ``spatial_frequency_bandwidth`` (100 · low / high).

    References
    ----------
    .. [1] Schiller, Finlay & Volman (1976). https://doi.org/10.1152/jn.1976.39.6.1334
    """
    design = grating_design(responses, _SIZE_AXES)
    mean = _crossed(responses, design).mean(axis=-1)
    best = properties.preferred(mean)
    bandwidth = properties.spatial_frequency_tuning(
        best.curve(mean, axis=1), design.levels["spatial_frequency"], smoothing="smooth", threshold=_SQRT_HALF
    ).bandwidth
    values = {
        "spatial_frequency_selective": np.where(np.isnan(bandwidth), 0.0, 1.0),
        "spatial_frequency_bandwidth": bandwidth,
    }
    keep = best.response > _of_blank(baseline, responses) + RESPONSE_THRESHOLD
    return _assembled(values, responses, keep=keep)


def ringach2002_properties(
    model_identifier: str | None = None, *, responses: DataAssembly, baseline: DataAssembly
) -> PropertyAssembly:
    """Orientation tuning of the mean response, at the preferred spatial frequency and number of cycles.

    `responses`: neuroid × presentation; to gratings of several numbers of cycles, of crossed spatial frequency,
    orientation and phase. `baseline`: neuroid × presentation. Result: ``baseline``, ``max_dc`` and ``min_dc`` (mean
    response to the preferred and the worst orientation), ``max_ac`` (modulation by phase of the preferred one),
    ``modulation_ratio`` (AC/DC), ``circular_variance``, ``bandwidth`` (half width at 0.707 of the peak, in degrees),
    ``orthogonal_preferred_ratio``, ``orientation_selective`` (1 where there is a bandwidth, else 0), and ratios and
    differences of these.

    References
    ----------
    .. [1] Ringach, Shapley & Hawken (2002). https://doi.org/10.1523/JNEUROSCI.22-13-05639.2002
    """
    design = cycle_design(responses)
    mean, modulation = properties.harmonics(_crossed(responses, design))
    best = properties.preferred(mean)
    curve = best.curve(mean, axis=2)
    angles = design.levels["orientation"]
    spontaneous = _of_blank(baseline, responses)
    max_dc, max_ac = best.response, modulation[np.arange(len(modulation)), *best.at]
    variance = properties.circular_variance(curve, angles)
    ratio = properties.orthogonal_preferred_ratio(curve)
    bandwidth = properties.orientation_tuning(
        curve, angles, smoothing="hanning", threshold=_SQRT_HALF, half=True
    ).bandwidth
    with np.errstate(divide="ignore", invalid="ignore"):  # of neuroids that do not respond, which are left out
        values = {
            "baseline": spontaneous,
            "max_dc": max_dc,
            "min_dc": curve.min(axis=1),
            "max_ac": max_ac,
            "modulation_ratio": max_ac / max_dc,
            "circular_variance": variance,
            "bandwidth": bandwidth,
            "orthogonal_preferred_ratio": ratio,
            "orientation_selective": np.where(np.isnan(bandwidth), 0.0, 1.0),
            "circular_variance_bandwidth_ratio": variance / bandwidth,
            "orthogonal_preferred_ratio_circular_variance_difference": ratio - variance,
            "orthogonal_preferred_ratio_bandwidth_ratio": ratio / bandwidth,
        }
    return _assembled(values, responses, keep=max_dc > spontaneous + RESPONSE_THRESHOLD)


def freemanziemba2013_properties(
    model_identifier: str | None = None, *, responses: DataAssembly, baseline: DataAssembly
) -> PropertyAssembly:
    """Modulation by naturalistic textures, selectivity and magnitude of responses to textures and to noise.

    `responses`: neuroid × presentation; to textures of crossed type (noise, texture), family and sample. `baseline`:
    neuroid × presentation; to a blank; subtracted from all but the variances. Result: ``texture_modulation_index`` and
    its absolute value; ``…_selectivity`` (sparseness over families) and ``…_sparseness`` (over samples) of texture and
    noise; ``variance_ratio``, ``sample_variance``, ``family_variance`` of √r + √(r + 1), r being texture responses in
    spikes per 100 ms; ``max_texture``, ``max_noise``.

    References
    ----------
    .. [1] Freeman, Ziemba, Heeger, Simoncelli & Movshon (2013). https://doi.org/10.1038/nn.3402
    .. [2] Ziemba, Freeman, Movshon & Simoncelli (2016). https://doi.org/10.1073/pnas.1510847113
    """
    rates = _crossed(responses, texture_design(responses))
    spikes = rates[:, 1] / _SPIKES
    stabilised = np.sqrt(spikes) + np.sqrt(spikes + 1)
    driven = rates - _of_blank(baseline, responses)[:, np.newaxis, np.newaxis, np.newaxis]
    by_family = driven.mean(axis=3)
    modulation = properties.texture_modulation(by_family).modulation_index
    variances = properties.variance_ratio(stabilised)
    largest = driven.max(axis=(2, 3))
    by_sample = driven.reshape(*driven.shape[:2], -1)
    values = {
        "texture_modulation_index": modulation,
        "absolute_texture_modulation_index": np.abs(modulation),
        "texture_selectivity": properties.sparseness(by_family[:, 1]),
        "noise_selectivity": properties.sparseness(by_family[:, 0]),
        "texture_sparseness": properties.sparseness(by_sample[:, 1]),
        "noise_sparseness": properties.sparseness(by_sample[:, 0]),
        "variance_ratio": variances.ratio,
        "sample_variance": variances.sample,
        "family_variance": variances.family,
        "max_texture": largest[:, 1],
        "max_noise": largest[:, 0],
    }
    return _assembled(values, responses, keep=largest.max(axis=1) > RESPONSE_THRESHOLD)


def _best_component(
    responses: DataAssembly, baseline: DataAssembly, *, axis: str
) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, NDArray[Any]]]:
    """Tuning curve along `axis` of whichever is larger, mean response beyond the blank's or modulation; its peak."""
    design = grating_design(responses, _SIZE_AXES)
    mean, modulation = properties.harmonics(_crossed(responses, design))
    driven = mean - _of_blank(baseline, responses)[:, np.newaxis, np.newaxis, np.newaxis]
    components = np.stack([driven, modulation], axis=-1)
    best = properties.preferred(components)
    return best.curve(components, axis=_SIZE_AXES.index(axis)), best.response, design.levels


def _crossed(responses: DataAssembly, design: properties.Factorial) -> NDArray[np.float64]:
    """Neuroids × the axes of the design."""
    values = np.asarray(responses.transpose("presentation", "neuroid").values, dtype=np.float64)
    return np.moveaxis(values[design.order], -1, 0)


def _of_blank(baseline: DataAssembly, responses: DataAssembly) -> NDArray[np.float64]:
    """One value a neuroid."""
    values = np.asarray(baseline.transpose("neuroid", "presentation").values, dtype=np.float64)
    if values.shape != (responses.sizes["neuroid"], 1):
        raise UserError(
            f"the responses to a blank are of {values.shape[0]} neuroids × {values.shape[1]} presentations, the others "
            f"of {responses.sizes['neuroid']} neuroids",
            remedy="pass one presentation of the same neuroids",
        )
    return values[:, 0]


def _assembled(
    values: Mapping[str, ArrayLike], responses: DataAssembly, *, keep: NDArray[np.bool_]
) -> PropertyAssembly:
    rows = np.flatnonzero(keep)
    coords = {
        name: (dims, np.asarray(level)[rows]) for name, dims, level in walk_coords(responses) if dims == ("neuroid",)
    }
    coords.setdefault("neuroid_id", (("neuroid",), rows))
    table = np.stack([np.asarray(column, dtype=np.float64) for column in values.values()], axis=1)[rows]
    return PropertyAssembly(
        table, coords={**coords, "neuronal_property": list(values)}, dims=["neuroid", "neuronal_property"]
    )
