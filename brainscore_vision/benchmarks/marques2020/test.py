"""The 22 benchmarks against computations written out here, neuron by neuron, and against published values."""

from functools import cache

import numpy as np
import pytest
from PIL import Image
from scipy.interpolate import UnivariateSpline

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import benchmark_registry, load_benchmark, load_dataset, load_stimulus_set
from brainscore_vision.benchmark_helpers.test_helper import NumberOfTrialsTests, PrecomputedTests, StandardizedTests

# identifier: (data, property, parent, published ceiling, published raw score of AlexNet)
BENCHMARKS = {
    f"Marques2020_{name}": values
    for name, values in {
        "Cavanaugh2002-grating_summation_field": (
            "Cavanaugh2002a", "grating_summation_field", "receptive_field_size", 0.956, 0.599),
        "Cavanaugh2002-surround_diameter": (
            "Cavanaugh2002a", "surround_diameter", "receptive_field_size", 0.955, 0.367),
        "Cavanaugh2002-surround_suppression_index": (
            "Cavanaugh2002a", "surround_suppression_index", "surround_modulation", 0.958, 0.365),
        "DeValois1982-pref_or": ("DeValois1982a", "preferred_orientation", "orientation", 0.962, 0.895),
        "DeValois1982-peak_sf": ("DeValois1982b", "peak_spatial_frequency", "spatial_frequency", 0.967, 0.775),
        "FreemanZiemba2013-texture_modulation_index": (
            "FreemanZiemba2013_V1_properties", "texture_modulation_index", "texture_modulation", 0.948, 0.636),
        "FreemanZiemba2013-abs_texture_modulation_index": (
            "FreemanZiemba2013_V1_properties", "absolute_texture_modulation_index", "texture_modulation", 0.958, 0.861),
        "FreemanZiemba2013-texture_selectivity": (
            "FreemanZiemba2013_V1_properties", "texture_selectivity", "response_selectivity", 0.940, 0.646),
        "FreemanZiemba2013-texture_sparseness": (
            "FreemanZiemba2013_V1_properties", "texture_sparseness", "response_selectivity", 0.935, 0.508),
        "FreemanZiemba2013-texture_variance_ratio": (
            "FreemanZiemba2013_V1_properties", "variance_ratio", "response_selectivity", 0.939, 0.827),
        "FreemanZiemba2013-max_texture": (
            "FreemanZiemba2013_V1_properties", "max_texture", "response_magnitude", 0.946, 0.823),
        "FreemanZiemba2013-max_noise": (
            "FreemanZiemba2013_V1_properties", "max_noise", "response_magnitude", 0.945, 0.684),
        "Ringach2002-circular_variance": ("Ringach2002", "circular_variance", "orientation", 0.959, 0.830),
        "Ringach2002-or_bandwidth": ("Ringach2002", "bandwidth", "orientation", 0.964, 0.844),
        "Ringach2002-orth_pref_ratio": ("Ringach2002", "orthogonal_preferred_ratio", "orientation", 0.962, 0.876),
        "Ringach2002-or_selective": ("Ringach2002", "orientation_selective", "orientation", 0.994, 0.895),
        "Ringach2002-cv_bandwidth_ratio": (
            "Ringach2002", "circular_variance_bandwidth_ratio", "orientation", 0.968, 0.841),
        "Ringach2002-opr_cv_diff": (
            "Ringach2002", "orthogonal_preferred_ratio_circular_variance_difference", "orientation", 0.967, 0.909),
        "Ringach2002-max_dc": ("Ringach2002", "max_dc", "response_magnitude", 0.968, 0.904),
        "Ringach2002-modulation_ratio": ("Ringach2002", "modulation_ratio", "response_selectivity", 0.959, 0.371),
        "Schiller1976-sf_selective": (
            "Schiller1976c", "spatial_frequency_selective", "spatial_frequency", 0.963, 0.808),
        "Schiller1976-sf_bandwidth": (
            "Schiller1976c", "spatial_frequency_bandwidth", "spatial_frequency", 0.933, 0.869),
    }.items()
}  # fmt: skip
COMMON = ("Marques2020_blank", "Marques2020_receptive_field", "Marques2020_orientation")
FEATURES = {name: f"alexnet-dicarlo.{name}.nc" for name in (*COMMON, "Marques2020_spatial_frequency",
                                                            "Marques2020_size")}  # fmt: skip
FEATURES["FreemanZiemba2013_properties"] = "alexnet-movshon.FreemanZiemba2013_properties.nc"


class Cells:
    """Rectified Gabor filters of 40 orientations, frequencies and phases around (0.5°, 0.5°); some suppressed."""

    def __init__(self, identifier, seed, *, octaves, suppression):
        self.identifier, self._seen = identifier, {}
        random = np.random.RandomState(seed)
        n, size = 40, 64
        axis = (np.arange(size) + 0.5) * 8 / size - 4
        y, x = axis[:, np.newaxis], axis[np.newaxis]
        filters, surrounds = [], []
        for number in range(n):
            centre = 0.5 + random.normal(0, 0.08, 2) if number < 34 else random.uniform(-3, 3, 2)
            angle, frequency, phase = random.uniform(0, np.pi), 2 ** random.uniform(*octaves), random.uniform(0, 7)
            spread = 0.35 / frequency * random.uniform(0.6, 1.6)
            envelope = np.exp(-((y - centre[0]) ** 2 + (x - centre[1]) ** 2) / (2 * spread**2))
            across = (x - centre[1]) * np.cos(angle) + (y - centre[0]) * np.sin(angle)
            filters.append([envelope * np.cos(2 * np.pi * frequency * across + turn) for turn in (phase, phase + 1.57)])
            surrounds.append(np.exp(-((y - centre[0]) ** 2 + (x - centre[1]) ** 2) / (2 * (4 * spread) ** 2)))
        filters = np.array(filters) - np.mean(filters, axis=(-2, -1), keepdims=True)
        self._filters = filters.reshape(2 * n, -1).T / np.abs(filters).sum(axis=(-2, -1)).ravel()
        self._surrounds = (np.array(surrounds) / np.sum(surrounds, axis=(1, 2), keepdims=True)).reshape(n, -1).T
        self._suppression, self._complex = suppression * random.uniform(0, 1, n), np.arange(n) % 2 == 0

    def visual_degrees(self):
        return 8

    def start_recording(self, recording_target, time_bins):
        assert (recording_target, time_bins) == ("V1", [(70, 170)])

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        assert number_of_trials == (10 if "receptive" in stimuli.identifier else number_of_trials) in (10, 20)
        if stimuli.identifier not in self._seen:
            self._seen[stimuli.identifier] = self._respond(stimuli)
        ids = list(stimuli["stimulus_id"])
        return NeuroidAssembly(
            self._seen[stimuli.identifier],
            coords={
                "stimulus_id": ("presentation", ids),
                "image_file_name": ("presentation", [stimuli.get_stimulus(name).name for name in ids]),
                "neuroid_id": ("neuroid", np.arange(self._surrounds.shape[1])),
                "layer": ("neuroid", ["cells"] * self._surrounds.shape[1]),
            },
            dims=["presentation", "neuroid"],
        )

    def _respond(self, stimuli):
        contrast = []
        for name in stimuli["stimulus_id"]:
            with Image.open(stimuli.get_stimulus(name)) as image:
                contrast.append(np.asarray(image.convert("L"), dtype=float).ravel() / 128 - 1)
        contrast = np.array(contrast)
        even, odd = np.moveaxis((contrast @ self._filters).reshape(len(contrast), -1, 2), 2, 0)
        driven = np.where(self._complex, np.hypot(even, odd), even)  # negative where a simple cell is inhibited
        return 0.02 + driven / (1 + self._suppression * (contrast**2 @ self._surrounds))

    def table(self, identifier):
        """Responses, negative ones as 0, and the stimuli, of a stimulus set as it is before the screen."""
        (responses,) = [found for name, found in self._seen.items() if name.split("--")[0] == identifier]
        return np.maximum(responses, 0), load_stimulus_set(identifier)


@cache
def models():
    return [
        Cells("cells", 0, octaves=(-1, 1), suppression=20),
        Cells("broad-cells", 1, octaves=(-0.5, 0.3), suppression=4),
    ]


# -- the published definition, in straight lines


def firing_rates(model, stimulus_identifier):
    """Rates of the cells at the stimuli, stimulus × neuroid, and those to a blank."""
    blank, _ = model.table("Marques2020_blank")
    responses, gratings = model.table("Marques2020_receptive_field")
    y, x = sorted(set(gratings["position_y"])), sorted(set(gratings["position_x"]))
    near = []
    for cell in range(responses.shape[1]):
        field = np.zeros((len(y), len(x)))
        for response, row, column in zip(
            responses[:, cell], gratings["position_y"], gratings["position_x"], strict=True
        ):
            at = y.index(row), x.index(column)
            field[at] = max(field[at], response - blank[0, cell])
        field[field <= 0.05 * field.max()] = 0
        if field.any():
            centre = np.average(y, weights=field.sum(axis=1)), np.average(x, weights=field.sum(axis=0))
            if np.hypot(centre[0] - 0.5, centre[1] - 0.5) <= 0.15:
                near.append(cell)
    assert 15 < len(near) < 40
    responses, gratings = model.table("Marques2020_orientation")
    conditions = gratings.groupby(["radius", "spatial_frequency", "orientation"]).indices.values()
    largest = np.max([responses[rows][:, near].mean(axis=0) for rows in conditions], axis=0)
    increase = largest - blank[0, near]
    responsive = increase > 5 / 243.1 * increase.max()
    top, bottom = np.median(largest[responsive]), np.median(blank[0, near][responsive])
    slope = (33.8 - 0.82) / (top - bottom)
    offset = 0.82 - slope * bottom
    responses, stimuli = model.table(stimulus_identifier)
    return np.maximum(slope * responses[:, near] + offset, 0), np.maximum(slope * blank[0, near] + offset, 0), stimuli


def means_and_modulations(rates, stimuli):
    """{(radius, spatial frequency, orientation): (mean, modulation)} of one neuron."""
    names = ["radius", "spatial_frequency", "orientation", "phase"]
    rows = sorted(zip(*(stimuli[name] for name in names), rates, strict=True))
    found, phases = {}, len(set(stimuli["phase"]))
    for first in range(0, len(rows), phases):
        by_phase = np.array([row[4] for row in rows[first : first + phases]])
        found[rows[first][:3]] = by_phase.mean(), 2 * abs(np.fft.fft(by_phase)[1]) / phases
    return found


def spline_fit(x, curve, weights, grid):
    return UnivariateSpline(x, np.convolve(np.array(weights) / sum(weights), curve, mode="same"), s=0)(grid)


def width(fit, peak, threshold):
    low = [at for at in range(peak) if fit[at] <= threshold * fit[peak]]
    high = [at for at in range(peak + 1, len(fit)) if fit[at] <= threshold * fit[peak]]
    return (low[-1], high[0]) if low and high else None


def orientation(curve, angles, weights, threshold):
    fit = spline_fit(np.r_[angles - 180, angles, angles + 180], np.tile(curve, 3), weights, np.arange(-180, 360))
    peak = 180 + int(np.argmax(fit[180:360]))
    found = width(fit, peak, threshold)
    return peak - 180, found[1] - found[0] if found and found[1] - found[0] <= 180 else np.nan


def spatial_frequency(curve, frequencies):
    octaves = np.log2(frequencies)
    padded = np.r_[curve[0], curve[0], curve, curve[-1], curve[-1]]
    smoothed = np.convolve(np.array([0, 1, 5, 1, 0]) / 7, padded, mode="valid")
    grid = np.linspace(octaves[0], octaves[-1], 100)
    fit = UnivariateSpline(octaves, smoothed, s=0)(grid)
    peak = int(np.argmax(fit))
    found = width(fit, peak, 0.707)
    return 2 ** grid[peak], 100 * 2 ** (grid[found[0]] - grid[found[1]]) if found else np.nan


def of_cavanaugh(rates, blank, stimuli):
    found = means_and_modulations(rates, stimuli)
    best = max((max(mean - blank, modulation), key) for key, (mean, modulation) in found.items())
    _, frequency, angle = best[1]
    component = 0 if found[best[1]][0] - blank >= found[best[1]][1] else 1
    radii = sorted({key[0] for key in found})
    curve = [found[radius, frequency, angle][component] - (blank if component == 0 else 0) for radius in radii]
    peak, plateau = max(curve), curve[-1]
    index, field, surround = (peak - plateau) / peak, np.nan, np.nan
    if index > 0.1:
        field = 2 * next(radius for radius, rate in zip(radii, curve, strict=True) if rate >= 0.95 * peak)
        beyond = [at for at in range(len(radii)) if at > curve.index(peak) and curve[at] <= 1.05 * plateau]
        surround = 2 * radii[beyond[0]]
    values = {"surround_suppression_index": index, "grating_summation_field": field, "surround_diameter": surround}
    return values if best[0] > 5 else None


def of_devalois_frequency(rates, blank, stimuli):
    found = means_and_modulations(rates, stimuli)
    best = max((max(mean - blank, modulation), key) for key, (mean, modulation) in found.items())
    radius, _, angle = best[1]
    component = 0 if found[best[1]][0] - blank >= found[best[1]][1] else 1
    frequencies = sorted({key[1] for key in found})
    curve = [found[radius, one, angle][component] - (blank if component == 0 else 0) for one in frequencies]
    return {"peak_spatial_frequency": spatial_frequency(curve, frequencies)[0]} if best[0] > 5 else None


def of_schiller(rates, blank, stimuli):
    found = means_and_modulations(rates, stimuli)
    radius, best, angle = max(found, key=lambda key: found[key][0])
    frequencies = sorted({key[1] for key in found})
    bandwidth = spatial_frequency([found[radius, one, angle][0] for one in frequencies], frequencies)[1]
    values = {"spatial_frequency_selective": float(not np.isnan(bandwidth)), "spatial_frequency_bandwidth": bandwidth}
    return values if found[radius, best, angle][0] > blank + 5 else None


def of_orientation(rates, blank, stimuli):
    found = means_and_modulations(rates, stimuli)
    best = max(found, key=lambda key: found[key][0])
    angles = np.array(sorted({key[2] for key in found}))
    curve = np.array([found[best[0], best[1], one][0] for one in angles])
    at = int(np.argmax(curve))
    preferred = orientation(curve, angles, [0, 1, 5, 1, 0], 0.5)[0]
    bandwidth = orientation(curve, angles, [0, 2, 5, 2, 0], 0.707)[1] / 2
    variance = 1 - abs(sum(curve * np.exp(2j * np.deg2rad(angles)))) / sum(curve)
    ratio = curve[(at + len(angles) // 2) % len(angles)] / curve[at]
    values = {
        "preferred_orientation": preferred - 180 * (preferred >= 157.5),
        "max_dc": curve[at],
        "modulation_ratio": found[best][1] / curve[at],
        "circular_variance": variance,
        "bandwidth": bandwidth,
        "orthogonal_preferred_ratio": ratio,
        "orientation_selective": float(not np.isnan(bandwidth)),
        "circular_variance_bandwidth_ratio": variance / bandwidth,
        "orthogonal_preferred_ratio_circular_variance_difference": ratio - variance,
    }
    return values if curve[at] > blank + 5 else None


def of_textures(rates, blank, stimuli):
    table = stimuli.assign(rate=rates).pivot_table(index=["type", "family"], columns="sample", values="rate")
    noise, texture = table.loc[1].to_numpy() - blank, table.loc[2].to_numpy() - blank
    by_noise, by_texture = noise.mean(axis=1), texture.mean(axis=1)
    with np.errstate(invalid="ignore"):
        modulation = np.nanmean((by_texture - by_noise) / (by_texture + by_noise))
    spikes = table.loc[2].to_numpy() / 10
    spikes = np.sqrt(spikes) + np.sqrt(spikes + 1)
    sample = spikes.var(axis=1, ddof=1).mean()
    family = spikes.mean(axis=1).var(ddof=1) - sample / spikes.shape[1]
    values = {
        "texture_modulation_index": modulation,
        "absolute_texture_modulation_index": abs(modulation),
        "texture_selectivity": (1 - by_texture.mean() ** 2 / (by_texture**2).mean()) / (1 - 1 / by_texture.size),
        "texture_sparseness": (1 - texture.mean() ** 2 / (texture**2).mean()) / (1 - 1 / texture.size),
        "variance_ratio": (family / (sample + family) + 0.02) / (sample / (sample + family) + 0.02),
        "max_texture": texture.max(),
        "max_noise": noise.max(),
    }
    return values if max(texture.max(), noise.max()) > 5 else None


DEFINITIONS = {
    "Cavanaugh2002a": ("Marques2020_size", of_cavanaugh),
    "DeValois1982a": ("Marques2020_orientation", of_orientation),
    "DeValois1982b": ("Marques2020_spatial_frequency", of_devalois_frequency),
    "FreemanZiemba2013_V1_properties": ("FreemanZiemba2013_properties", of_textures),
    "Ringach2002": ("Marques2020_orientation", of_orientation),
    "Schiller1976c": ("Marques2020_spatial_frequency", of_schiller),
}


def similarity(model, neurons, edges):
    """Mean over 1,000 samples of 1 − KS / KS_max of the histograms, with the seed of the metric."""

    def histogram(values):
        values = np.clip(values[~np.isnan(values)], edges[0], edges[-1])
        return np.histogram(values, edges)[0] / len(values) if len(values) else np.full(len(edges) - 1, np.nan)

    q, samples = histogram(neurons), np.random.default_rng(0).integers(0, len(model), (1000, len(neurons)))
    distances = [np.abs(np.cumsum(histogram(model[drawn])) - np.cumsum(q)).max() for drawn in samples]
    return 1 - np.nanmean(distances) / max(1 - q[0], 1 - q[-1])


@cache
def defined(study, number):
    """Properties of the cells of a model that has been shown the stimuli."""
    stimuli, define = DEFINITIONS[study]
    rates, blank, table = firing_rates(models()[number], stimuli)
    found = [define(rates[:, cell], blank[cell], table) for cell in range(len(blank))]
    return [values for values in found if values is not None]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("identifier", BENCHMARKS)
def test_whole_benchmarks_equal_the_definition(identifier, stand_ins):
    study, name, parent, *_ = BENCHMARKS[identifier]
    neurons = load_dataset(study)
    benchmark = load_benchmark(identifier)
    assert (benchmark.identifier, benchmark.version) == (identifier, 1)
    assert benchmark.parent == f"V1-{parent}"
    measured = neurons.sel(neuronal_property=name).values.ravel()
    edges = neurons.attrs[f"{name}_bins"]
    ceiling = similarity(measured, measured, edges)
    assert float(benchmark.ceiling) == pytest.approx(ceiling, abs=1e-9)
    scores = []
    for number, model in enumerate(models()):
        score = benchmark(model)
        expected = np.array([values[name] for values in defined(study, number)])
        raw = score.attrs["raw"]
        values = raw.attrs["model_property"].sel(neuronal_property=name).values.ravel()
        np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-8)
        assert float(raw) == pytest.approx(similarity(expected, measured, edges), abs=1e-9)
        assert score.attrs["unclamped"] == pytest.approx(float(raw) / ceiling, abs=1e-9)
        assert float(score) == min(score.attrs["unclamped"], 1)
        assert score.attrs["error"] > 0
        enough = min((~np.isnan(expected)).sum(), (~np.isnan(measured)).sum()) >= 20
        assert np.isfinite(score.attrs["ci"]).all() == enough
        scores.append(float(score))
    assert min(scores) > 0
    assert scores[0] != scores[1] or name == "orientation_selective"


def test_registered():
    assert len(BENCHMARKS) == 22
    assert set(BENCHMARKS) == {name for name in benchmark_registry if name.startswith("Marques2020_")}


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", BENCHMARKS)
def test_published_ceiling(identifier):
    StandardizedTests().ceilings_test(identifier, pytest.approx(BENCHMARKS[identifier][3], abs=0.005))


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", BENCHMARKS)
def test_published_score_of_alexnet(identifier):
    needed = dict.fromkeys((*COMMON, DEFINITIONS[BENCHMARKS[identifier][0]][0]))
    files = {name: FEATURES[name] for name in needed}
    expected = pytest.approx(BENCHMARKS[identifier][4], abs=0.01)
    PrecomputedTests().run_test_properties(identifier, files=files, expected=expected)


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", BENCHMARKS)
def test_stimuli_are_repeated(identifier):
    NumberOfTrialsTests().repetitions_test(identifier)
