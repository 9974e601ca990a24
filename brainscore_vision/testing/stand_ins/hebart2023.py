"""Stand-ins of Hebart et al. 2023: pictures of 24 objects, and which of three is the odd one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import picture_features, write_pictures

_IMAGES, _KINDS, _TRIPLETS = 24, 6, 600


def _stimuli(folder: Path) -> StimulusSet:
    rng = np.random.default_rng(2023)
    stimulus_ids = [str(number) for number in range(_IMAGES)]
    kinds = [number % _KINDS for number in range(_IMAGES)]
    concepts = [f"concept_{number:02}" for number in range(_IMAGES)]
    table: dict[str, object] = {
        "unique_id": concepts,
        "stimulus_id": stimulus_ids,
        "WordNet_ID": [f"concept.n.{number:02}" for number in range(_IMAGES)],
        "WordNet_synonyms": concepts,
        "bottom_up": [f"kind_{kind}" for kind in kinds],
        "top_down_1": [f"kind_{kind}" for kind in kinds],
        "top_down_2": [f"kind_{kind}" for kind in kinds],
        "dominant_part": ["Noun"] * _IMAGES,
        "example_image": [f"{name}.jpg" for name in concepts],
        "rank": np.arange(_IMAGES) + 1,
    }
    table |= {name: ["" for _ in range(_IMAGES)] for name in ("Wordnet_ID2", "Wordnet_ID3", "Wordnet_ID4")}
    numbers = ("freq_1", "freq_2", "word_freq", "word_freq_online", "dispersion")
    table |= {name: np.round(rng.uniform(0, 10, _IMAGES), 3) for name in numbers}
    stimuli = StimulusSet(table)
    stimuli.stimulus_paths = write_pictures(folder, stimulus_ids, seed=2023, kinds=kinds)
    return stimuli


def _choices(stimuli: StimulusSet) -> BehavioralAssembly:
    """The image that is not in the most similar pair, similarities being noisy; it comes last."""
    rng = np.random.default_rng(1)
    triplets = np.stack([rng.permutation(_IMAGES)[:3] for _ in range(_TRIPLETS)])
    features = picture_features(stimuli)
    alike = features @ features.T / features.shape[1]
    first, second, third = triplets.T
    pairs = np.stack([alike[second, third], alike[first, third], alike[first, second]], axis=1)
    odd = (pairs + 0.3 * rng.standard_normal(pairs.shape)).argmax(axis=1)
    rest = np.stack([np.delete(triplet, place) for triplet, place in zip(triplets, odd, strict=True)])
    chosen = triplets[np.arange(_TRIPLETS), odd]
    coords: dict[str, np.ndarray] = {
        # numbers, though the stimulus set's ids are text, here and below
        "stimulus_id": chosen,
        "triplet_id": np.array([f"triplet_{number}" for number in range(_TRIPLETS)], dtype=object),
        "image_1": rest[:, 0],
        "image_2": rest[:, 1],
        "image_3": chosen,
    }
    return BehavioralAssembly(
        chosen, coords={name: ("presentation", values) for name, values in coords.items()}, dims=["presentation"]
    )


STIMULUS_SETS: dict[str, Callable[[Path], StimulusSet]] = {"Hebart2023": _stimuli}
ASSEMBLIES: dict[str, tuple[str, Callable[[StimulusSet], BehavioralAssembly]]] = {
    "Hebart2023": ("Hebart2023", _choices)
}
