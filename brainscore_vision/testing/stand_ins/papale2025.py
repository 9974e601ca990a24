"""Stand-ins of Papale et al. 2025: two animals, 60 training pictures shown once, 20 test pictures shown four times."""

from functools import partial
from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import picture_features, write_pictures

_CATEGORIES = 20
_EXAMPLES = {"train": 3, "test": 1}  # of each category
_REPETITIONS = {"train": 1, "test": 4}
_NEUROIDS = {"monkeyF": {"V1": 5, "V4": 4, "IT": 4}, "monkeyN": {"V1": 4, "V4": 5, "IT": 5}}
_UNRELIABLE = 1  # of each animal's and region's neuroids, the last
_SEED = 25


def _stimuli(split: str, folder: Path) -> StimulusSet:
    count = _EXAMPLES[split]
    # the test pictures are of categories of their own, as published
    labels = [f"{'thing' if split == 'train' else 'other'}{number:02d}" for number in range(_CATEGORIES)]
    names = [f"{label}_{example + 1:02d}b" for label in labels for example in range(count)]
    of = np.repeat(labels, count)
    stimuli = StimulusSet(
        {"stimulus_id": names, "label": of, "object_name": of, "label_idx": np.repeat(np.arange(_CATEGORIES), count)}
    )
    kinds = stimuli["label_idx"].tolist()
    stimuli.stimulus_paths = write_pictures(folder, names, seed=_SEED + len(split), kinds=kinds)
    return stimuli


def _recordings(split: str, stimuli: StimulusSet) -> NeuroidAssembly:
    rng = np.random.default_rng([_SEED, len(split)])
    repetitions = _REPETITIONS[split]
    places = [(subject, region, number < count - _UNRELIABLE)
              for subject, regions in _NEUROIDS.items() for region, count in regions.items()
              for number in range(count)]  # fmt: skip
    subjects, regions, reliable = (np.array(column) for column in zip(*places, strict=True))
    features = picture_features(stimuli)
    # the same weights for training and test pictures: they are of the same neuroids
    weights = np.random.default_rng(_SEED).standard_normal((features.shape[1], len(places)))
    signal = np.repeat(features @ weights / 4, repetitions, axis=0)
    noise = np.where(reliable, np.linspace(0.3, 0.8, len(places)), 4.0)
    values = signal + noise * rng.standard_normal(signal.shape)
    table = stimuli.loc[np.repeat(np.arange(len(stimuli)), repetitions)]
    reliability = np.where(reliable, np.linspace(0.9, 0.6, len(places)), 0.1)
    return NeuroidAssembly(
        values[:, :, np.newaxis],
        coords={
            "stimulus_id": ("presentation", table["stimulus_id"].to_numpy()),
            "stimulus_label": ("presentation", table["label"].to_numpy()),
            "object_name": ("presentation", table["object_name"].to_numpy()),
            "stimulus_label_idx": ("presentation", table["label_idx"].to_numpy()),
            "repetition": ("presentation", np.tile(np.arange(repetitions), len(stimuli))),
            "region": ("neuroid", regions),
            "subject": ("neuroid", subjects),
            # numbered anew in each animal, as published
            "neuroid_id": ("neuroid", np.concatenate([np.arange((subjects == one).sum()) for one in _NEUROIDS])),
            "SNR": ("neuroid", np.round(1 / noise, 3)),
            "SNR_max": ("neuroid", np.round(1.5 / noise, 3)),
            "reliability": ("neuroid", np.round(reliability, 3)),
            "oracle": ("neuroid", np.round(reliability / 2, 3)),
            "time_bin_start": ("time_bin", [70]),
            "time_bin_end": ("time_bin", [170]),
        },
        dims=["presentation", "neuroid", "time_bin"],
    )


STIMULUS_SETS = {f"Papale2025_stim_{split}": partial(_stimuli, split) for split in _EXAMPLES}
ASSEMBLIES = {f"Papale2025_{split}": (f"Papale2025_stim_{split}", partial(_recordings, split)) for split in _EXAMPLES}
