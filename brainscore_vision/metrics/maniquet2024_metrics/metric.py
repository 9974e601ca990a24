"""Patterns of confusions and of accuracies (Maniquet 2024)."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, require_same
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, attach_jackknife, clipped
from brainscore_core.metrics import Metric, Score, declare_no_error
from brainscore_core.numerics import influence_interval, jackknife_influence, pearson
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.behaviour import attach_remarks, right_choices

_Float = NDArray[np.float64]
_Pattern = Callable[[_Float], _Float]

_FLAT = "one side's pattern does not vary, so a correlation is 0/0"


class _Answers(NamedTuple):
    chosen: NDArray[Any]
    truth: NDArray[Any]
    correct: NDArray[np.bool_]
    assembly: DataAssembly
    role: str
    remark: str


class ConfusionSimilarity(Metric):
    """Pearson correlation of the confusions of a model and of people [1]_.

    How often each category was taken for each other one, counted over all trials; the diagonal (right answers) is left
    out.

    `label_coord`: coordinate of both sides with the right category.

    Notes
    -----
    Categories are compared, not images: model and people need not have seen the same ones, but the same categories.
    Counts are not divided by the number of trials of a category, as published; show each category equally often.
    ``attrs``: ``raw``, the correlation with each subject alone (subject), where the target has ``subject`` or
    ``subject_id``; ``error`` and ``ci`` with subjects as the independent units, left out one by one (jackknife) while
    the model is kept (NaN with a reason without subjects; the existing platform has no error); ``predictions`` and
    ``targets``, the counts (truth × choice).

    References
    ----------
    .. [1] Maniquet, Op de Beeck & Costantino (2024). bioRxiv. https://doi.org/10.1101/2024.04.02.587669

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> def answers(choices):
    ...     return BehavioralAssembly(
    ...         list(choices), coords={"image_label": ("presentation", list("aaabbbccc"))}, dims=["presentation"])
    >>> round(float(ConfusionSimilarity()(answers("abbbbcccc"), answers("aabbbcccc"))), 4)
    0.9258
    """

    scale = "correlation"
    compares = "choices"

    def __init__(self, *, label_coord: str = "image_label") -> None:
        self._label_coord = label_coord

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare a model's confusions with people's.

        `source`: presentation or presentation × choice; the model's choices, or its probabilities, of which the largest
        is the choice. `target`: people's choices: the coordinate ``prediction`` where there is one, otherwise the
        values. Result: a Score in [−1, 1]; NaN with a reason where one side never errs or spreads its errors evenly. A
        MetricInputError if a coordinate is missing or the categories shown differ.
        """
        ours, theirs = _model(source, self._label_coord), _people(target, self._label_coord)
        rows, columns = _categories(ours, theirs)
        counts, subjects = _by_subject(theirs, _confusions(theirs, rows, columns), len(rows) * len(columns))
        model = np.bincount(_confusions(ours, rows, columns), minlength=counts.shape[1]).astype(np.float64)
        off = _off_diagonal(rows, columns)

        def pattern(summed: _Float) -> _Float:
            return summed[..., off]

        score = attach_remarks(_compared(model[off], counts, subjects, pattern), ours.remark, theirs.remark)
        names = {"truth": ("truth", rows), "choice": ("choice", columns)}
        for name, side in (("predictions", model), ("targets", counts.sum(axis=0))):
            table = side.reshape(len(rows), len(columns))
            score.attrs[name] = DataAssembly(table, coords=names, dims=["truth", "choice"])
        return score

    def ceiling(self, assembly: DataAssembly) -> Score:
        """Correlate each subject's confusions with those of all other subjects together.

        `assembly`: as the target of the metric, with ``subject`` or ``subject_id``. Result: mean over subjects, with
        ``meaning`` ``'human-human'``, ``raw`` (subject), ``error`` and ``ci`` from the jackknife over subjects. A
        MetricInputError if there are fewer than two subjects.
        """
        theirs = _people(assembly, self._label_coord)
        rows, columns = _categories(theirs, theirs)
        counts, subjects = _by_subject(theirs, _confusions(theirs, rows, columns), len(rows) * len(columns))
        off = _off_diagonal(rows, columns)
        return _ceiling(counts, subjects, lambda summed: summed[..., off])


class TasksConsistency(Metric):
    """Pearson correlation of a model's and people's accuracies over tasks [1]_.

    `task_coord`: coordinate of both sides with the task (condition, manipulation) of each trial. `label_coord`:
    coordinate of both sides with the right category.

    Notes
    -----
    Accuracies pool all trials of a task. Tasks are matched by name; where the two sides name them differently, give
    them common names first. A missing answer counts as wrong.

    ``attrs``: ``raw``, the correlation with each subject alone (subject), where the target has ``subject`` or
    ``subject_id``; ``error`` and ``ci`` with subjects as the independent units, left out one by one (jackknife) while
    the model and the tasks are kept (NaN with a reason without subjects; the existing platform has no error);
    ``predictions`` and ``targets``, the accuracies (task).

    References
    ----------
    .. [1] Maniquet, Op de Beeck & Costantino (2024). bioRxiv. https://doi.org/10.1101/2024.04.02.587669

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> def answers(choices):
    ...     return BehavioralAssembly(
    ...         list(choices), coords={"image_label": ("presentation", list("abababab")),
    ...                                "task": ("presentation", [1, 1, 1, 2, 2, 2, 3, 3])}, dims=["presentation"])
    >>> round(float(TasksConsistency()(answers("ababaaaa"), answers("abaaabba"))), 4)
    0.9286
    """

    scale = "correlation"
    compares = "choices"

    def __init__(self, *, task_coord: str = "task", label_coord: str = "image_label") -> None:
        self._task_coord = task_coord
        self._label_coord = label_coord

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare a model's accuracies with people's.

        `source`: presentation or presentation × choice; the model's choices, or its probabilities, of which the largest
        is the choice. `target`: people's choices: the coordinate ``prediction`` where there is one, otherwise the
        values. Result: a Score in [−1, 1]; NaN with a reason where one side's accuracies do not vary. A
        MetricInputError if a coordinate is missing, the tasks differ, or there are fewer than three of them.
        """
        ours, theirs = _model(source, self._label_coord), _people(target, self._label_coord)
        tasks = self._tasks(theirs)
        require_same(
            self._tasks(ours),
            tasks,
            what="tasks",
            remedy=f"name the tasks alike in the coordinate {self._task_coord!r}, or select what both have",
        )
        if len(tasks) < 3:
            raise MetricInputError(
                f"{len(tasks)} tasks: a correlation of so few is always −1, 1 or undefined",
                remedy="use at least three tasks, or compare accuracies with the metric 'accuracy_distance'",
            )
        counts, subjects = _by_subject(theirs, self._cells(theirs, tasks), 2 * len(tasks))
        model = _accuracies(np.bincount(self._cells(ours, tasks), minlength=2 * len(tasks)).astype(np.float64))
        score = attach_remarks(_compared(model, counts, subjects, _accuracies), ours.remark, theirs.remark)
        for name, side in (("predictions", model), ("targets", _accuracies(counts.sum(axis=0)))):
            score.attrs[name] = DataAssembly(side, coords={"task": ("task", tasks)}, dims=["task"])
        return score

    def ceiling(self, assembly: DataAssembly) -> Score:
        """Correlate each subject's accuracies with those of all other subjects together.

        `assembly`: as the target of the metric, with ``subject`` or ``subject_id``. Result: mean over subjects, with
        ``meaning`` ``'human-human'``, ``raw`` (subject), ``error`` and ``ci`` from the jackknife over subjects. A
        subject who lacks a task is compared on the others. A MetricInputError if there are fewer than two subjects.
        """
        theirs = _people(assembly, self._label_coord)
        tasks = self._tasks(theirs)
        return _ceiling(*_by_subject(theirs, self._cells(theirs, tasks), 2 * len(tasks)), _accuracies)

    def _tasks(self, answers: _Answers) -> NDArray[Any]:
        return np.unique(coord_values(answers.assembly, self._task_coord, role=answers.role))

    def _cells(self, answers: _Answers, tasks: NDArray[Any]) -> NDArray[np.intp]:
        codes = np.searchsorted(tasks, coord_values(answers.assembly, self._task_coord, role=answers.role))
        return np.asarray(2 * codes + answers.correct, dtype=np.intp)


def _accuracies(counts: _Float) -> _Float:
    wrong, right = counts[..., ::2], counts[..., 1::2]
    asked = wrong + right
    return np.asarray(np.where(asked > 0, right / np.maximum(asked, 1), np.nan))


def _model(source: DataAssembly, label_coord: str) -> _Answers:
    if "choice" in source.dims and source.sizes["choice"] > 1:
        source = as_table(source, ("presentation", "choice"), role="source")
        values = np.asarray(source.values)
        if values.dtype.kind not in "fiub" or np.isnan(values).any():
            raise MetricInputError(
                "the source's probabilities are not numbers, or are NaN", remedy="check the model's output"
            )
        offered = coord_values(source, "choice", role="source", dim="choice")
        chosen = offered[values.argmax(axis=1)]
    else:
        source = as_table(source, ("presentation",), role="source")
        chosen, offered = np.asarray(source.values), np.array([])
    return _answers(source, chosen, label_coord, "source", offered=offered)


def _people(target: DataAssembly, label_coord: str) -> _Answers:
    target = as_table(target, ("presentation",), role="target")
    has_predictions = "prediction" in target.coords
    chosen = coord_values(target, "prediction", role="target") if has_predictions else np.asarray(target.values)
    return _answers(target, chosen, label_coord, "target")


def _answers(
    assembly: DataAssembly, chosen: NDArray[Any], label_coord: str, role: str, *, offered: Iterable[Any] = ()
) -> _Answers:
    if not len(chosen):
        raise MetricInputError(f"the {role} has no trials", remedy="check the selection before it")
    truth = coord_values(assembly, label_coord, role=role)
    correct, _, remark = right_choices(chosen, truth, role=role, offered=offered)
    return _Answers(chosen, truth, correct, assembly, role, remark)


def _categories(ours: _Answers, theirs: _Answers) -> tuple[NDArray[Any], NDArray[Any]]:
    require_same(ours.truth, theirs.truth, what="categories", remedy="select the categories that both were shown")
    chosen = pd.Series(np.concatenate([theirs.chosen.astype(object), ours.chosen.astype(object)])).dropna()
    return np.unique(theirs.truth), np.unique(np.concatenate([theirs.truth, np.array(list(chosen.unique()))]))


def _confusions(answers: _Answers, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.intp]:
    """Cell of each trial; trials without an answer come to the diagonal, which is not used."""
    row = np.searchsorted(rows, answers.truth)
    column = pd.Index(columns).get_indexer(pd.Index(answers.chosen))
    column = np.where(column < 0, np.searchsorted(columns, answers.truth), column)
    return np.asarray(row * len(columns) + column, dtype=np.intp)


def _off_diagonal(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.intp]:
    return np.flatnonzero((rows[:, None] != columns[None, :]).ravel())


def _by_subject(answers: _Answers, cells: NDArray[np.intp], n_cells: int) -> tuple[_Float, NDArray[Any] | None]:
    name = next((name for name in ("subject", "subject_id") if name in answers.assembly.coords), None)
    if name is None:
        return np.bincount(cells, minlength=n_cells).astype(np.float64)[None], None
    subjects, codes = np.unique(coord_values(answers.assembly, name, role=answers.role), return_inverse=True)
    counts = np.bincount(codes * n_cells + cells, minlength=len(subjects) * n_cells).astype(np.float64)
    return counts.reshape(len(subjects), n_cells), subjects


def _compared(model: _Float, counts: _Float, subjects: NDArray[Any] | None, pattern: _Pattern) -> Score:
    def correlations(summed: _Float) -> _Float:
        return _rowwise(np.broadcast_to(model, pattern(summed).shape), pattern(summed))

    def statistic(values: _Float, axis: int) -> _Float:  # cells × resamples × subjects
        return correlations(values.sum(axis=axis).T)

    score = Score(correlations(counts.sum(axis=0)[None])[0])
    score.attrs["scale"] = "correlation"
    if subjects is None:
        return declare_no_error(score, "the target has no coordinate 'subject' or 'subject_id' to resample")
    raw = Score(correlations(counts), coords={"subject": ("subject", subjects)}, dims=["subject"])
    score.attrs[Score.RAW_VALUES_KEY] = raw
    influence = jackknife_influence(counts.T, statistic)
    attach_influence(score, influence, units="subjects", ids=subjects)
    interval = clipped(influence_interval(float(score), influence, units="subjects")._replace(method="t"))
    if np.isnan(float(score)):
        interval = interval._replace(reason=_FLAT)
    return attach_interval(score, interval, units="subjects for these images", estimates="correlation of the patterns")


def _ceiling(counts: _Float, subjects: NDArray[Any] | None, pattern: _Pattern) -> Score:
    if subjects is None:
        raise MetricInputError(
            "the target has no coordinate 'subject' or 'subject_id'", remedy="add one along 'presentation'"
        )
    m = len(subjects)
    if m < 2:
        raise MetricInputError(f"{m} subject: the ceiling needs a second one", remedy="pass all subjects' trials")

    def each(chosen: _Float) -> _Float:
        return _rowwise(pattern(chosen), pattern(chosen.sum(axis=0) - chosen))

    values = each(counts)
    score = Score(_mean(values))
    score.attrs.update(
        {
            Score.RAW_VALUES_KEY: Score(values, coords={"subject": ("subject", subjects)}, dims=["subject"]),
            "scale": "correlation",
            "meaning": "human-human",
        }
    )
    return attach_jackknife(
        score,
        lambda: [_mean(each(np.delete(counts, i, axis=0))) for i in range(m)],
        subjects=subjects,
        estimates="mean correlation of a subject with the others",
        undefined=_FLAT,
    )


def _rowwise(first: _Float, second: _Float) -> _Float:
    """Pearson correlation of each row of the two; columns in which either is NaN are left out."""
    missing = np.isnan(first) | np.isnan(second)
    result = pearson(np.where(missing, 0.0, first).T, np.where(missing, 0.0, second).T)
    for row in np.flatnonzero(missing.any(axis=1)):
        present = ~missing[row]
        result[row] = (
            pearson(first[row, present][:, None], second[row, present][:, None])[0] if present.sum() > 1 else np.nan
        )
    return np.asarray(result)


def _mean(values: _Float) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
