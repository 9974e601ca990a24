"""Stand-ins of Bracci et al. 2019: nine lookalikes, animals and objects each, voxels of six subjects."""

from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import expected_responses, write_pictures

_LABELS = ("lookalike", "animal", "object")
_GROUPS = 9
_SUBJECTS = 6
_VOXELS = (15, 20, 25)  # of each region: V1, posterior and anterior ventral temporal cortex


def _stimuli(folder: Path) -> StimulusSet:
    numbers = range(1, len(_LABELS) * _GROUPS + 1)
    labels = [_LABELS[(number - 1) // _GROUPS] for number in numbers]
    groups = [(number - 1) % _GROUPS + 1 for number in numbers]
    stimulus_ids = [f"stim_{number}" for number in numbers]
    described = zip(numbers, groups, labels, strict=True)
    stimuli = StimulusSet(
        {
            "stimulus_id": stimulus_ids,
            "stimulus_name": [f"{number:02d}_{group:02d}_{label}" for number, group, label in described],
            "exemplar_number": list(numbers),
            "image_label": labels,
            "image_group": groups,
        }
    )
    stimuli.stimulus_paths = write_pictures(folder, stimulus_ids, seed=51, kinds=groups)
    return stimuli


def _responses(stimuli: StimulusSet) -> NeuroidAssembly:
    rng = np.random.default_rng(52)
    total = sum(_VOXELS)
    signal = expected_responses(stimuli, total, seed=53)
    rois = [roi for roi, count in enumerate(_VOXELS) for _ in range(count)]
    values = [signal + rng.standard_normal(signal.shape) + rng.uniform(1, 3, total) for _ in range(_SUBJECTS)]
    described = {name: ("presentation", stimuli[name].to_numpy()) for name in stimuli.columns if name != "filename"}
    return NeuroidAssembly(
        np.concatenate(values, axis=1),
        coords={
            **described,
            "roi": ("neuroid", rois * _SUBJECTS),
            "subject": ("neuroid", np.repeat(np.arange(_SUBJECTS), total)),
            "voxels": ("neuroid", list(range(total)) * _SUBJECTS),
        },
        dims=["presentation", "neuroid"],
    )


STIMULUS_SETS = {"Bracci2019": _stimuli}
ASSEMBLIES = {"Bracci2019": ("Bracci2019", _responses)}
