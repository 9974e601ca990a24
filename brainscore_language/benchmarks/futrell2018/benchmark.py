"""Absolute correlation of a subject's reading times with the mean of people, over their consistency, as published.

The ten stories are read as one text, the sign of the correlation does not count, and times are very likely listed one
word too early. ``NaturalStories2021-pearsonr`` has none of these.
"""

from __future__ import annotations

import numpy as np

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.metrics import Metric, Score, attach_uncertainty
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_language import load_dataset, load_metric
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers import reading_times
from brainscore_language.data.futrell2018 import BIBTEX
from brainscore_language.utils.ceiling import ceiling_normalize


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
        """Consistency of an assembly, presentation × subject; missing values are skipped in means."""
        random = np.random.RandomState(0)
        names = np.asarray(assembly[self.split_coordinate].values)
        (dim,) = assembly[self.split_coordinate].dims
        uncorrected = []
        for _ in range(self.num_splits):
            half = random.choice(names, size=len(names) // 2, replace=False)
            inside = np.isin(names, half)
            means = [
                assembly.isel({dim: np.flatnonzero(rows)}).mean(dim=dim, skipna=True) for rows in (inside, ~inside)
            ]
            uncorrected.append(float(self.consistency_metric(*means)))
        values = np.array(uncorrected)
        corrected = 2 * values / (1 + values)
        ceiling = Score(float(np.median(corrected)))
        attach_uncertainty(ceiling, reason="halves of the same people; people are not resampled")
        coords = {"split": np.arange(self.num_splits)}
        ceiling.attrs.update(
            raw=Score(corrected, coords=coords, dims=["split"]),
            uncorrected_consistencies=Score(values, coords=coords, dims=["split"]),
            meaning="reliability",
        )
        return ceiling


class Futrell2018Pearsonr(BenchmarkBase):
    """Correlation with the mean time of words that are not the first of a sentence."""

    def __init__(self) -> None:
        self._data: DataAssembly | None = None
        self.metric = load_metric("pearsonr")
        super().__init__(
            identifier="Futrell2018-pearsonr",
            version=1,
            parent="behavior",
            bibtex=BIBTEX,
            ceiling_func=lambda: SplitHalvesConsistency(10, "subject_id", self.metric)(self.data),
        )

    @property
    def data(self) -> DataAssembly:
        """Reading times of all words, word × subject."""
        if self._data is None:
            self._data = load_dataset("Futrell2018")
        return self._data

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read all words, and compare its times with the mean over people."""
        candidate.start_behavioral_task(ArtificialSubject.Task.reading_times)
        words = self.data["word"].values.tolist()
        times = reading_times(candidate, words)
        compared = np.asarray(self.data["word_within_sentence_id"].values) != 1
        people = np.asarray(self.data.mean("subject", skipna=True).values)
        raw = self.metric(times[compared], people[compared])
        return ceiling_normalize(raw, self.ceiling)
