"""Stand-ins of Coggan & Tong 2024: eight objects in three states of occlusion, similarities of nine subjects."""  # noqa: N999 -- named as its plugin

import warnings
from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import expected_responses, write_pictures
from brainscore_vision.testing.stand_ins.coggan2024_behavior import CLASSES

_OCCLUSIONS = ("complete", "lower", "upper")
_REGIONS = ("V1", "V2", "V4", "IT")
_SUBJECTS = 9
_VOXELS = 30


def _stimuli(folder: Path) -> StimulusSet:
    shown = [(name, occlusion) for name in CLASSES for occlusion in _OCCLUSIONS]
    stimulus_ids = [f"{name}_{occlusion}" for name, occlusion in shown]
    stimuli = StimulusSet(
        {
            "stimulus_id": stimulus_ids,
            "object_name": [name for name, _ in shown],
            "occlusion_condition": [occlusion for _, occlusion in shown],
            "imagenet_class_index_1K": [CLASSES[name][0] for name, _ in shown],
            "imagenet_class_name": [CLASSES[name][1] for name, _ in shown],
            "imagenet_class_description": [CLASSES[name][2] for name, _ in shown],
            "imagenet_path": [f"val/{CLASSES[name][1]}/simulated.jpg" for name, _ in shown],
        }
    )
    kinds = [list(CLASSES).index(name) for name, _ in shown]
    stimuli.stimulus_paths = write_pictures(folder, stimulus_ids, seed=41, kinds=kinds)
    return stimuli


def _similarities(stimuli: StimulusSet) -> NeuroidAssembly:
    rng = np.random.default_rng(42)
    matrices, regions, subjects = [], [], []
    for number, region in enumerate(_REGIONS):
        signal = expected_responses(stimuli, _VOXELS, seed=43 + number)
        for subject in range(_SUBJECTS):
            matrices.append(np.corrcoef(signal + rng.standard_normal(signal.shape)))
            regions.append(region)
            subjects.append(f"F{subject + 1:03d}")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate dimension names", UserWarning)
        return NeuroidAssembly(
            np.stack(matrices, axis=2),
            coords={
                "stimulus_id": ("presentation", list(stimuli["stimulus_id"])),
                "object_name": ("presentation", list(stimuli["object_name"])),
                "occlusion_condition": ("presentation", list(stimuli["occlusion_condition"])),
                "subject": ("neuroid", subjects),
                "region": ("neuroid", regions),
            },
            dims=["presentation", "presentation", "neuroid"],
        )


STIMULUS_SETS = {"Coggan2024_fMRI": _stimuli}
ASSEMBLIES = {"Coggan2024_fMRI": ("Coggan2024_fMRI", _similarities)}
