"""Stand-ins of Majaj, Hong et al. 2015: ten pictures of each of six objects, repeated four times."""

from functools import partial
from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuronRecordingAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import expected_responses, write_pictures

_OBJECTS = {
    "bear": "Animals",
    "ELEPHANT_M": "Animals",
    "yacht": "Boats",
    "canoeL": "Boats",
    "breed_pug": "Animals",
    "001": "Chairs",
}
_PICTURES = 10  # of each object
_REPETITIONS = 4
_NEUROIDS = {"V4": 5, "IT": 7}
_MANY_NEUROIDS = {"V4": 30, "IT": 32}  # reverse regressions have 25 components
_NOISE = 1.0  # standard deviation; that of the signal is about 1
_STATIC = ((70, 170),)
_TWENTY = tuple((start, start + 20) for start in range(-20, 120, 20))
_TEN = tuple((start, start + 10) for start in range(-20, 120, 10))


def _stimuli(variations: tuple[int, ...], seed: int, folder: Path) -> StimulusSet:
    rng = np.random.default_rng(seed)
    names = [name for name in _OBJECTS for _ in range(_PICTURES)]
    stimulus_ids = [rng.bytes(20).hex() for _ in names]
    pose = {name: np.round(rng.uniform(-45, 45, len(names)), 3) for name in ("rxy", "rxz", "ryz")}
    table = {
        "stimulus_id": stimulus_ids,
        "id": stimulus_ids,
        "image_file_name": [f"{stimulus_id}.png" for stimulus_id in stimulus_ids],
        "background_id": [rng.bytes(20).hex() for _ in names],
        "object_name": names,
        "category_name": [_OBJECTS[name] for name in names],
        "variation": [variations[number % len(variations)] for number in range(len(names))],
        "s": np.round(rng.uniform(0.8, 1.6, len(names)), 3),
        "size": [32] * len(names),
        "ty": np.round(rng.uniform(-0.6, 0.6, len(names)), 3),
        "tz": np.round(rng.uniform(-0.6, 0.6, len(names)), 3),
    }
    table |= pose | {f"{name}_semantic": values + 90 for name, values in pose.items()}
    stimuli = StimulusSet(table)
    kinds = [list(_OBJECTS).index(name) for name in names]
    stimuli.stimulus_paths = write_pictures(folder, stimulus_ids, seed=seed, kinds=kinds)
    return stimuli


def _recordings(
    time_bins: tuple[tuple[int, int], ...], seed: int, stimuli: StimulusSet, neuroids: dict[str, int] = _NEUROIDS
) -> NeuronRecordingAssembly:
    rng = np.random.default_rng(seed)
    regions = [region for region, count in neuroids.items() for _ in range(count)]
    signal = expected_responses(stimuli, len(regions), seed=seed)
    starts, ends = np.array(time_bins).T
    course = np.ones(1) if len(time_bins) == 1 else np.clip((starts - 30) / 40, 0, 1)  # 30 ms until responses begin
    n = len(stimuli)
    values = signal[:, :, np.newaxis] * course
    values = 1 + np.concatenate([values] * _REPETITIONS)
    values = values + _NOISE * rng.standard_normal(values.shape)
    electrode = np.arange(len(regions))
    return NeuronRecordingAssembly(
        values.transpose(1, 0, 2),
        coords={
            "stimulus_id": ("presentation", list(stimuli["stimulus_id"]) * _REPETITIONS),
            "repetition": ("presentation", np.repeat(np.arange(_REPETITIONS), n)),
            "neuroid_id": ("neuroid", [f"Chabo_L_M_{number}_{number}" for number in electrode]),
            "animal": ("neuroid", ["Chabo"] * len(regions)),
            "arr": ("neuroid", ["M"] * len(regions)),
            "col": ("neuroid", electrode),
            "row": ("neuroid", electrode),
            "hemisphere": ("neuroid", ["L"] * len(regions)),
            "region": ("neuroid", regions),
            "subregion": ("neuroid", ["cIT" if region == "IT" else "V4" for region in regions]),
            "x": ("neuroid", np.round(0.2 * electrode, 3)),
            "y": ("neuroid", np.round(2.0 - 0.2 * electrode, 3)),
            "time_bin_start": ("time_bin", starts),
            "time_bin_end": ("time_bin", ends),
        },
        dims=["neuroid", "presentation", "time_bin"],
    )


STIMULUS_SETS = {
    "hvm": partial(_stimuli, (0, 3, 6), 1),
    "hvm-public": partial(_stimuli, (0, 3), 2),
    "hvm-private": partial(_stimuli, (6,), 3),
}
ASSEMBLIES = {
    "MajajHong2015": ("hvm", partial(_recordings, _STATIC, 10)),
    "MajajHong2015.public": ("hvm-public", partial(_recordings, _STATIC, 11, neuroids=_MANY_NEUROIDS)),
    "MajajHong2015.private": ("hvm-private", partial(_recordings, _STATIC, 12)),
    "MajajHong2015.temporal": ("hvm", partial(_recordings, _TWENTY, 13)),
    "MajajHong2015.temporal.public": ("hvm-public", partial(_recordings, _TWENTY, 14)),
    "MajajHong2015.temporal.private": ("hvm-private", partial(_recordings, _TWENTY, 15)),
    "MajajHong2015.temporal-10ms": ("hvm", partial(_recordings, _TEN, 16)),
}
