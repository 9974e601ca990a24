"""Absolute correlation of a subject's reading times with the mean of people, over their consistency, as published.

The ten stories are read as one text, the sign of the correlation does not count, and times are very likely listed one
word too early. ``NaturalStories2021-pearsonr`` has none of these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from brainscore_language import load_dataset
from brainscore_language.benchmark_helpers.people import People, ReadingTimesBenchmark, SplitHalvesConsistency
from brainscore_language.data.futrell2018 import BIBTEX

__all__ = ["Futrell2018Pearsonr", "People", "SplitHalvesConsistency"]


class Futrell2018Pearsonr(ReadingTimesBenchmark):
    """Correlation with the mean time of words that are not the first of a sentence."""

    def __init__(self) -> None:
        super().__init__(
            "Futrell2018-pearsonr",
            version=1,
            parent="behavior",
            bibtex=BIBTEX,
            load_data=lambda: load_dataset("Futrell2018"),
            subject_coord="subject_id",
            word_coord="word",
        )

    def compared(self) -> NDArray[np.bool_]:
        """Words that are not the first of a sentence."""
        return np.asarray(self.data["word_within_sentence_id"].values != 1)
