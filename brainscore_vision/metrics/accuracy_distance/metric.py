"""Distance of two accuracies, relative to the largest one possible."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, attach_jackknife, clipped
from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import bootstrap_interval, mean_influence
from brainscore_core.numerics.resampling import mean
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.behaviour import (
    Choices,
    attach_remarks,
    choices_of,
    matched_choices,
    right_choices,
)


class AccuracyDistance(Metric):
    """1 − |accuracy of the model − accuracy of a subject| / the largest distance possible, mean over subjects.

    The largest distance is max(a, 1 − a) with the subject's accuracy a. With `variables` the two accuracies are
    compared for each combination of the variables' values, then averaged, so that model and subject must find the same
    conditions hard.

    Notes
    -----
    ``attrs``: ``raw`` (subject, and ``condition`` with `variables`); ``error``, the standard error of the mean over
    subjects, and ``ci`` with subjects as the independent units; ``std``, the standard deviation over subjects, which
    the existing platform publishes as the error; ``predictions`` and ``targets``, whether model and subject were right,
    trial by trial. A missing answer counts as wrong. A combination in which a subject has no trial is NaN and left out.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> people = BehavioralAssembly(
    ...     ["cat", "dog", "dog", "dog"] * 2,
    ...     coords={"stimulus_id": ("presentation", list("abcd") * 2), "subject": ("presentation", [1] * 4 + [2] * 4),
    ...             "truth": ("presentation", ["cat", "cat", "dog", "dog"] * 2)}, dims=["presentation"])
    >>> model = BehavioralAssembly(
    ...     ["cat", "dog", "dog", "cat"], coords={"stimulus_id": ("presentation", list("abcd"))}, dims=["presentation"])
    >>> round(float(AccuracyDistance()(model, people)), 4)
    0.6667
    """

    scale = "similarity"
    compares = "choices"

    def __call__(self, source: DataAssembly, target: DataAssembly, variables: Sequence[str] = ()) -> Score:
        """Compare a model's accuracy with each subject's.

        `source`: the model's choices, one a stimulus, with ``stimulus_id``. Its accuracy is that on the subject's
        trials. `target`: the subjects' choices, one a trial, with ``stimulus_id``, ``truth``, ``subject``. `variables`:
        coordinates of the target; accuracies are compared for each combination of their values. A MetricInputError if
        coordinates or the model's choices for some stimuli are missing; or if no choice of the model, or of the
        subjects, is a label of the target.
        """
        variables = _names(variables)
        trials = choices_of(target, "stimulus_id", "truth", "subject", *variables, role="target")
        stimuli = trials.columns["stimulus_id"]
        chosen = matched_choices(source, stimuli)
        people = right_choices(trials.values, trials.columns["truth"], role="target", stimuli=stimuli)
        model = right_choices(chosen, trials.columns["truth"], others=people.others)
        subject, subjects = trials.codes("subject")
        condition, conditions = _conditions(trials, variables)
        shape = (len(subjects), len(conditions))
        ours, theirs = (_accuracies(answers, subject, condition, shape) for answers in (model.correct, people.correct))
        values = closeness(ours, theirs)
        per_subject = mean(values, axis=1)
        score = Score(per_subject.mean())
        coords: dict[str, Any] = {"subject": ("subject", subjects)}
        raw = Score(per_subject, coords=coords, dims=["subject"])
        if variables:
            for k, name in enumerate(variables):
                coords[name] = ("condition", np.array([combination[k] for combination in conditions]))
            raw = Score(values, coords=coords, dims=["subject", "condition"])
        score.attrs = {
            Score.RAW_VALUES_KEY: raw,
            "scale": self.scale,
            "std": float(per_subject.std()),
            "predictions": _record(model.correct, trials),
            "targets": _record(people.correct, trials),
        }
        attach_remarks(score, model.remark, people.remark)
        attach_influence(score, mean_influence(per_subject), units="subjects", ids=subjects)
        interval = clipped(bootstrap_interval(per_subject, "mean", units="subjects"), 0.0)
        return attach_interval(score, interval, units="subjects for these images", estimates="mean over subjects")

    def ceiling(self, assembly: DataAssembly) -> Score:
        """Compare each pair of subjects, mean over pairs.

        `assembly`: as the target of the metric. Result: a Score with ``meaning`` ``'human-human'``, ``raw`` (subject ×
        subject_other; NaN but for the upper triangle, which compares the row's subject with the column's as the target,
        as published), ``error`` and ``ci`` from the jackknife over subjects, ``std`` over pairs as published. A
        MetricInputError if there are fewer than two subjects.
        """
        trials = choices_of(assembly, "truth", "subject", role="target")
        subject, subjects = trials.codes("subject")
        m = len(subjects)
        if m < 2:
            raise MetricInputError(f"{m} subject: the ceiling needs a second one", remedy="pass all subjects' trials")
        correct = right_choices(trials.values, trials.columns["truth"], role="target").correct
        accuracy = _accuracies(correct, subject, np.zeros_like(subject), (m, 1))[:, 0]
        pairs = np.where(np.triu(np.ones((m, m), dtype=bool), 1), closeness(accuracy[:, None], accuracy), np.nan)
        score = Score(np.nanmean(pairs))
        coords = {"subject": ("subject", subjects), "subject_other": ("subject_other", subjects)}
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(pairs, coords=coords, dims=["subject", "subject_other"]),
            "scale": self.scale,
            "meaning": "human-human",
            "std": float(np.nanstd(pairs)),
        }

        def without_each() -> list[float]:
            return [float(np.nanmean(pairs[np.ix_(rows, rows)])) for rows in (np.delete(range(m), i) for i in range(m))]

        estimates = "mean over pairs of subjects"
        return attach_jackknife(score, without_each, subjects=subjects, low=0.0, estimates=estimates)


def closeness(source: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 − |source − target| / max(target, 1 − target) of two accuracies; NaN where one is."""
    return np.asarray(1 - np.abs(source - target) / np.maximum(target, 1 - target))


def _names(variables: Sequence[str]) -> tuple[str, ...]:
    if isinstance(variables, str):
        raise MetricInputError(
            f"variables is the text {variables!r}", remedy=f"pass a tuple: variables=({variables!r},)"
        )
    return tuple(variables)


def _conditions(trials: Choices, variables: tuple[str, ...]) -> tuple[NDArray[np.intp], list[tuple[Any, ...]]]:
    if not variables:
        return np.zeros(len(trials.values), dtype=np.intp), [()]
    table = pd.DataFrame({name: trials.columns[name] for name in variables})
    codes, combinations = pd.factorize(pd.MultiIndex.from_frame(table), sort=True)
    return np.asarray(codes, dtype=np.intp), list(combinations)


def _accuracies(
    correct: NDArray[np.bool_], subject: NDArray[np.intp], condition: NDArray[np.intp], shape: tuple[int, int]
) -> NDArray[np.float64]:
    cell, size = subject * shape[1] + condition, shape[0] * shape[1]
    asked, right = np.bincount(cell, minlength=size), np.bincount(cell[correct], minlength=size)
    return np.asarray(np.where(asked > 0, right / np.maximum(asked, 1), np.nan).reshape(shape))


def _record(correct: NDArray[np.bool_], trials: Choices) -> DataAssembly:
    coords = {name: ("presentation", trials.columns[name]) for name in ("stimulus_id", "subject")}
    return DataAssembly(correct, coords=coords, dims=["presentation"])
