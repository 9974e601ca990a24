"""Stand-ins of Freeman, Ziemba et al. 2013: six samples of five textures and of their noise, repeated four times."""

from functools import partial
from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuronRecordingAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import expected_responses, write_pictures

_FAMILIES = (13, 18, 23, 30, 38)
_TYPES = ("noise", "texture")
_SAMPLES = 6
_REPETITIONS = 4
_NEUROIDS = {"V1": 4, "V2": 5}
_MILLISECONDS = 210  # bins of 1 ms; those from 50 to 200 ms are used
_RATE = 0.05  # spikes in a millisecond


def _stimuli(seed: int, aperture: bool, folder: Path) -> StimulusSet:
    rng = np.random.default_rng(seed)
    shown = [(kind, family, sample) for kind in _TYPES for family in _FAMILIES for sample in range(1, _SAMPLES + 1)]
    stimulus_ids = [rng.bytes(20).hex() for _ in shown]
    names = [f"{kind}-320x320-im{family}-smp{sample}.png" for kind, family, sample in shown]
    table = {
        "stimulus_id": stimulus_ids,
        "image_file_name": names,
        "image_file_sha1": stimulus_ids,
        "resolution": ["320x320"] * len(shown),
        "texture_type": [kind for kind, _, _ in shown],
        "texture_family": [family for _, family, _ in shown],
        "sample": [sample for _, _, sample in shown],
    }
    if aperture:
        table["image_id_without_aperture"] = [rng.bytes(20).hex() for _ in shown]
    stimuli = StimulusSet(table)
    kinds = [_FAMILIES.index(family) for _, family, _ in shown]
    stimuli.stimulus_paths = write_pictures(folder, stimulus_ids, seed=seed, kinds=kinds)
    return stimuli


def _recordings(seed: int, stimuli: StimulusSet) -> NeuronRecordingAssembly:
    rng = np.random.default_rng(seed)
    regions = [region for region, count in _NEUROIDS.items() for _ in range(count)]
    rate = _RATE * np.exp(expected_responses(stimuli, len(regions), seed=seed) / 2)
    rates = np.concatenate([rate] * _REPETITIONS)[:, :, np.newaxis]
    spikes = rng.poisson(np.broadcast_to(rates, (*rates.shape[:2], _MILLISECONDS))).astype(np.float64)
    # the stimuli are described by the stimulus set, with which they are merged
    return NeuronRecordingAssembly(
        spikes.transpose(1, 2, 0),
        coords={
            "stimulus_id": ("presentation", list(stimuli["stimulus_id"]) * _REPETITIONS),
            "repetition": ("presentation", np.repeat(np.arange(_REPETITIONS), len(stimuli))),
            "neuroid_id": ("neuroid", np.arange(1, len(regions) + 1)),
            "region": ("neuroid", regions),
            "time_bin_start": ("time_bin", np.arange(_MILLISECONDS)),
            "time_bin_end": ("time_bin", np.arange(1, _MILLISECONDS + 1)),
        },
        dims=["neuroid", "time_bin", "presentation"],
    )


STIMULUS_SETS = {
    "FreemanZiemba2013": partial(_stimuli, 21, False),
    "FreemanZiemba2013.public": partial(_stimuli, 22, False),
    "FreemanZiemba2013.private": partial(_stimuli, 23, False),
    "FreemanZiemba2013.aperture": partial(_stimuli, 24, True),
    "FreemanZiemba2013.aperture-public": partial(_stimuli, 25, True),
    "FreemanZiemba2013.aperture-private": partial(_stimuli, 26, True),
}
ASSEMBLIES = {
    "FreemanZiemba2013": ("FreemanZiemba2013.aperture", partial(_recordings, 31)),
    "FreemanZiemba2013.public": ("FreemanZiemba2013.aperture-public", partial(_recordings, 32)),
    "FreemanZiemba2013.private": ("FreemanZiemba2013.aperture-private", partial(_recordings, 33)),
    "FreemanZiemba2013.noaperture": ("FreemanZiemba2013", partial(_recordings, 34)),
    "FreemanZiemba2013.noaperture.public": ("FreemanZiemba2013.public", partial(_recordings, 35)),
    "FreemanZiemba2013.noaperture.private": ("FreemanZiemba2013.private", partial(_recordings, 36)),
}
