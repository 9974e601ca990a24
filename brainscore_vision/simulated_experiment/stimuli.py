"""The stimuli of Simulated2026: drawn from a seed, eight categories of gratings, textures and shapes."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brainscore_core.files import replacing
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

IMAGE_SIZE = 128
VISUAL_DEGREES = 8
PER_CATEGORY = 100
CATEGORIES = ("grating", "plaid", "texture", "rings", "star", "disc", "square", "cross")
_SEED = 2026
_GREY = 128.0

Parameters = dict[str, float]


def parameters(category: str, number: int) -> Parameters:
    """Parameters of one stimulus.

    `category`: one of `CATEGORIES`. `number`: which exemplar, from 0. Result: ``orientation`` (degrees), ``frequency``
    (cycles per degree), ``phase`` (degrees), ``x``, ``y`` (centre, degrees right of and below fixation), ``radius``
    (degrees), ``contrast`` (Michelson, 0 to 1).
    """
    return dict(_drawn_parameters(category, number))


@lru_cache(maxsize=2048)  # each of several benchmarks asks for those of all stimuli
def _drawn_parameters(category: str, number: int) -> Parameters:
    # RandomState: its streams are frozen for ever, those of numpy's newer generators are not
    random = np.random.RandomState([_SEED, CATEGORIES.index(category), number])
    return {
        "orientation": float(random.uniform(0, 180)),
        "frequency": float(np.exp(random.uniform(np.log(0.7), np.log(4.5)))),
        "phase": float(random.uniform(0, 360)),
        "x": float(random.uniform(-1.0, 1.0)),
        "y": float(random.uniform(-1.0, 1.0)),
        "radius": float(random.uniform(1.2, 2.8)),
        "contrast": float(random.uniform(0.35, 1.0)),
    }


def draw(category: str, number: int) -> NDArray[np.uint8]:
    """Draw one stimulus.

    `category`: one of `CATEGORIES`. `number`: which exemplar, from 0. Result: `IMAGE_SIZE` × `IMAGE_SIZE`; grey levels;
    128 is the background.

    Examples
    --------
    >>> draw("grating", 0).shape
    (128, 128)
    """
    shape = parameters(category, number)
    # RandomState as in `parameters`; one more number in the seed makes another stream
    random = np.random.RandomState([_SEED, CATEGORIES.index(category), number, 1])
    axis = (np.arange(IMAGE_SIZE) + 0.5) * VISUAL_DEGREES / IMAGE_SIZE - VISUAL_DEGREES / 2
    x, y = axis[np.newaxis] - shape["x"], axis[:, np.newaxis] - shape["y"]
    angle, phase = np.deg2rad(shape["orientation"]), np.deg2rad(shape["phase"])
    across, along = x * np.sin(angle) + y * np.cos(angle), x * np.cos(angle) - y * np.sin(angle)
    distance = np.hypot(x, y)
    wave = 2 * np.pi * shape["frequency"]
    aperture = _inside(distance, shape["radius"] + 0.8)
    if category == "grating":
        pattern = np.cos(wave * across + phase) * aperture
    elif category == "plaid":
        pattern = (np.cos(wave * across + phase) + np.cos(wave * along + phase)) / 2 * aperture
    elif category == "texture":
        pattern = _texture(x, y, shape["frequency"], shape["orientation"], spread=25.0, random=random) * aperture
    elif category == "rings":
        pattern = np.cos(wave * distance + phase) * aperture
    elif category == "star":
        arms = 2 + int(shape["frequency"] * 2)
        pattern = np.tanh(3 * np.cos(arms * np.arctan2(across, along) + phase)) * aperture
    elif category == "disc":
        pattern = _sign(phase) * _inside(distance, shape["radius"])
    elif category == "square":
        pattern = _sign(phase) * _inside(np.maximum(np.abs(across), np.abs(along)), shape["radius"] * 0.85)
    else:
        arm, length = shape["radius"] * 0.3, shape["radius"] * 1.1
        bars = [
            _inside(np.abs(short), arm) * _inside(np.abs(long), length)
            for short, long in ((across, along), (along, across))
        ]
        pattern = _sign(phase) * np.maximum(*bars)
    pattern = pattern + 0.12 * _texture(x, y, 1.5, 0.0, spread=90.0, random=random)
    levels = _GREY + 127 * np.clip(shape["contrast"] * pattern, -1, 1)
    return np.round(levels).astype(np.uint8)


def drawn_stimuli(identifier: str, exemplars: Iterable[int], folder: Path) -> StimulusSet:
    """Exemplars of each category; drawn and written into `folder` as PNG files on first use.

    They have ``object_name`` and the parameters that they were drawn from (:func:`parameters`).
    """
    from PIL import Image

    rows, paths = [], {}
    for category in CATEGORIES:
        for number in exemplars:
            name = f"{category}_{number:02d}"
            paths[name] = folder / f"{name}.png"
            if not paths[name].exists():
                with replacing(paths[name]) as stream:
                    # the default level takes three times as long, for files that are 7% smaller
                    Image.fromarray(draw(category, number)).save(stream, format="PNG", compress_level=1)
            rows.append({"stimulus_id": name, "object_name": category, "image_label": category}
                        | parameters(category, number))  # fmt: skip
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = identifier
    return stimuli


def _inside(distance: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """1 inside, 0 outside, with an edge of about two pixels."""
    return 0.5 * (1 - np.tanh((distance - radius) / 0.08))


def _sign(phase: float) -> float:
    return 1.0 if phase < np.pi else -1.0


def _texture(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    frequency: float,
    orientation: float,
    *,
    spread: float,
    random: np.random.RandomState,
) -> NDArray[np.float64]:
    """Sum of gratings with random orientations within ± `spread` degrees and random phases; variance 1/2."""
    waves = 24
    angles = np.deg2rad(orientation + random.uniform(-spread, spread, waves))
    frequencies = 2 * np.pi * frequency * np.exp(random.uniform(-0.4, 0.4, waves))
    phases = random.uniform(0, 2 * np.pi, waves)
    # cos(a + b) = cos a cos b − sin a sin b, with a of columns and b of rows: two products of matrices
    columns = x.T * (frequencies * np.sin(angles))
    rows = y * (frequencies * np.cos(angles)) + phases
    total = np.cos(rows) @ np.cos(columns).T - np.sin(rows) @ np.sin(columns).T
    return total / np.sqrt(waves)
