"""Stand-ins of Marques et al. 2020: fewer gratings and textures, and neurons whose properties are drawn at random."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_SIZE = 96
_DEGREES = 12
_TEXTURE_SIZE = 64
_TEXTURE_DEGREES = 8
_POSITION = 0.5
_MAPPED = (-0.5, 0.0, 0.5, 1.0, 1.5)
_ORIENTATIONS = tuple(np.arange(0, 180, 22.5))
_FEW_ORIENTATIONS = (0.0, 45.0, 90.0, 135.0)
_PHASES = (0.0, 90.0, 180.0, 270.0)
_FREQUENCIES = tuple(np.round(2 ** np.linspace(-1.5, 1.5, 6), 4))
_CYCLES = (1, 2)
_RADII = (0.25, 0.5, 0.75, 1.0, 1.5, 2.5)
_FAMILIES, _SAMPLES = 5, 6
_COLUMNS = ("position_y", "position_x", "contrast", "radius", "spatial_frequency", "orientation", "phase")
_NEURONS = 48
_TRIALS = 20

_Parameters = Sequence[tuple[float, ...]]


def _mapping() -> _Parameters:
    return list(product(_MAPPED, _MAPPED, (1.0,), (0.5,), (1.0,), (0.0, 90.0), (0.0, 180.0)))


def _orientation() -> _Parameters:
    sizes = [(cycles / 2 / frequency, frequency) for cycles in _CYCLES for frequency in (0.75, 1.5)]
    here = (_POSITION, _POSITION, 1.0)
    return [(*here, *size, *wave) for size in sizes for wave in product(_ORIENTATIONS, _PHASES)]


def _spatial_frequency() -> _Parameters:
    return list(product((_POSITION,), (_POSITION,), (1.0,), (0.75, 2.25), _FREQUENCIES, _FEW_ORIENTATIONS, _PHASES))


def _size() -> _Parameters:
    return list(product((_POSITION,), (_POSITION,), (1.0,), _RADII, (0.75, 1.5), _FEW_ORIENTATIONS, _PHASES))


def _gratings(name: str, parameters: _Parameters, folder: Path) -> StimulusSet:
    pictures = [_grating(*each) for each in parameters]
    table = dict(zip(_COLUMNS, np.array(parameters).T, strict=True))
    return _stimulus_set(name, pictures, table, folder, degrees=_DEGREES)


def _blank(folder: Path) -> StimulusSet:
    return _stimulus_set("blank_stim", [np.full((_SIZE, _SIZE), 128.0)], {}, folder, degrees=_DEGREES)


def _textures(folder: Path) -> StimulusSet:
    rows = list(product((1, 2), range(1, _FAMILIES + 1), range(1, _SAMPLES + 1)))
    kinds, families, samples = np.random.RandomState(5).permutation(rows).T  # in no order, as in the published set
    pictures = [_texture(*row) for row in zip(kinds, families, samples, strict=True)]
    here = np.full(len(rows), _POSITION)
    table = {"position_y": here, "position_x": here, "family": families, "sample": samples, "type": kinds}
    return _stimulus_set("texture", pictures, table, folder, degrees=_TEXTURE_DEGREES)


def _stimulus_set(
    name: str,
    pictures: Sequence[NDArray[np.float64]],
    table: Mapping[str, NDArray[Any]],
    folder: Path,
    *,
    degrees: float,
) -> StimulusSet:
    stimulus_ids = [str(number) for number in range(len(pictures))]
    files = [f"{name}_{number:04d}.png" for number in range(len(pictures))]
    for file, picture in zip(files, pictures, strict=True):
        Image.fromarray(np.round(picture).astype(np.uint8)).save(folder / file)
    stimuli = StimulusSet({"stimulus_id": stimulus_ids, "degrees": degrees, **table, "image_file_name": files})
    stimuli.stimulus_paths = {stimulus_id: folder / file for stimulus_id, file in zip(stimulus_ids, files, strict=True)}
    return stimuli


def _grating(
    position_y: float, position_x: float, contrast: float, radius: float, frequency: float, angle: float, phase: float
) -> NDArray[np.float64]:
    """Grey levels of a grating in a circular aperture on grey; positions and radius in degrees."""
    y, x = _axes(_SIZE, _DEGREES, position_y, position_x)
    across = x * np.cos(np.deg2rad(angle)) + y * np.sin(np.deg2rad(angle))
    wave = np.sin(2 * np.pi * frequency * across + np.deg2rad(phase))
    return np.where(x**2 + y**2 <= radius**2, 127.5 * (1 + contrast * wave), 128.0)


def _texture(kind: int, family: int, sample: int) -> NDArray[np.float64]:
    """Noise (1) of a family's spectrum, or the same with its parts aligned and sparse (2), in a round window."""
    random = np.random.RandomState([7, family, sample])
    y, x = _axes(_TEXTURE_SIZE, _TEXTURE_DEGREES, _POSITION, _POSITION)
    angles = random.normal(180 * family / _FAMILIES, 15, 12)
    frequencies = np.exp(random.normal(np.log(0.6 + 0.2 * family), 0.3, 12))
    pattern = np.zeros_like(y + x)
    for angle, frequency, phase in zip(np.deg2rad(angles), frequencies, random.uniform(0, 2 * np.pi, 12), strict=True):
        pattern = pattern + np.cos(
            2 * np.pi * frequency * (x * np.cos(angle) + y * np.sin(angle)) + phase * (kind == 1)
        )
    if kind == 2:
        pattern = np.sign(pattern) * pattern**2 / 6
    window = np.clip(0.5 * (1 + np.cos(np.pi * np.hypot(x, y) / 2)), 0, 1) * (np.hypot(x, y) < 2)
    return 128 + 127 * np.clip(pattern / 6, -1, 1) * window


def _axes(size: int, degrees: float, y: float, x: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    axis = (np.arange(size) + 0.5) * degrees / size - degrees / 2
    return axis[:, np.newaxis] - y, axis[np.newaxis] - x


def _assembly(values: Mapping[str, NDArray[Any]], bins: Mapping[str, NDArray[Any]]) -> PropertyAssembly:
    table = np.stack([np.asarray(column, dtype=np.float64) for column in values.values()], axis=1)
    assembly = PropertyAssembly(
        table,
        coords={
            "neuroid_id": ("neuroid", np.arange(len(table))),
            "region": ("neuroid", ["V1"] * len(table)),
            "neuronal_property": list(values),
        },
        dims=["neuroid", "neuronal_property"],
    )
    assembly.attrs["number_of_trials"] = _TRIALS
    for name, edges in bins.items():
        assembly.attrs[f"{name}_bins"] = edges
    return assembly


def _cavanaugh(stimuli: StimulusSet) -> PropertyAssembly:
    random = np.random.RandomState(1)
    index = random.beta(1, 2, _NEURONS)
    suppressed = index > 0.1
    field = np.where(suppressed, 2.0 ** random.normal(0.5, 0.8, _NEURONS), np.nan)
    ratio = 2.0 ** random.uniform(0, 2, _NEURONS)
    octaves = 2.0 ** np.arange(-4, 5)
    return _assembly(
        {
            "surround_suppression_index": index,
            "strongly_suppressed": suppressed,
            "grating_summation_field": field,
            "surround_diameter": field * ratio,
            "surround_grating_summation_field_ratio": np.where(suppressed, ratio, np.nan),
        },
        {
            "surround_suppression_index": np.linspace(0, 2, 11),
            "strongly_suppressed": np.linspace(0, 1, 3),
            "grating_summation_field": octaves,
            "surround_diameter": octaves,
            "surround_grating_summation_field_ratio": 2.0 ** np.arange(6),
        },
    )


def _de_valois_orientation(stimuli: StimulusSet) -> PropertyAssembly:
    angles = np.random.RandomState(2).uniform(-22.5, 157.5, _NEURONS)
    return _assembly({"preferred_orientation": angles}, {"preferred_orientation": np.linspace(-22.5, 157.5, 5)})


def _de_valois_frequency(stimuli: StimulusSet) -> PropertyAssembly:
    peaks = 2.0 ** np.random.RandomState(3).normal(0.3, 0.8, _NEURONS)
    edges = np.array([0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.2, 16.0, 22.4])
    return _assembly({"peak_spatial_frequency": peaks}, {"peak_spatial_frequency": edges})


def _ringach(stimuli: StimulusSet) -> PropertyAssembly:
    random = np.random.RandomState(4)
    spontaneous = np.exp(random.normal(0, 1, _NEURONS))
    largest = spontaneous + 6 + np.exp(random.normal(3.3, 0.7, _NEURONS))
    modulated = largest * random.uniform(0, 1.6, _NEURONS)
    variance = random.beta(3, 2, _NEURONS)
    ratio = np.clip(variance**2 + random.normal(0, 0.05, _NEURONS), 0, 1)
    bandwidth = np.where(variance < 0.9, 10 + 40 * variance, np.nan)
    values = {
        "baseline": spontaneous,
        "max_dc": largest,
        "min_dc": largest * ratio * 0.8,
        "max_ac": modulated,
        "modulation_ratio": modulated / largest,
        "circular_variance": variance,
        "bandwidth": bandwidth,
        "orthogonal_preferred_ratio": ratio,
        "orientation_selective": ~np.isnan(bandwidth),
        "circular_variance_bandwidth_ratio": variance / bandwidth,
        "orthogonal_preferred_ratio_circular_variance_difference": ratio - variance,
        "orthogonal_preferred_ratio_bandwidth_ratio": ratio / bandwidth,
    }
    rates, low_rates, ratios = np.logspace(0, 3, 10), np.logspace(-4 / 3, 2, 11), np.logspace(-3, 0, 16)
    bins = {
        "baseline": low_rates,
        "max_dc": rates,
        "min_dc": low_rates,
        "max_ac": rates,
        "modulation_ratio": np.linspace(0, 2, 11),
        "circular_variance": np.linspace(0, 1, 14),
        "bandwidth": np.linspace(0, 90, 18),
        "orthogonal_preferred_ratio": np.linspace(0, 1, 14),
        "orientation_selective": np.linspace(0, 1, 3),
        "circular_variance_bandwidth_ratio": ratios,
        "orthogonal_preferred_ratio_circular_variance_difference": np.linspace(-1, 1, 20),
        "orthogonal_preferred_ratio_bandwidth_ratio": ratios,
    }
    return _assembly(values, bins)


def _schiller(stimuli: StimulusSet) -> PropertyAssembly:
    random = np.random.RandomState(5)
    selective = random.uniform(size=_NEURONS) < 0.8
    bandwidth = np.where(selective, np.clip(random.normal(42, 14, _NEURONS), 5, 95), np.nan)
    return _assembly(
        {"spatial_frequency_selective": selective, "spatial_frequency_bandwidth": bandwidth},
        {
            "spatial_frequency_selective": np.linspace(0, 1, 3),
            "spatial_frequency_bandwidth": np.linspace(0, 100, 11),
        },
    )


def _freeman_ziemba(stimuli: StimulusSet) -> PropertyAssembly:
    random = np.random.RandomState(6)
    modulation = np.clip(random.normal(0, 0.2, _NEURONS), -1, 1)
    largest = np.exp(random.normal(3.5, 0.7, _NEURONS))
    sample = random.beta(3, 2, _NEURONS)
    values = {
        "texture_modulation_index": modulation,
        "absolute_texture_modulation_index": np.abs(modulation),
        "texture_selectivity": random.beta(2, 6, _NEURONS),
        "noise_selectivity": random.beta(2, 6, _NEURONS),
        "texture_sparseness": random.beta(3, 4, _NEURONS),
        "noise_sparseness": random.beta(3, 4, _NEURONS),
        "variance_ratio": (1.02 - sample) / (sample + 0.02),
        "sample_variance": sample,
        "family_variance": 1 - sample,
        "max_texture": largest * (1 + modulation),
        "max_noise": largest * (1 - modulation),
    }
    bins = dict.fromkeys(values, np.linspace(0, 1, 11))
    bins |= {
        "texture_modulation_index": np.linspace(-1, 1, 25),
        "absolute_texture_modulation_index": np.linspace(0, 1, 13),
        "variance_ratio": np.logspace(-2, 1, 13),
        "max_texture": np.logspace(-1, 3, 13),
        "max_noise": np.logspace(-1, 3, 13),
    }
    return _assembly(values, bins)


STIMULUS_SETS = {
    "Marques2020_blank": _blank,
    "Marques2020_receptive_field": partial(_gratings, "Marques2020_receptive_field", _mapping()),
    "Marques2020_orientation": partial(_gratings, "Marques2020_orientation", _orientation()),
    "Marques2020_spatial_frequency": partial(_gratings, "Marques2020_spatial_frequency", _spatial_frequency()),
    "Marques2020_size": partial(_gratings, "Marques2020_size", _size()),
    "FreemanZiemba2013_properties": _textures,
}
ASSEMBLIES = {
    "Cavanaugh2002a": ("Marques2020_size", _cavanaugh),
    "DeValois1982a": ("Marques2020_orientation", _de_valois_orientation),
    "DeValois1982b": ("Marques2020_spatial_frequency", _de_valois_frequency),
    "FreemanZiemba2013_V1_properties": ("FreemanZiemba2013_properties", _freeman_ziemba),
    "Ringach2002": ("Marques2020_orientation", _ringach),
    "Schiller1976c": ("Marques2020_spatial_frequency", _schiller),
}
