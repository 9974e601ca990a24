"""Stand-ins of Malania et al. 2007: verniers among flankers, and the thresholds of six subjects."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_BASELINE = "vernier_only"
_CONDITIONS = ("short2", "short4", "short6", "short8", "short16", "equal2", "long2", "equal16", "long16")
_SIZE, _DEGREES = 64, 2.986667
_ARCSEC = _DEGREES * 3600 / _SIZE  # of a pixel
_OFFSETS = np.arange(1, 7) * 20.0  # arc seconds
_HEIGHT, _GAP, _DISTANCE = 20, 2, 6  # pixels
_LENGTHS = {"short": 0.5, "equal": 1.0, "long": 1.6}  # of flankers, relative to the vernier
_LINE, _NOISE = 120.0, 40.0  # grey levels
_EACH = 6  # stimuli of each offset and side
_SUBJECTS = [f"subject{number}" for number in range(6)]
_EVERYBODY = (_BASELINE, "short2", "short16")  # elsewhere one of the six has no threshold


def _stimuli(name: str, folder: Path) -> StimulusSet:
    condition = name.removesuffix("_fit")
    rng = np.random.default_rng([2007, *map(ord, name)])
    length, flankers = _flankers(condition)
    rows, paths = [], {}
    for offset in _OFFSETS:
        for side in ("left", "right"):
            for number in range(_EACH):
                stimulus_id = f"{name}_{offset:.0f}_{side}_{number}"
                pixels = _vernier(offset if side == "right" else -offset, length, flankers, rng)
                paths[stimulus_id] = folder / f"{stimulus_id}.png"
                Image.fromarray(pixels).save(paths[stimulus_id])
                rows.append(
                    {
                        "image_size_x_pix": _SIZE,
                        "image_size_y_pix": _SIZE,
                        "image_size_c": 3,
                        "image_size_degrees": _DEGREES,
                        "vernier_height_arcsec": _HEIGHT * _ARCSEC,
                        "vernier_offset_arcsec": offset,
                        "image_label": side,
                        "flanker_height_arcsec": length * _HEIGHT * _ARCSEC,
                        "flanker_spacing_arcsec": _DISTANCE * _ARCSEC,
                        "line_width_arcsec": _ARCSEC,
                        "flanker_distance_arcsec": _DISTANCE * _ARCSEC,
                        "num_flankers": flankers,
                        "vernier_position_x_pix": _SIZE // 2,
                        "vernier_position_y_pix": _SIZE // 2,
                        "stimulus_id": stimulus_id,
                    }
                )
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    return stimuli


def _flankers(condition: str) -> tuple[float, int]:
    """Their length relative to the vernier, and how many there are."""
    if condition == _BASELINE:
        return 0.0, 0
    length, number = re.fullmatch(r"([a-z]+)(\d+)", condition).groups()  # type: ignore[union-attr] # it always matches
    return _LENGTHS[length], int(number)


def _vernier(offset: float, length: float, flankers: int, rng: np.random.Generator) -> np.ndarray:
    """Two vertical lines, the lower one offset to the right by arc seconds, among flankers, in noise."""
    levels = 40 + _NOISE * rng.standard_normal((_SIZE, _SIZE))
    middle = _SIZE / 2
    for sign in (-1, 1):  # upper and lower line
        start = middle + (_GAP / 2 if sign > 0 else -_GAP / 2 - _HEIGHT / 2)
        _line(levels, middle + sign * offset / _ARCSEC / 2, start, _HEIGHT / 2)
    for number in range(flankers):
        place = (number // 2 + 1) * _DISTANCE * (1 if number % 2 else -1) % _SIZE
        _line(levels, (middle + place) % (_SIZE - 2), middle - length * _HEIGHT / 2, length * _HEIGHT)
    return np.repeat(np.clip(levels, 0, 255).astype(np.uint8)[..., np.newaxis], 3, axis=2)


def _line(levels: np.ndarray, x: float, start: float, height: float) -> None:
    """A line whose edge lies between two columns of pixels lights both, the nearer one more."""
    column = int(np.floor(x - 0.5))
    rows = slice(max(int(start), 0), int(start + height))
    levels[rows, column] += _LINE * (column + 1.5 - x)
    levels[rows, column + 1] += _LINE * (x - column - 0.5)


def _thresholds(condition: str, stimuli: StimulusSet) -> PropertyAssembly:
    rng = np.random.default_rng([7, *map(ord, condition)])
    length, flankers = _flankers(condition)
    # flankers of the vernier's own length interfere most
    harder = 1 + (0.6 if flankers else 0) + 0.5 * (length == 1) + 0.02 * flankers
    own = np.array([0.8, 0.9, 1.0, 1.1, 1.2, 1.3])
    thresholds = np.round(30 * own * harder * np.exp(0.1 * rng.standard_normal(len(own))), 2)
    if condition not in _EVERYBODY:
        thresholds[-1] = np.nan
    return PropertyAssembly(thresholds, coords={"subject": ("subject", _SUBJECTS)}, dims=["subject"])


STIMULUS_SETS: dict[str, Callable[[Path], StimulusSet]] = {
    f"Malania2007.{name}": partial(_stimuli, name)
    for name in (_BASELINE, *_CONDITIONS, *(f"{condition}_fit" for condition in _CONDITIONS))
}
ASSEMBLIES: dict[str, tuple[str, Callable[[StimulusSet], PropertyAssembly]]] = {
    f"Malania2007.{name}": (f"Malania2007.{name}", partial(_thresholds, name)) for name in (_BASELINE, *_CONDITIONS)
}
