"""Reading times of single people: means, consistency, and a benchmark that compares a subject with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.benchmarks.measurements import Measurements
from brainscore_core.lazy import LazyLoad
from brainscore_core.metrics import Metric, Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import grouping_of
from brainscore_language import load_metric
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers import attach_units, reading_times
from brainscore_language.utils.ceiling import ceiling_normalize


class People:
    """Reading times of people, of whom one, or one story, can be left out.

    Parameters
    ----------
    assembly : DataAssembly
        Word × person, NaN where a word was not read. Stories are the groups of words that it declares; without any,
        words do not vary.
    coord : str
        Coordinate that names people.
    """

    def __init__(self, assembly: DataAssembly, coord: str) -> None:
        (dim,) = assembly[coord].dims
        times = np.asarray(assembly.transpose(..., dim).values, dtype=np.float64)
        self._read = np.isfinite(times).astype(np.float64)
        self._times = np.where(self._read > 0, times, 0.0)
        self.names = np.asarray(assembly[coord].values)
        self._stories = grouping_of(assembly).values

    def means(self, people: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Mean of each word over each of some sets of people (person × set); NaN for words that none of them read."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self._times @ people) / (self._read @ people))

    def left_out(self, value: Callable[[NDArray[np.bool_], NDArray[np.bool_]], float]) -> dict[str, Any]:
        """A value of some words and people, without each story and without each person."""
        words, people = np.ones(len(self._times), dtype=bool), np.ones(len(self.names), dtype=bool)
        without = [value(words, self.names != name) for name in self.names]
        subjects = {"subjects": (self.names, without)}
        if self._stories is None:
            return subjects
        names = np.unique(self._stories)
        return {"stories": (names, [value(self._stories != name, people) for name in names])} | subjects


class SplitHalvesConsistency:
    """Median over random halves of subjects of the consistency of their means, corrected to all subjects.

    Parameters
    ----------
    num_splits : int
        Number of random halves.
    split_coordinate : str
        Coordinate that names subjects.
    consistency_metric : Metric
        (means of one half, means of the other half) → Score.
    """

    def __init__(self, num_splits: int, split_coordinate: str, consistency_metric: Metric) -> None:
        self.num_splits = num_splits
        self.split_coordinate = split_coordinate
        self.consistency_metric = consistency_metric

    def __call__(self, assembly: DataAssembly) -> Score:
        """Consistency of an assembly, presentation × subject; missing values are skipped in means.

        The interval is over new people, and new stories, or other groups that the assembly declares.
        """
        random = np.random.RandomState(0)
        people = People(assembly, self.split_coordinate)
        number = len(people.names)
        draws = [random.choice(people.names, size=number // 2, replace=False) for _ in range(self.num_splits)]
        halves = np.array([np.isin(people.names, half) for half in draws]).T

        def consistencies(words: NDArray[np.bool_], included: NDArray[np.bool_]) -> NDArray[np.float64]:
            sides = (people.means(side & included[:, None])[words].T for side in (halves, ~halves))
            return np.array([float(self.consistency_metric(*pair)) for pair in zip(*sides, strict=True)])

        def corrected_median(words: NDArray[np.bool_], included: NDArray[np.bool_]) -> float:
            return float(np.median(_corrected(consistencies(words, included))))

        values = consistencies(np.ones(len(assembly), dtype=bool), np.ones(number, dtype=bool))
        ceiling = Score(float(np.median(_corrected(values))))
        coords = {"split": np.arange(self.num_splits)}
        ceiling.attrs.update(
            raw=Score(_corrected(values), coords=coords, dims=["split"]),
            uncorrected_consistencies=Score(values, coords=coords, dims=["split"]),
            meaning="reliability",
        )
        estimates = "median over halves of these people, which are kept"
        return attach_units(ceiling, people.left_out(corrected_median), estimates=estimates, correlation=True)


def _corrected(consistencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Consistencies of all people from those of halves (Spearman–Brown)."""
    return np.asarray(2 * consistencies / (1 + consistencies))


class ReadingTimesBenchmark(BenchmarkBase):
    """Correlation of a subject's reading times with the mean over people, relative to their consistency.

    ``attrs['baselines']`` has the raw scores of the length of words and of their position.

    Parameters
    ----------
    identifier, version, parent, bibtex
        As for :class:`~brainscore_core.benchmarks.BenchmarkBase`.
    load_data : callable
        Returns the times, word × person, NaN where a word was not read; called once, when they are first needed.
    subject_coord : str
        Coordinate that names people.
    word_coord : str
        Coordinate of the words, as they are read.
    text_coord : str, optional
        Coordinate of equal values for the words of one text, which are read together; None if all words are one text.
    """

    def __init__(
        self,
        identifier: str,
        *,
        version: int,
        parent: str | None,
        bibtex: str | None,
        load_data: Callable[[], DataAssembly],
        subject_coord: str = "subject",
        word_coord: str = "stimulus",
        text_coord: str | None = None,
    ) -> None:
        self._load_data = load_data
        self._coords = (subject_coord, word_coord, text_coord)
        self.metric = load_metric("pearsonr")
        super().__init__(
            identifier=identifier,
            version=version,
            parent=parent,
            bibtex=bibtex,
            ceiling_func=lambda: SplitHalvesConsistency(10, subject_coord, self.metric)(self.data),
        )

    def measurements(self) -> Measurements:
        """Reading times of people; nothing is loaded yet."""
        return Measurements(
            benchmark=self.identifier,
            measured=LazyLoad(lambda: self.data),
            compares="reading times",
            relate=ceiling_normalize,
        )

    @cached_property
    def data(self) -> DataAssembly:
        """Reading times of all words, word × person."""
        return self._load_data()

    def compared(self) -> NDArray[np.bool_]:
        """Which words are compared: all of them."""
        return np.ones(len(self.data), dtype=bool)

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read all words, and compare its times with the mean over people."""
        subject_coord, word_coord, text_coord = self._coords
        candidate.start_behavioral_task(ArtificialSubject.Task.reading_times)
        words = np.array([str(word) for word in self.data[word_coord].values], dtype=object)
        names = np.zeros(len(words)) if text_coord is None else np.asarray(self.data[text_coord].values)
        times, position = np.empty(len(words)), np.empty(len(words))
        for name in dict.fromkeys(names.tolist()):
            rows = names == name
            times[rows], position[rows] = reading_times(candidate, words[rows].tolist()), np.arange(rows.sum())
        compared = self.compared()
        people = People(self.data, subject_coord)

        def raw_score(words: NDArray[np.bool_], included: NDArray[np.bool_]) -> Score:
            rows = words & compared
            return self.metric(times[rows], people.means(included[:, None])[rows, 0])

        raw = raw_score(compared, np.ones(len(people.names), dtype=bool))
        raw.attrs["scale"] = "correlation"
        left_out = people.left_out(lambda *rest: float(raw_score(*rest)))
        attach_units(raw, left_out, estimates="correlation over words", correlation=True)
        score = ceiling_normalize(raw, self.ceiling)
        mean = people.means(np.ones((len(people.names), 1), dtype=bool))[compared, 0]
        properties = {"length": np.array([len(word) for word in words]), "position": position}
        score.attrs["baselines"] = {
            name: float(self.metric(values[compared], mean)) for name, values in properties.items()
        }
        return score
