"""Simulated pictures, and responses that depend on them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_GRID = 4


def write_pictures(
    folder: Path, stimulus_ids: Sequence[str], *, seed: int, size: int = 32, kinds: Sequence[int] | None = None
) -> dict[str, Path]:
    """Write one square RGB picture per stimulus.

    `stimulus_ids`: names of the stimuli, and of their files. `seed`: seed of the pictures. `size`: width and height in
    pixels, a multiple of 8. `kinds`: kind of each stimulus: stimuli of the same kind share half of their picture. By
    default all kinds differ.
    """
    from PIL import Image

    rng = np.random.default_rng(seed)
    kinds = range(len(stimulus_ids)) if kinds is None else kinds
    common = {kind: rng.uniform(0, 255, (8, 8, 3)) for kind in dict.fromkeys(kinds)}
    paths = {}
    for stimulus_id, kind in zip(stimulus_ids, kinds, strict=True):
        levels = (common[kind] + rng.uniform(0, 255, (8, 8, 3))) / 2
        pixels = np.kron(levels, np.ones((size // 8, size // 8, 1))).astype(np.uint8)
        paths[stimulus_id] = folder / f"{stimulus_id}.png"
        Image.fromarray(pixels).save(paths[stimulus_id])
    return paths


def picture_features(stimuli: StimulusSet) -> NDArray[np.float64]:
    """Mean grey level in each cell of a 4 × 4 grid over each picture, standardised over pictures.

    Result: stimuli × 16.
    """
    from PIL import Image

    grey = []
    for stimulus_id in stimuli["stimulus_id"]:
        with Image.open(stimuli.get_stimulus(stimulus_id)) as image:
            grey.append(block_means(np.asarray(image.convert("L"), dtype=np.float64), _GRID))
    features = np.stack(grey).reshape(len(grey), -1)
    return (features - features.mean(axis=0)) / features.std(axis=0)


def expected_responses(stimuli: StimulusSet, neuroids: int, *, seed: int) -> NDArray[np.float64]:
    """Responses without noise: a random linear function of :func:`picture_features` for each neuroid.

    Result: stimuli × neuroids; mean over stimuli 0, variance about 1.
    """
    features = picture_features(stimuli)
    weights = np.random.default_rng(seed).standard_normal((features.shape[1], neuroids))
    return np.asarray(features @ weights / np.sqrt(features.shape[1]))


def block_means(image: NDArray[np.float64], cells: int) -> NDArray[np.float64]:
    """Mean of an image (height × width) in each cell of a grid, cells × cells."""
    rows = [band.mean(axis=0) for band in np.array_split(image, cells, axis=0)]
    columns = [band.mean(axis=1) for band in np.array_split(np.stack(rows), cells, axis=1)]
    return np.stack(columns, axis=1)
