"""Subjects as the unit: how well one subject predicts another, and how a model's score differs between subjects."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.metrics import Score, Uncertainty, attach_uncertainty
from brainscore_core.numerics import jackknife_interval
from brainscore_core.questions.answers import ask
from brainscore_core.questions.asked import Asked, apply_question
from brainscore_core.questions.question import Question

if TYPE_CHECKING:
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

FEWEST = 3
"""Number of subjects from which one subject's prediction of another says something about subjects."""


@dataclass(frozen=True)
class Between:
    """Difference of one model's raw scores for two subjects, first minus second.

    The limits treat the stimuli of both as independent draws. Since subjects saw the same ones, the limits are too wide
    rather than too narrow.
    """

    model: str
    first: str
    second: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Subjects:
    """Raw scores with subjects as the unit.

    - `subjects`: names.
    - `pairs` (subjects × subjects): score of predicting the subject of a column from the recordings of the subject of a
      row; NaN on the diagonal.
    - `typical`: their mean: how well a typical subject predicts another, a ceiling for models. Its interval is over new
      subjects (a jackknife over subjects, t with one degree of freedom less than subjects), the stimuli fixed.
    - `models`: model → subject → raw score, with its interval over stimuli and neuroids.
    - `differences`: for each model and pair of subjects.
    """

    subjects: tuple[str, ...]
    pairs: NDArray[np.float64]
    typical: Score
    models: Mapping[str, Mapping[str, Score]]
    differences: tuple[Between, ...]


def compare_subjects(
    question: str | Question, *, results: ResultsStore | str | os.PathLike[str] | None = None, models: bool = True
) -> Subjects:
    """Predict subjects from each other, and ask for each subject how models score.

    - `question`: benchmark, or question about it; scores are not related to a ceiling.
    - `results`: store of the scores of models.
    - `models`: whether models are asked for.

    Raises UserError if there are fewer than three subjects.
    """
    asked_of = Question(benchmark=question) if isinstance(question, str) else question
    asked_of = replace(asked_of, ceiling="none")
    asked = apply_question(asked_of)
    names = _subjects(asked)
    pairs = predictions_of_pairs(asked.targets[0], asked.metric, names)
    scores: dict[str, dict[str, Score]] = {}
    if models:
        for name in names:
            only = f"subject == {name!r}"
            neuroids = only if asked_of.neuroids is None else f"({asked_of.neuroids}) and {only}"
            for item in ask(replace(asked_of, neuroids=neuroids), results=results).items:
                scores.setdefault(item.model, {})[name] = item.score.attrs.get("raw", item.score)
    differences = [
        difference_between(model, first, second, by_subject)
        for model, by_subject in scores.items()
        for first, second in combinations([name for name in names if name in by_subject], 2)
    ]
    return Subjects(tuple(names), pairs, mean_of_pairs(pairs), scores, tuple(differences))


def mean_of_pairs(pairs: NDArray[np.float64]) -> Score:
    """Mean over ordered pairs of subjects, with an interval over new subjects.

    Examples
    --------
    >>> mean = mean_of_pairs(np.array([[np.nan, 0.5, 0.4], [0.6, np.nan, 0.5], [0.5, 0.5, np.nan]]))
    >>> float(mean), [round(limit, 2) for limit in mean.attrs["ci"]]
    (0.5, [0.25, 0.75])
    """
    n = len(pairs)
    value = float(np.nanmean(pairs))
    others = [np.delete(np.delete(pairs, i, axis=0), i, axis=1) for i in range(n)]
    interval = jackknife_interval(value, [np.nanmean(each) for each in others], units="subjects")
    return attach_uncertainty(
        Score(value),
        error=interval.error,
        ci=(interval.low, interval.high),
        estimates=f"new subjects; {n} subjects, stimuli are fixed",
        method=f"jackknife over subjects, t with {n - 1} degrees of freedom",
        reason=interval.reason,
    )


def _subjects(asked: Asked) -> list[str]:
    target = asked.targets[0]
    if len(asked.targets) > 1:
        raise UserError("stimuli to fit and to test on are fixed", remedy="ask a benchmark with one set of stimuli")
    names = [] if "subject" not in target.coords else sorted(set(map(str, target["subject"].values.ravel())))
    if len(names) < FEWEST:
        raise UserError(
            f"the recordings are of {len(names)} subjects: at least {FEWEST} are needed to compare subjects",
            remedy="ask for each subject: --subject NAME" if names else "add the coordinate 'subject' of neuroids",
        )
    return names


def predictions_of_pairs(
    target: DataAssembly, metric: Callable[[DataAssembly, DataAssembly], Any], names: Sequence[str]
) -> NDArray[np.float64]:
    """Score of each subject's prediction of each other one; rows predict, columns are predicted."""
    of_neuroid = target["subject"].values.astype(str)
    parts = {name: target.isel(neuroid=np.flatnonzero(of_neuroid == name)) for name in names}
    compare = getattr(metric, "value", metric)  # some metrics compute scores alone, without their intervals
    pairs = np.full((len(names), len(names)), np.nan)
    for first, second in permutations(range(len(names)), 2):
        pairs[first, second] = float(compare(parts[names[first]], parts[names[second]]))
    return pairs


def difference_between(model: str, first: str, second: str, scores: Mapping[str, Score]) -> Between:
    """Difference of a model's scores for two subjects."""
    values = [float(scores[name]) for name in (first, second)]
    errors = [Uncertainty.of(scores[name]).error for name in (first, second)]
    width = 1.96 * float(np.sqrt(sum(np.nan if error is None else float(error) ** 2 for error in errors)))
    difference = values[0] - values[1]
    return Between(model, first, second, difference, difference - width, difference + width)
