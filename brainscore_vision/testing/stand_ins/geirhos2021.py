"""Pictures of sixteen kinds of objects and people's names for them: the brighter, the later in the alphabet."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

OBJECTS = (
    "airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat",
    "chair", "clock", "dog", "elephant", "keyboard", "knife", "oven", "truck",
)  # fmt: skip
SUBJECTS = 3
_SIZE = 32
_NO_ANSWER = "na"


class _Test(NamedTuple):
    """Code of a test in its images' names, and conditions, the first of which does not enter the score."""

    code: str
    conditions: tuple[str, ...]


TESTS = {
    "colour": _Test("cl", ("cr", "bw")),
    "contrast": _Test("cop", ("c100", "c30", "c10")),
    "cue-conflict": _Test("s5n", ("0",)),
    "edge": _Test("edg", ("0",)),
    "eidolonI": _Test("eid", ("1-10-10", "2-10-10", "8-10-10")),
    "eidolonII": _Test("eid", ("1-3-10", "2-3-10", "8-3-10")),
    "eidolonIII": _Test("eid", ("1-0-10", "2-0-10", "8-0-10")),
    "false-colour": _Test("fc", ("true", "false")),
    "high-pass": _Test("hp", ("inf", "3", "0.7")),
    "low-pass": _Test("lp", ("0", "3", "10")),
    "phase-scrambling": _Test("ps", ("0", "30", "90")),
    "power-equalisation": _Test("pow", ("0", "pow")),
    "rotation": _Test("rot", ("0", "90", "270")),
    "silhouette": _Test("fil", ("0",)),
    "sketch": _Test("ske", ("0",)),
    "stylized": _Test("sty", ("0",)),
    "uniform-noise": _Test("nse", ("0.0", "0.03", "0.35")),
}
_BY_OBJECT_AND_NUMBER = ("edge", "silhouette")
_NAMED = {"true": "False-Colour", "false": "Normal-Image"}


def _stimuli(folder: Path, *, test: str) -> StimulusSet:
    rng = np.random.RandomState([2021, list(TESTS).index(test)])
    rows: list[dict[str, Any]] = []
    paths: dict[str, Path] = {}
    per_object = 1 if len(TESTS[test].conditions) > 1 else 2
    as_read = dict(zip(TESTS[test].conditions, _as_read(TESTS[test].conditions).tolist(), strict=True))
    for condition in TESTS[test].conditions:
        for number in range(1, per_object + 1):
            for rank, name in enumerate(OBJECTS):
                row = _row(test, condition, rank, number, len(rows))
                row["condition"] = _NAMED.get(condition, as_read[condition])
                stimulus = row["stimulus_id"]
                pixels = rng.randint(0, 8, (_SIZE, _SIZE)) + 15 * rank + rng.choice([0, 0, 0, 13])
                paths[stimulus] = folder / f"{stimulus}.png"
                Image.fromarray(pixels.astype(np.uint8)).save(paths[stimulus])
                rows.append({"truth": name, "image_id": stimulus, **row})
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    return stimuli


def _row(test: str, condition: str, rank: int, number: int, position: int) -> dict[str, Any]:
    """Columns of one stimulus, but for truth and condition."""
    name = OBJECTS[rank]
    if test in _BY_OBJECT_AND_NUMBER:
        stimulus = f"{name}{number}"
        return {"stimulus_id": stimulus, "image_category": name, "image_variation": number}
    if test == "cue-conflict":
        texture = OBJECTS[(rank + number) % len(OBJECTS)]
        return {
            "stimulus_id": f"{name}{number}-{texture}{number}",
            "original_image": f"{name}{number}",
            "conflict_image": f"{texture}{number}",
            "category": name,
            "original_image_category": name,
            "original_image_variation": number,
            "conflict_image_category": texture,
            "conflict_image_variation": number,
        }
    stimulus = f"{condition}_{name}_10_n{rank:08d}_{100 + number}"
    return {
        "stimulus_id": stimulus,
        "image_id_long": f"{position + 1:04d}_{TESTS[test].code}_dnn_{stimulus}",
        "image_number": position + 1,
        "experiment_code": TESTS[test].code,
        "category_ground_truth": name,
        "random_number": 10,
        "wordnet_a": f"n{rank:08d}",
        "wordnet_b": 100 + number,
    }


def _answers(stimuli: StimulusSet, *, test: str) -> BehavioralAssembly:
    rng = np.random.RandomState([2021, list(TESTS).index(test), 1])
    n = len(stimuli)
    truth = stimuli["truth"].to_numpy().astype(str)
    brightness = np.array(
        [np.asarray(Image.open(stimuli.get_stimulus(name))).mean() for name in stimuli["stimulus_id"]]
    )
    # people err together: some pictures are harder, and the brightness of a picture misleads
    misled = brightness - 15 * np.array([OBJECTS.index(name) for name in truth]) > 8
    chance = np.where(misled, 0.35, 0.85)
    right = rng.random_sample((SUBJECTS, n)) < chance
    wrong = np.roll(OBJECTS, -1)[[OBJECTS.index(name) for name in truth]]
    answers = np.where(right, truth, wrong)
    answers[rng.random_sample((SUBJECTS, n)) < 0.02] = _NO_ANSWER
    answers = answers.ravel()
    people = [f"subject-{number:02d}" for number in range(1, SUBJECTS + 1)]
    (code, conditions), names = TESTS[test], stimuli["stimulus_id"].to_numpy().astype(str)
    long_names = [
        f"{i + 1:04d}_{code}_s{s:02d}_{name}.png" for s in range(1, SUBJECTS + 1) for i, name in enumerate(names)
    ]
    times = np.where(answers == _NO_ANSWER, np.nan, rng.uniform(0.4, 1.4, len(answers)))
    coords: dict[str, Any] = {
        "image_id": np.tile(names, SUBJECTS),
        "stimulus_id": np.tile(names, SUBJECTS),
        "image_id_long": np.array(long_names),
        "truth": np.tile(truth, SUBJECTS),
        "choice": answers,
        "category": np.tile(truth, SUBJECTS),
        "condition": np.tile(np.repeat(_as_read(conditions), n // len(conditions)), SUBJECTS),
        "response_time": times,
        "trial": np.tile(np.arange(1, n + 1), SUBJECTS),
        "subject": np.repeat(people, n),
        "session": np.ones(len(answers), dtype=int),
    }
    if test == "false-colour":  # the published assembly has it from its stimulus set only
        del coords["condition"]
    return BehavioralAssembly(
        answers, coords={name: ("presentation", values) for name, values in coords.items()}, dims=["presentation"]
    )


def _as_read(conditions: tuple[str, ...]) -> np.ndarray:
    """Conditions as a table has them: numbers where all are."""
    try:
        numbers = np.array(conditions, dtype=float)
    except ValueError:
        return np.array(conditions)
    return numbers.astype(int) if np.isfinite(numbers).all() and (numbers % 1 == 0).all() else numbers


STIMULUS_SETS: dict[str, Callable[[Path], StimulusSet]] = {
    f"Geirhos2021_{test}": partial(_stimuli, test=test) for test in TESTS
}
ASSEMBLIES: dict[str, tuple[str, Callable[[StimulusSet], BehavioralAssembly]]] = {
    f"Geirhos2021_{test}": (f"Geirhos2021_{test}", partial(_answers, test=test)) for test in TESTS
}
