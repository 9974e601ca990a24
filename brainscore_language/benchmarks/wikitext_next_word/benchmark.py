"""Share of the words of Wikipedia articles that a subject predicts from the text of the article so far.

The published version 1 says that the context is the article so far, but never fills it in, and passes all contexts as
parts of one text, so that each is read after all others. Here an article is one text, whose parts are its words.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.benchmarks.measurements import Measurements
from brainscore_core.errors import UserError
from brainscore_core.lazy import LazyLoad
from brainscore_core.metrics import Score
from brainscore_core.progress import track
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_language import load_dataset, load_metric
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers import attach_units
from brainscore_language.data.wikitext import BIBTEX

_HEADER = re.compile(r"= [^=]+ =")
"""Line with the title of an article; titles of sections have more equals signs."""


class Article(NamedTuple):
    """The words of an article."""

    words: list[str]
    targets: NDArray[np.intp]  # words that are predicted: neither the first nor the last one of a line


class WikitextAccuracy(BenchmarkBase):
    """Share of correctly predicted words; words are separated by white space, punctuation counts."""

    def __init__(self) -> None:
        super().__init__(identifier="Wikitext-accuracy", version=2, parent="engineering", ceiling=None, bibtex=BIBTEX)
        self.metric = load_metric("accuracy")

    @cached_property
    def articles(self) -> list[Article]:
        """Articles with at least one target."""
        articles: list[tuple[list[str], list[int]]] = []
        for line in load_dataset("wikitext-2/test"):
            words = line.split()
            if not articles or _HEADER.fullmatch(line.strip()):
                articles.append(([], []))
            before, targets = articles[-1]
            targets += range(len(before) + 1, len(before) + len(words) - 1)
            before += words
        return [Article(words, np.array(targets)) for words, targets in articles if targets]

    def measurements(self) -> Measurements:
        """The articles; nothing is loaded yet."""

        def stimuli() -> StimulusSet:
            texts = [" ".join(article.words) for article in self.articles]
            return StimulusSet([{"stimulus_id": number, "stimulus": text} for number, text in enumerate(texts)])

        return Measurements(benchmark=self.identifier, measured=LazyLoad(stimuli), compares="next words")

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read all articles, and predict each word from those before."""
        candidate.start_behavioral_task(ArtificialSubject.Task.next_word)
        equal = []
        for article in track(self.articles, "reading", len(self.articles), unit="articles"):
            answers = np.asarray(candidate.digest_text(article.words[:-1])["behavior"])
            if answers.shape != (len(article.words) - 1,):
                raise UserError(
                    f"the subject returned {answers.size} next words for {len(article.words) - 1} parts of a text",
                    "return {'behavior': one word for each part, in their order}",
                )
            predicted = answers[article.targets - 1].astype(str)
            equal.append(np.asarray(self.metric(predicted, np.array(article.words)[article.targets]).attrs["raw"]))
        correct, number = (np.array([function(part) for part in equal], dtype=float) for function in (np.sum, len))
        score = Score(correct.sum() / number.sum())
        score.attrs.update(raw=Score(np.concatenate(equal).astype(float), dims=["word"]), scale="accuracy")
        left_out = (correct.sum() - correct) / np.maximum(number.sum() - number, 1)
        articles = {"articles": (np.arange(len(equal)), left_out)}
        return attach_units(score, articles, estimates="share of predicted words")
