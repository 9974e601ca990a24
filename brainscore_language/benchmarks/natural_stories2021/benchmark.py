"""Benchmarks of reading times of the Natural Stories corpus.

A subject reads one story at a time, word by word, and its reading times (in any unit, such as bits of surprisal) are
compared with the mean times of people. The first words of sentences are left out. Words of a story are not independent:
intervals are over stories.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
import pandas as pd

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.benchmarks.measurements import Measurements
from brainscore_core.errors import UserError
from brainscore_core.lazy import LazyLoad
from brainscore_core.metrics import Score
from brainscore_core.progress import track
from brainscore_language import load_dataset
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers import attach_units, reading_times
from brainscore_language.data.natural_stories2021 import BIBTEX

PREDICTORS = ("length", "log_frequency")
_MISSING = 0.05
"""Share of words without a time above which a subject has no score."""
_LAGS = (0, 1, 2)
"""A word itself, and the two words before, on which reading times depend, too."""


def reliability(times: pd.DataFrame) -> float:
    """Share of the variance of mean times that is not noise, from number, mean and SD of the readings of each word.

    1 − 1/F of a one-way analysis of variance over words. The constant speed of a reader counts as noise, so this is a
    lower bound.

    Parameters
    ----------
    times : pandas.DataFrame
        ``rt``, ``sd`` and ``n`` of each word.
    """
    grand = (times.n * times.rt).sum() / times.n.sum()
    between = (times.n * (times.rt - grand) ** 2).sum() / (len(times) - 1)
    within = ((times.n - 1) * times.sd**2).sum() / (times.n.sum() - len(times))
    return float(1 - within / between)


class _NaturalStories(BenchmarkBase):
    def __init__(self, metric: str, *, listed: bool) -> None:
        self._data = "NaturalStories2021" + (".listed" if listed else "")
        super().__init__(
            identifier=f"{self._data}-{metric}",
            ceiling_func=self._estimate_ceiling,
            version=1,
            parent=None if listed else "behavior",
            bibtex=BIBTEX,
        )

    def measurements(self) -> Measurements:
        """Mean reading times of the words; nothing is loaded yet."""
        measured = LazyLoad(lambda: load_dataset(self._data))
        return Measurements(benchmark=self.identifier, measured=measured, compares="reading times")

    @cached_property
    def _words(self) -> pd.DataFrame:
        assembly = load_dataset(self._data)
        names = ["word", "story_id", "word_id", "word_within_sentence_id", *PREDICTORS, "readings", "sd"]
        table = pd.DataFrame({name: assembly[name].values for name in names} | {"rt": assembly.values})
        return table.rename(columns={"readings": "n", "story_id": "story"})

    def _compared(self, table: pd.DataFrame) -> pd.DataFrame:
        """Words with a time that are not the first of a sentence."""
        return table[table.rt.notna() & (table.word_within_sentence_id != 1)]

    def _with_lags(self, table: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
        """The compared words, with values of the words before, where all are known."""
        lagged = {f"{name}{lag}": table.groupby("story")[name].shift(lag) for name in names for lag in _LAGS}
        return self._compared(table.assign(**lagged)).dropna(subset=list(lagged))

    def _estimate_ceiling(self) -> Score:
        table = self._compared(self._words)
        return _over_stories(table, reliability, "reliability of mean reading times", meaning="reliability")

    def __call__(self, candidate: ArtificialSubject) -> Score:
        """Let a subject read the stories, and compare its times."""
        candidate.start_behavioral_task(ArtificialSubject.Task.reading_times)
        table = self._words
        stories = [story.word.tolist() for _, story in table.groupby("story", sort=False)]
        answers = [reading_times(candidate, words) for words in track(stories, "reading", len(stories), unit="stories")]
        table = table.assign(answer=np.concatenate(answers))
        infinite, missing = int(np.isinf(table.answer).sum()), int(table.answer.isna().sum())
        if infinite or missing > _MISSING * len(table):
            raise UserError(
                f"of {len(table):,} reading times of the subject, {infinite:,} are infinite and {missing:,} missing",
                f"return finite times; at most {_MISSING:.0%} of them may be missing",
            )
        return self._score(table)

    @abstractmethod
    def _score(self, table: pd.DataFrame) -> Score:
        """Score of answers, one a word."""


class NaturalStories2021Pearsonr(_NaturalStories):
    """Correlation of a subject's times with those of people, r·|r| over their reliability.

    A negative correlation gives a negative score. ``attrs['baselines']`` has the scores of length, log frequency and
    position in the story of the same words, and of a prediction of each story from length and log frequency of a word
    and of the two before, fitted to the other stories.

    Parameters
    ----------
    listed : bool
        Whether times are compared with the words at which the published table lists them, one word too early.
    """

    def __init__(self, *, listed: bool = False) -> None:
        super().__init__("pearsonr", listed=listed)

    def _score(self, table: pd.DataFrame) -> Score:
        with_lags = self._with_lags(table, PREDICTORS)
        with_lags = with_lags.assign(properties=_predicted(with_lags, PREDICTORS))
        table = self._compared(table)

        def value(words: pd.DataFrame, name: str = "answer", sign: float = 1) -> float:
            r = sign * _correlation(words, name)
            return r * abs(r) / reliability(words)

        score = _over_stories(table, value, "fraction of explainable variance", scale="ceiled")
        score.attrs["raw"] = _over_stories(table, _correlation, "correlation over words", scale="correlation")
        score.attrs["ceiling"] = self.ceiling
        r = _correlation(with_lags, "properties")
        score.attrs["baselines"] = {
            "length": value(table, "length"),
            "log_frequency": value(table, "log_frequency", -1),
            "position": value(table, "word_id", -1),
            "length and frequency of three words": r * abs(r) / reliability(with_lags),
        }
        return score


class NaturalStories2021Added(_NaturalStories):
    """Share of the explainable variance of reading times that a subject adds to length and frequency.

    Times are predicted by least squares from length and log frequency of a word and of the two words before, without
    and with the subject's times of these words; each story is predicted from the others. The score is the reduction of
    the squared error, relative to the variance of the times and their reliability. ``attrs['baselines']`` has the
    correlations of predicted with measured times without and with the subject.
    """

    def __init__(self) -> None:
        super().__init__("added", listed=False)

    def _score(self, table: pd.DataFrame) -> Score:
        table = self._with_lags(table, (*PREDICTORS, "answer"))
        score = _over_stories(table, _added, "fraction of explainable variance added", scale="ceiled")
        score.attrs["raw"] = _over_stories(table, _explained, "share of variance added", scale="variance")
        score.attrs["ceiling"] = self.ceiling
        score.attrs["baselines"] = {
            kind: float(np.corrcoef(_predicted(table, names), table.rt)[0, 1])
            for kind, names in (("length and frequency", PREDICTORS), ("and the subject", (*PREDICTORS, "answer")))
        }
        return score


def _correlation(words: pd.DataFrame, name: str = "answer") -> float:
    """Pearson correlation of a column with reading times, over words that have both."""
    words = words[words[name].notna()]
    return float(np.corrcoef(words[name], words.rt)[0, 1])


def _predicted(words: pd.DataFrame, names: tuple[str, ...]) -> np.ndarray:
    """Times of each story, predicted from the other stories."""
    features = np.column_stack([np.ones(len(words)), words[[f"{name}{lag}" for name in names for lag in _LAGS]]])
    times, stories = words.rt.to_numpy(), words.story.to_numpy()
    predicted = np.empty(len(words))
    for story in np.unique(stories):
        test = stories == story
        predicted[test] = features[test] @ np.linalg.lstsq(features[~test], times[~test], rcond=None)[0]
    return predicted


def _explained(words: pd.DataFrame) -> float:
    errors = [((words.rt - _predicted(words, names)) ** 2).sum() for names in (PREDICTORS, (*PREDICTORS, "answer"))]
    return float((errors[0] - errors[1]) / ((words.rt - words.rt.mean()) ** 2).sum())


def _added(words: pd.DataFrame) -> float:
    return _explained(words) / reliability(words)


def _over_stories(table: pd.DataFrame, statistic, estimates: str, **attrs: str) -> Score:
    """A statistic with its jackknife interval over stories."""
    stories = table.story.unique()
    value = statistic(table)
    left_out = [statistic(table[table.story != story]) for story in stories]
    score = Score(value, attrs=attrs)
    return attach_units(score, {"stories": (stories, left_out)}, estimates=estimates, fixed=" for these readers")
