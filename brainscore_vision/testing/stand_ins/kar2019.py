"""Stand-ins of Kar et al. 2019: 70 pictures of five objects, the fainter the object the later it is solved."""

from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_OBJECTS = ("bear", "elephant", "person", "car", "dog")  # the first of the published ten
_PICTURES = 14  # of each object
_TWICE = 2  # presentations of a picture that is there already
_SIZE = 32
_SEED = 19


def _stimuli(folder: Path) -> StimulusSet:
    from PIL import Image

    rng = np.random.default_rng(_SEED)
    labels = np.repeat(_OBJECTS, _PICTURES)
    patterns = {name: rng.choice([-1.0, 1.0], (8, 8, 3)) for name in _OBJECTS}
    names = [rng.bytes(20).hex() for _ in labels]
    paths = {}
    for name, label, contrast in zip(names, labels, _contrasts(), strict=True):
        levels = 128 + 45 * contrast * patterns[label] + 45 * (1 - contrast) * rng.standard_normal((8, 8, 3))
        pixels = np.kron(np.clip(levels, 0, 255), np.ones((_SIZE // 8, _SIZE // 8, 1)))
        paths[name] = folder / f"{name}.png"
        Image.fromarray(pixels.astype(np.uint8)).save(paths[name])
    stimuli = StimulusSet(
        {
            "stimulus_id": names,
            "image_current_local_file_path": [f"image_{number:04d}.jpg" for number in range(len(names))],
            "image_file_sha1": names,
            "image_num": np.arange(len(names)),
            "image_label": labels,
        }
    )
    stimuli.stimulus_paths = paths
    return stimuli


def _solution_times(stimuli: StimulusSet) -> DataAssembly:
    rng = np.random.default_rng([_SEED, 1])
    times = 200 - 110 * _contrasts() + 8 * rng.standard_normal((2, len(stimuli)))
    times[:, 5] = np.nan  # never solved
    shown = [*range(len(stimuli)), *range(_TWICE)]
    i1 = np.round(rng.uniform(1.0, 2.0, len(stimuli)), 4)
    table = stimuli.loc[shown]
    assembly = DataAssembly(
        times[:, shown],
        coords={
            "stimulus_id": ("presentation", table["stimulus_id"].to_numpy()),
            "image_label": ("presentation", table["image_label"].to_numpy()),
            "i1": ("presentation", i1[shown]),
            "decoder": ("decoder", ["svm", "logistic"]),
        },
        dims=["decoder", "presentation"],
    )
    assembly.attrs["nan_allowed"] = "some pictures are never solved"
    return assembly


def _contrasts() -> np.ndarray:
    """How much of each picture is its object, and not noise."""
    return np.random.default_rng([_SEED, 2]).uniform(0.2, 0.9, len(_OBJECTS) * _PICTURES)


STIMULUS_SETS = {"Kar2019": _stimuli}
ASSEMBLIES = {"Kar2019": ("Kar2019", _solution_times)}
