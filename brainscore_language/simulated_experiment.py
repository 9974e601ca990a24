"""Simulated experiments: sentences, recordings whose truth is known, and stand-ins of published data.

Responses are a linear map of the vectors of the words that were read, plus noise. The subject that has these vectors
therefore predicts the recordings as well as anything can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_language.utils import s3

Array = NDArray[np.float64]

_WORDS = (
    ("old", "young", "quiet", "clever", "lazy", "tall", "brown", "happy"),
    ("teacher", "doctor", "farmer", "singer", "child", "neighbour", "captain", "painter"),
    ("finds", "paints", "sells", "follows", "hears", "carries", "hides", "visits"),
    ("river", "garden", "letter", "horse", "window", "boat", "basket", "mountain"),
)
"""Adjectives, persons, verbs and things."""
_UNITS = 12


def sentences(number: int, *, topics: int = 1, seed: int = 0) -> list[str]:
    """Sentences of seven words; those of one topic follow each other, and are alike.

    Examples
    --------
    >>> len(sentences(4, topics=2)), len(sentences(1)[0].split())
    (4, 7)
    """
    random = np.random.default_rng(seed)
    texts = []
    for topic in np.arange(number) * topics // number:
        of_topic = np.random.default_rng([seed, int(topic)])
        adjectives, *kinds = ([kind[place] for place in of_topic.permutation(len(kind))[:4]] for kind in _WORDS)
        first, second = (adjectives[random.integers(4)] for _ in range(2))
        person, verb, thing = (kind[random.integers(4)] for kind in kinds)
        texts.append(f"The {first} {person} {verb} the {second} {thing}.")
    return texts


def word_vectors() -> dict[str, Array]:
    """The vectors that simulated responses depend on, by word in lower case."""
    random = np.random.default_rng(2026)
    return {word: random.standard_normal(_UNITS) for kind in (*_WORDS, ("the",)) for word in kind}


def in_context(meanings: Array) -> Array:
    """What a reader of a story has in mind at each sentence: half of its meaning, and the meaning of the one before.

    Examples
    --------
    >>> in_context(np.array([[2.0], [4.0], [6.0]])).ravel().tolist()
    [1.0, 4.0, 7.0]
    """
    return 0.5 * meanings + np.concatenate([np.zeros_like(meanings[:1]), meanings[:-1]])


def simulated_recordings(
    texts: Sequence[str],
    presentation: Mapping[str, Any],
    neuroid: Mapping[str, Any],
    *,
    noise: float = 1.0,
    seed: int = 0,
    context: str | None = None,
) -> NeuroidAssembly:
    """Responses to texts, presentation × neuroid; `noise` is their noise relative to the signal.

    `presentation`, `neuroid`: coordinates besides ``stimulus``. `context`: coordinate of stories that are read
    :func:`in_context`; without it each text is read alone.
    """
    random, vectors = np.random.default_rng(seed), word_vectors()
    number = len(next(iter(neuroid.values())))
    words = [text.lower().strip(".").split() for text in texts]
    meanings = np.stack([np.mean([vectors[word] for word in text], axis=0) for text in words])
    if context is not None:
        for story in np.unique(presentation[context]):
            rows = presentation[context] == story
            meanings[rows] = in_context(meanings[rows])
    signal = meanings @ random.standard_normal((_UNITS, number))
    signal = (signal - signal.mean(axis=0)) / signal.std(axis=0)
    coords: dict[str, Any] = {"stimulus": ("presentation", np.array(texts, dtype=object))}
    coords |= {name: ("presentation", values) for name, values in presentation.items()}
    coords |= {name: ("neuroid", values) for name, values in neuroid.items()}
    values = signal + noise * random.standard_normal(signal.shape)
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def _neuroids(subjects: Sequence[Any], each: int, subject_coord: str, name: str) -> dict[str, Any]:
    """Coordinates of `each` neuroids of each subject."""
    numbers, named = np.tile(np.arange(each), len(subjects)), np.repeat(subjects, each)
    ids = [f"{subject}.{number}" for subject, number in zip(named, numbers, strict=True)]
    return {"neuroid_id": np.array(ids, dtype=object), subject_coord: named, name: numbers}


def _pereira2018(atlas: str) -> NeuroidAssembly:
    """Two experiments of 72 sentences; one subject did the second one only."""
    numbers = np.tile(np.arange(72), 2)
    experiments = np.repeat(["243sentences", "384sentences"], 72)
    ids, passages, topics = (
        np.array([f"{experiment}.{number}" for experiment, number in zip(experiments, numbers // each, strict=True)])
        for each in (1, 3, 6)
    )
    texts = sentences(144, topics=24, seed=1)
    presentation = {
        "stimulus_id": ids,
        "stimulus_num": numbers,
        "sentence": np.array(texts, dtype=object),
        "experiment": experiments,
        "passage_index": numbers // 3,
        "passage_label": passages,
        "passage_category": topics,
        "story": topics,
    }
    neuroid = _neuroids(["018", "199", "288", "289", "296", "343"], 4, "subject", "voxel_num")
    neuroid["atlas"] = np.repeat(atlas, 24)
    data = simulated_recordings(texts, presentation, neuroid, seed=2)
    values = data.values.copy()
    values[np.ix_(experiments == "243sentences", neuroid["subject"] == "343")] = np.nan
    return data.copy(data=values)


def _blank2014() -> NeuroidAssembly:
    """Eight stories of 12 scans."""
    titles = ["Aqua", "Boar", "Elvis", "HighSchool", "KingOfBirds", "MatchstickSeller", "MrSticky", "Tulips"]
    stories, places = np.repeat(titles, 12), np.tile(np.arange(12), 8)
    texts = sentences(96, topics=8, seed=3)
    presentation = {
        "stimulus_id": [f"{story}.{place}.0" for story, place in zip(stories, places, strict=True)],
        "story": stories,
        "sentence_number_in_story": places,
        "part_number_in_sentence": np.zeros(96, dtype=int),
        "stimulus_sentence": np.array(texts, dtype=object),
        "timepoint_value": 2.0 * places,
    }
    neuroid = _neuroids(["061", "085", "088", "090", "098"], 12, "subject_id", "fROI_index")
    return simulated_recordings(texts, presentation, neuroid | {"subject_UID": neuroid["subject_id"]}, seed=4)


def _fedorenko2016() -> NeuroidAssembly:
    """52 sentences of eight words, in capitals."""
    texts = [text.strip(".").split() for text in sentences(52, seed=5)]
    words = [word for text in texts for word in (*text, text[1])]
    capitals, number = np.array([word.upper() for word in words], dtype=object), np.arange(len(words))
    presentation = {"stimulus_id": number, "word": capitals, "word_num": number % 8, "sentence_id": number // 8}
    data = simulated_recordings(words, presentation, _neuroids(range(1, 6), 4, "subject_UID", "electrode"), seed=6)
    return data.assign_coords(stimulus=("presentation", capitals))


def _tuckute2024() -> NeuroidAssembly:
    """200 unrelated sentences, one neuroid."""
    texts = list(dict.fromkeys(sentences(300, topics=300, seed=7)))[:200]
    presentation = {"stimulus_id": np.arange(200), "cond": ["B"] * 200, "cond_approach": ["B_simulated"] * 200}
    neuroid = {"neuroid_id": [1], "subject_UID": ["848-853-865-875-876"], "roi": ["lang_LH_netw"]}
    return simulated_recordings(texts, presentation, neuroid, seed=8)


def _futrell2018() -> NeuroidAssembly:
    """Reading times of 20 people, which are longer for longer words."""
    random = np.random.default_rng(9)
    words = [word for story in range(10) for text in sentences(10, seed=10 + story) for word in text.split()]
    times = 300 + 10 * np.array([len(word) for word in words])[:, None] + 40 * random.standard_normal((len(words), 20))
    times[random.random(times.shape) < 0.1] = np.nan
    number = np.arange(len(words))
    columns = {
        "word": np.array(words, dtype=object),
        "word_core": np.array([word.strip(".") for word in words], dtype=object),
        "story_id": number // 70 + 1,
        "word_id": number % 70 + 1,
        "word_within_sentence_id": number % 7 + 1,
        "sentence_id": number // 7 + 1,
        "stimulus_id": number + 1,
    }
    coords: dict[str, Any] = {name: ("presentation", values) for name, values in columns.items()}
    coords["subject_id"] = ("subject", np.array([f"person{person}" for person in range(20)], dtype=object))
    return NeuroidAssembly(times, coords=coords, dims=["presentation", "subject"])


def _ceiling(level: int) -> Callable[[], Score]:
    """Ceiling of an experiment of Pereira2018 (level 0), its values of neuroids (1), and of subjects, too (2)."""
    dims = [[], ["neuroid"], ["sub_subject", "num_subjects", "split", "neuroid"]][level]
    sizes = {"neuroid": 20, "split": 2}
    return lambda: Score(np.full([sizes.get(dim, 1) for dim in dims], 0.7), dims=dims)


_MAKERS: dict[str, dict[str, Callable[[], Any]]] = {
    "Pereira2018.language": {
        "assy_Pereira2018_language.nc": lambda: _pereira2018("language"),
        **{
            f"{prefix}Pereira2018_{number}sentences-{kind}.nc": _ceiling(level)
            for level, prefix in enumerate(("ceiling_", "ceiling_raw_", "ceiling_raw_raw_"))
            for number in (243, 384)
            for kind in ("ridge", "linear")
        },
    },
    "Pereira2018.auditory": {"assy_Pereira2018_auditory.nc": lambda: _pereira2018("auditory")},
    "Blank2014.fROI": {"assy_Blank2014_fROI.nc": _blank2014},
    "Fedorenko2016.language": {"assy_Fedorenko2016_language.nc": _fedorenko2016},
    "Tuckute2024.language": {"assy_Tuckute2024_language.nc": _tuckute2024},
    "Futrell2018": {"assy_Futrell2018.nc": _futrell2018},
}
"""Data set → its stored files, and functions that make their content."""


def list_stand_ins() -> list[str]:
    """Names of the data sets that have a stand-in."""
    return list(_MAKERS)


def stand_in(identifier: str) -> NeuroidAssembly:
    """A small simulated data set with the dimensions and coordinates of a published one.

    Examples
    --------
    >>> stand_in("Blank2014.fROI").shape
    (96, 60)
    """
    data: NeuroidAssembly = next(iter(_MAKERS[identifier].values()))()
    data.attrs["identifier"] = f"stand-in of {identifier}"
    return data


@contextmanager
def serve_stand_ins(*identifiers: str) -> Iterator[None]:
    """Within the block, stand-ins take the place of stored data, by default of all; receipts say so."""
    makers = {name: make for identifier in identifiers or _MAKERS for name, make in _MAKERS[identifier].items()}
    s3.replacements.update(makers)
    try:
        yield
    finally:
        for name in makers:
            s3.replacements.pop(name, None)
