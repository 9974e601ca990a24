"""Stand-ins of Coggan & Tong 2024: pictures of eight objects behind occluders, and what four subjects took them for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import write_pictures

CLASSES = {  # index among ImageNet's classes, synset, description
    "bear": (294, "n02132136", "brown bear, bruin, Ursus arctos"),
    "bison": (347, "n02410509", "bison"),
    "elephant": (386, "n02504458", "African elephant, Loxodonta africana"),
    "hare": (331, "n02326432", "hare"),
    "jeep": (609, "n03594945", "jeep, landrover"),
    "lamp": (846, "n04380533", "table lamp"),
    "sportsCar": (817, "n04285008", "sports car, sport car"),
    "teapot": (849, "n04398044", "teapot"),
}
_NAMES = list(CLASSES)
_OCCLUDERS = {  # share of the picture that is covered, relative to what is said not to be visible
    "barHorz04": 0.1,
    "barHorz12": 0.2,
    "barVert04": 0.3,
    "barVert12": 0.4,
    "crossBarCardinal": 0.5,
    "crossBarOblique": 0.6,
    "mudSplash": 0.7,
    "polkadot": 0.85,
    "polkasquare": 1.0,
}
_COLOURS = {"black": 0, "white": 255}
_VISIBILITIES = (0.2, 0.6)
_SUBJECTS = 4
_SIZE = 32
_NOTHING = "unoccluded"


def _fitting(folder: Path) -> StimulusSet:
    names = _NAMES * 4
    stimulus_ids = [f"{number:04}_{CLASSES[name][1]}_{number}" for number, name in enumerate(names)]
    paths = [f"train/{CLASSES[name][1]}/{CLASSES[name][1]}_{number}.JPEG" for number, name in enumerate(names)]
    stimuli = StimulusSet({"stimulus_id": stimulus_ids, "image_label": names, "imagenet_path": paths})
    stimuli.stimulus_paths = _objects(folder, stimulus_ids, names)
    return stimuli


def _occluded(folder: Path) -> StimulusSet:
    rng = np.random.default_rng(2024)
    rows: list[dict[str, Any]] = []
    shown = [
        (occluder, colour, visibility) for occluder in _OCCLUDERS for colour in _COLOURS for visibility in _VISIBILITIES
    ]
    shown += [(_NOTHING, _NOTHING, 1.0)] * 2
    for subject in range(_SUBJECTS):
        for trial, number in enumerate(rng.permutation(len(shown))):
            occluder, colour, visibility = shown[number]
            name = _NAMES[len(rows) % len(_NAMES)]  # in order: pictures of a class are alike in both sets
            index, synset, description = CLASSES[name]
            rows.append(
                {
                    "stimulus_id": f"{len(rows):05}_sub-{subject:02}_trial-{trial:03}",
                    "subject": f"sub-{subject:02}",
                    "trial": trial,
                    "object_class": name,
                    "imagenet_class_index_1K": index,
                    "imagenet_class_name": synset,
                    "imagenet_class_description": description,
                    "occluder_type": occluder,
                    "occluder_color": colour,
                    "visibility": visibility,
                    "repetition": 1,
                }
            )
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = _objects(folder, stimuli["stimulus_id"].tolist(), stimuli["object_class"].tolist())
    for row in rows:
        if row["occluder_type"] != _NOTHING:
            share = _covered(row["occluder_type"], row["visibility"])
            _cover(stimuli.get_stimulus(row["stimulus_id"]), share, _COLOURS[row["occluder_color"]], rng)
    return stimuli


def _objects(folder: Path, stimulus_ids: list[str], names: list[str]) -> dict[str, Path]:
    # the same eight objects in both sets: half of their pictures comes from the seed
    return write_pictures(folder, stimulus_ids, seed=2024, size=_SIZE, kinds=[_NAMES.index(name) for name in names])


def _covered(occluder: str, visibility: float) -> float:
    return _OCCLUDERS.get(occluder, 0.0) * (1 - visibility)


def _cover(path: Path, share: float, level: int, rng: np.random.Generator) -> None:
    pixels = np.array(Image.open(path))
    hidden = rng.random((8, 8)) < share
    pixels[np.kron(hidden, np.ones((_SIZE // 8, _SIZE // 8))).astype(bool)] = level
    Image.fromarray(pixels).save(path)


def _answers(stimuli: StimulusSet) -> BehavioralAssembly:
    rng = np.random.default_rng(1)
    truth = stimuli["object_class"].to_numpy(dtype=object)
    covered = np.array([_covered(*pair) for pair in zip(stimuli["occluder_type"], stimuli["visibility"], strict=True)])
    right: NDArray[np.bool_] = rng.random(len(truth)) < 1 - 1.1 * covered
    guess = np.array(_NAMES, dtype=object)[rng.integers(len(_NAMES), size=len(truth))]
    answers = np.where(right, truth, guess)
    return BehavioralAssembly(
        answers,
        coords={
            "stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy(dtype=object)),
            "human_accuracy": ("presentation", (answers == truth).astype(np.int64)),
        },
        dims=["presentation"],
    )


STIMULUS_SETS: dict[str, Callable[[Path], StimulusSet]] = {
    "Coggan2024_behavior": _occluded,
    "Coggan2024_behavior_fitting": _fitting,
}
ASSEMBLIES: dict[str, tuple[str, Callable[[StimulusSet], BehavioralAssembly]]] = {
    "Coggan2024_behavior": ("Coggan2024_behavior", _answers),
}
