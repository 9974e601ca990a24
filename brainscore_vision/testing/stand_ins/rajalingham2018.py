"""Stand-ins of Rajalingham et al. 2018: pictures of six objects, and trials in which two were on offer."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import picture_features, write_pictures

_OBJECTS = np.array(["MB30203", "build51", "calc01", "dromedary", "weimaraner", "zebra"])
_WORKERS = 5
_EASE = 1.2  # of choices; and how much easier they are for images that are closer to their object than others of it


def _stimuli(of_each: int, seed: int, folder: Path) -> StimulusSet:
    rng = np.random.default_rng(seed)
    kinds = np.tile(np.arange(len(_OBJECTS)), of_each)
    stimulus_ids = [rng.bytes(20).hex() for _ in kinds]
    objects = _OBJECTS[kinds]
    stimuli = StimulusSet({"stimulus_id": stimulus_ids, "image_sample_obj": objects, "image_label": objects})
    # the same objects in both sets: half of their pictures comes from the seed
    drawn = write_pictures(folder, stimulus_ids, seed=2018, size=32, kinds=[int(kind) for kind in kinds])
    stimuli.stimulus_paths = drawn
    return stimuli


def _trials(each: int, seed: int, stimuli: StimulusSet) -> BehavioralAssembly:
    """Every image with every distractor, `each` times; the better an image fits its object, the more are right."""
    rng = np.random.default_rng(seed)
    kinds = np.searchsorted(_OBJECTS, stimuli["image_label"].to_numpy(dtype=str))
    features = picture_features(stimuli)
    typical = np.stack([features[kinds == kind].mean(axis=0) for kind in range(len(_OBJECTS))])
    distance = np.linalg.norm(features[:, np.newaxis] - typical, axis=2)
    closer = distance - distance[np.arange(len(kinds)), kinds][:, np.newaxis]
    closer -= np.stack([closer[kinds == kind].mean(axis=0) for kind in range(len(_OBJECTS))])[kinds]
    closer /= closer[kinds[:, np.newaxis] != np.arange(len(_OBJECTS))].std()
    image, other = np.nonzero(kinds[:, np.newaxis] != np.arange(len(_OBJECTS)))
    image, other = (rng.permutation(np.repeat([image, other], each, axis=1).T)).T
    right = rng.random(len(image)) < 1 / (1 + np.exp(-_EASE * (1 + closer[image, other])))
    shown, distractor = _OBJECTS[kinds[image]], _OBJECTS[other]
    choice = np.where(right, shown, distractor).astype(object)
    coords = {
        "stimulus_id": stimuli["stimulus_id"].to_numpy(dtype=object)[image],
        "sample_obj": shown.astype(object),
        "dist_obj": distractor.astype(object),
        "choice": choice,
        "truth": shown.astype(object),
        "worker_id": np.array([f"worker{number}" for number in rng.integers(0, _WORKERS, len(image))], dtype=object),
        "enough_human_data": np.full(len(image), each > 10),
        "published_order": np.arange(len(image)),  # the published file lacks it; the data plugin adds it
    }
    return BehavioralAssembly(
        choice, coords={name: ("presentation", values) for name, values in coords.items()}, dims=["presentation"]
    )


STIMULUS_SETS: dict[str, Callable[[Path], StimulusSet]] = {
    "objectome.public": partial(_stimuli, 7, 1),
    "objectome.private": partial(_stimuli, 4, 2),
}
ASSEMBLIES: dict[str, tuple[str, Callable[[StimulusSet], BehavioralAssembly]]] = {
    "Rajalingham2018.public": ("objectome.public", partial(_trials, 4, 3)),
    "Rajalingham2018.private": ("objectome.private", partial(_trials, 24, 4)),
}
