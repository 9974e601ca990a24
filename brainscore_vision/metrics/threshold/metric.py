"""Thresholds of discrimination, and how much a context elevates them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import spelling_hint
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, listed
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, attach_jackknife, clipped
from brainscore_core.metrics import Metric, Score, declare_no_error
from brainscore_core.numerics import bootstrap_interval, mean_influence
from brainscore_core.numerics.psychometric import before_asymptote, fit_psychometric
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.behaviour import right_choices


class People(NamedTuple):
    """Thresholds, or their elevations."""

    values: NDArray[np.float64]
    subjects: NDArray[Any]


def people_of(target: DataAssembly | Sequence[float]) -> People:
    """Thresholds as given."""
    if isinstance(target, DataAssembly):
        target = as_table(target, ("subject",), role="target")
        values, subjects = np.asarray(target.values, dtype=np.float64), np.asarray(target["subject"].values)
    else:
        values = np.asarray(target, dtype=np.float64)
        subjects = np.arange(values.size)
    if values.ndim != 1 or np.isnan(values).all() or not (values[~np.isnan(values)] > 0).all():
        raise MetricInputError(
            f"the target's thresholds must be positive, one a subject: {listed(values.ravel())}",
            remedy="drop subjects without a threshold",
        )
    return People(values, subjects)


def elevations_of(target: Mapping[str, DataAssembly] | DataAssembly | Sequence[float]) -> People:
    """Elevations as given, or from the thresholds of both conditions."""
    if not isinstance(target, Mapping):
        return people_of(target)
    needed = ("baseline_assembly", "condition_assembly")
    missing = [name for name in needed if name not in target]
    if missing:
        raise MetricInputError(
            f"the target lacks {listed(missing)}; it has {listed(target)}", remedy="pass both, or people's elevations"
        )
    baseline, condition = (people_of(target[name]) for name in needed)
    index = pd.Index(baseline.subjects)
    if not (index.is_unique and pd.Index(condition.subjects).is_unique and index.isin(condition.subjects).all()):
        raise MetricInputError(
            "baseline and condition do not hold the same subjects, each once: the baseline has "
            f"{listed(baseline.subjects)}, the condition {listed(condition.subjects)}",
            remedy=spelling_hint(baseline.subjects, condition.subjects) or "select the subjects that took part in both",
        )
    order = pd.Index(condition.subjects).get_indexer(index)
    return People(condition.values[order] / baseline.values, baseline.subjects)


def closeness(source: NDArray[np.float64] | float, target: NDArray[np.float64]) -> NDArray[np.float64]:
    """max(1 − |t − s| / t, 0)."""
    return np.asarray(np.maximum(1 - np.abs(target - source) / target, 0.0))


def ceiling_of(people: People) -> Score:
    """Each drawn subject against all others; see :meth:`Threshold.ceiling`."""
    defined = ~np.isnan(people.values)
    values, m = people.values[defined], int(defined.sum())
    if m < 2:
        raise MetricInputError(f"{m} subject: the ceiling needs a second one", remedy="pass all subjects' thresholds")
    pairs = closeness(values[:, None], values[None, :])
    np.fill_diagonal(pairs, np.nan)
    each = np.nanmean(pairs, axis=1)
    drawn = _drawn(values)
    score = Score(each[drawn].mean())
    coords = {"draw": ("draw", np.arange(m)), "subject": ("draw", people.subjects[defined][drawn])}
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(each[drawn], coords=coords, dims=["draw"]),
        "scale": "similarity",
        "meaning": "human-human",
        "each_once": float(each.mean()),
        "std": float(each[drawn].std()),
        "undefined": int((~defined).sum()),
    }

    def without_each() -> list[float]:
        return [float(np.nanmean(pairs[np.ix_(rows, rows)])) for rows in (np.delete(range(m), i) for i in range(m))]

    return attach_jackknife(
        score,
        without_each,
        subjects=people.subjects[defined],
        value=float(each.mean()),
        low=0.0,
        estimates="mean over pairs of subjects (attrs['each_once']; the value is that of random draws)",
    )


def _drawn(values: NDArray[np.float64]) -> list[int]:
    """The subjects that take the model's place on the existing platform: drawn, taken out, put back at the end."""
    order, drawn = list(range(len(values))), []
    for seed in range(len(values)):
        chosen = values[order[np.random.RandomState(seed).choice(len(values), replace=False)]]
        position = next(i for i, subject in enumerate(order) if values[subject] == chosen)  # the first of equal ones
        order.append(order.pop(position))
        drawn.append(order[-1])
    return drawn


_REQUIRED_R2 = 0.4


class ModelThreshold(NamedTuple):
    """Threshold of a model."""

    value: float
    """In the units of the independent variable; NaN where there is none."""
    reason: str | None = None
    """Why there is none."""
    accuracy: float = math.nan
    """Accuracy at the threshold; NaN where there is none."""


@dataclass(eq=False)
class Threshold(Metric):
    """Closeness of a model's threshold s to each subject's threshold t: max(1 − |t − s| / t, 0), mean over subjects.

    A cumulative Gaussian from 0.5 to 1 − lapse rate (in [0.03, 0.5]) is fitted by maximum likelihood to the model's
    share of right answers at each strength, all strengths alike; the threshold is where it reaches an accuracy [1]_.

    `independent_variable`: coordinate of the source with the strength of the stimulus. `threshold_accuracy`: accuracy
    at the threshold; ``'inflection'``: midway between those that the function predicts for the weakest and the
    strongest stimuli shown. `required_accuracy`: models with less are not fitted. `label_coord`: coordinate of the
    source with the right answer.

    Notes
    -----
    Of several equally likely fits, as where accuracy jumps from one strength to the next, the existing platform takes
    whichever its optimiser ends in; here the jump is in the middle. Elsewhere the two agree. With ``'inflection'`` the
    existing platform keeps the accuracy of the first model for all that follow; here each model has its own.

    Points beyond the best accuracy, after the last within a standard deviation of it, are dropped before the fit. A
    model has no threshold if its accuracy is below `required_accuracy`, fewer than a third of the points (or fewer than
    three) remain, R² over the points' mean accuracies is below 0.4, or the accuracy is not reached up to the largest
    strength. The score is then 0, as published, not NaN: a model without a threshold is not like people. It says so in
    ``attrs['reason']``; error and interval are NaN with that reason.

    ``attrs``: ``raw`` (subject); ``threshold``, the model's; ``error`` and ``ci`` with subjects as the independent
    units while the model is kept; ``std``, the standard deviation over subjects, which the existing platform publishes
    as the error. Subjects with NaN are left out and counted in ``attrs['undefined']``; the existing platform returns
    NaN.

    References
    ----------
    .. [1] Malania, Herzog & Westheimer (2007). Journal of Vision 7(2), 1. https://doi.org/10.1167/7.2.1

    Examples
    --------
    >>> round(float(Threshold("offset", threshold_accuracy=0.75)(57.0, [50.0, 60.0])), 3)
    0.905
    """

    scale = "similarity"
    compares = "thresholds"

    independent_variable: str
    _: KW_ONLY
    threshold_accuracy: float | Literal["inflection"] = "inflection"
    required_accuracy: float = 0.6
    label_coord: str = "image_label"

    def __post_init__(self) -> None:
        if self.threshold_accuracy != "inflection" and not 0.5 < float(self.threshold_accuracy) < 1:
            raise ValueError(
                f"threshold_accuracy is {self.threshold_accuracy}; 'inflection' or a number in (0.5, 1) is needed"
            )

    def __call__(self, source: DataAssembly | float, target: DataAssembly | Sequence[float]) -> Score:
        """Compare a model's threshold with people's.

        `source`: presentation × choice, or float; the model's probabilities, one row a trial; or its threshold.
        `target`: people's thresholds, positive. A MetricInputError if coordinates are missing, or the target holds no
        positive thresholds.
        """
        return _score(self.threshold(source), people_of(target))

    def ceiling(self, assembly: DataAssembly | Sequence[float]) -> Score:
        """Each subject's threshold in the place of the model's, against all others.

        Result: a Score as published: the mean over as many draws, with replacement, of a subject as there are subjects,
        always the same ones, with ``raw`` (draw) and ``std`` over draws, the published error. ``meaning`` is
        ``'human-human'``; ``each_once`` is the mean with each subject once, which the draws scatter about; ``error``
        and ``ci`` are those of ``each_once``, from the jackknife over subjects. A MetricInputError if there are fewer
        than two subjects.
        """
        return ceiling_of(people_of(assembly))

    def threshold(
        self, source: DataAssembly | float, *, accuracy: float | Literal["inflection"] | None = None
    ) -> ModelThreshold:
        """Threshold of a model, from its probabilities; a number is taken as it is.

        `source`: as for the metric. `accuracy`: in the place of the metric's `threshold_accuracy`.
        """
        if not isinstance(source, DataAssembly):
            return ModelThreshold(float(source), None if math.isfinite(source) else "the model's threshold is NaN")
        x, correct = _answers(source, self.independent_variable, self.label_coord)
        if correct.mean() < self.required_accuracy:
            return _none(
                f"the model's accuracy is {correct.mean():.3f}; {self.required_accuracy} is required for a fit"
            )
        points, codes = np.unique(x, return_inverse=True)
        shares = np.bincount(codes, correct) / np.bincount(codes)
        n_points = before_asymptote(points, shares)
        if n_points < 3 or 3 * n_points < len(points):
            return _none(f"the model is best for weak stimuli: {n_points} of {len(points)} strengths remain for a fit")
        fit = fit_psychometric(points[:n_points], shares[:n_points])
        if not fit.r2 >= _REQUIRED_R2:
            return _none(f"the psychometric function does not fit the model's answers: R² {fit.r2:.3f}")
        criterion = self.threshold_accuracy if accuracy is None else accuracy
        reached = float(fit.predict(points[[0, -1]]).mean()) if criterion == "inflection" else float(criterion)
        value = fit.inverse(reached)
        if not value <= points[n_points - 1]:
            return _none(f"the model does not reach an accuracy of {reached:.3g} for the stimuli shown")
        return ModelThreshold(value, accuracy=reached)


class ThresholdElevation(Metric):
    """Closeness of threshold elevations: as :class:`Threshold`, with threshold in a context / threshold without it.

    `independent_variable`: coordinate of the source with the strength of the stimulus. `baseline_condition`,
    `test_condition`: keys of the source's two parts. `threshold_accuracy`: accuracy at the thresholds;
    ``'inflection'``: as in :class:`Threshold` for the baseline, and the same accuracy in the context.
    `required_baseline_accuracy`, `required_test_accuracy`: models with less are not fitted. `label_coord`: coordinate
    of the source with the right answer.

    Notes
    -----
    See :class:`Threshold`; a model without one of its two thresholds has the score 0 and says why.

    Examples
    --------
    >>> metric = ThresholdElevation("offset", "vernier_only", "short2", threshold_accuracy=0.75)
    >>> round(float(metric(3.0, [2.5, 2.4, 3.0])), 3)
    0.85
    """

    scale = "similarity"
    compares = "thresholds"

    def __init__(
        self,
        independent_variable: str,
        baseline_condition: str,
        test_condition: str,
        *,
        threshold_accuracy: float | Literal["inflection"] = "inflection",
        required_baseline_accuracy: float = 0.6,
        required_test_accuracy: float = 0.6,
        label_coord: str = "image_label",
    ) -> None:
        required = {baseline_condition: required_baseline_accuracy, test_condition: required_test_accuracy}
        self._parts = {
            condition: Threshold(
                independent_variable,
                threshold_accuracy=threshold_accuracy,
                required_accuracy=accuracy,
                label_coord=label_coord,
            )
            for condition, accuracy in required.items()
        }
        self._baseline, self._test = baseline_condition, test_condition

    def __call__(  # type: ignore[override]  # two conditions a side
        self,
        source: Mapping[str, DataAssembly] | float,
        target: Mapping[str, DataAssembly] | DataAssembly | Sequence[float],
    ) -> Score:
        """Compare a model's threshold elevation with people's.

        `source`: the model's probabilities (presentation × choice) by condition; or its threshold elevation. `target`:
        people's thresholds as ``{'baseline_assembly': …, 'condition_assembly': …}``, matched by ``subject``; or their
        elevations. A MetricInputError if a condition is missing, or the target holds no positive thresholds.
        """
        return _score(self._elevation(source), elevations_of(target))

    def ceiling(self, assemblies: Mapping[str, DataAssembly] | DataAssembly | Sequence[float]) -> Score:
        """Each subject's elevation against all others'; see :meth:`Threshold.ceiling`."""
        return ceiling_of(elevations_of(assemblies))

    def _elevation(self, source: Mapping[str, DataAssembly] | float) -> ModelThreshold:
        if not isinstance(source, Mapping):
            return ModelThreshold(float(source), None if math.isfinite(source) else "the model's elevation is NaN")
        values: list[float] = []
        accuracy: float | None = None
        for condition, metric in self._parts.items():
            if condition not in source:
                raise MetricInputError(
                    f"the source has no condition {condition!r}; it has {listed(source)}",
                    remedy=spelling_hint([condition], source) or f"pass {{{self._baseline!r}: …, {self._test!r}: …}}",
                )
            threshold = metric.threshold(source[condition], accuracy=accuracy)
            if threshold.reason:
                return _none(f"in condition {condition!r} {threshold.reason}")
            values.append(threshold.value)
            accuracy = None if math.isnan(threshold.accuracy) else threshold.accuracy
        if not values[0] > 0:
            return _none(f"the model's threshold in condition {self._baseline!r} is {values[0]:.3g}, not positive")
        return ModelThreshold(values[1] / values[0])


def _none(reason: str) -> ModelThreshold:
    return ModelThreshold(math.nan, reason)


def _answers(source: DataAssembly, variable: str, label_coord: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    source = as_table(source, ("presentation", "choice"), role="source")
    strength = coord_values(source, variable, role="source")
    try:
        x = strength.astype(np.float64)
    except (TypeError, ValueError):
        x = np.full(len(strength), np.nan)
    values = np.asarray(source.values, dtype=np.float64)
    remedy = "name a coordinate with numbers as independent_variable, and pass finite probabilities"
    if (bad := ~np.isfinite(x)).any() or not len(x):
        trials = f"{int(bad.sum())} trials of the source, such as {listed(strength[bad][:1])}"
        raise MetricInputError(f"{variable!r} is not a finite number in {trials}", remedy=remedy)
    if np.isnan(values).any():
        raise MetricInputError("the source's probabilities are NaN", remedy=remedy)
    choices = coord_values(source, "choice", role="source", dim="choice")
    labels = coord_values(source, label_coord, role="source")
    return x, right_choices(choices[values.argmax(axis=1)], labels, offered=choices).correct


def _score(threshold: ModelThreshold, people: People) -> Score:
    values = np.where(np.isnan(people.values), np.nan, 0.0)
    if threshold.reason is None:
        values = closeness(threshold.value, people.values)
    defined = values[~np.isnan(values)]
    score = Score(defined.mean())
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(values, coords={"subject": ("subject", people.subjects)}, dims=["subject"]),
        "scale": "similarity",
        "std": float(defined.std()),
        "threshold": threshold.value,
        "undefined": int(np.isnan(values).sum()),
    }
    attach_influence(score, mean_influence(values), units="subjects", ids=people.subjects)
    if threshold.reason is not None:
        score.attrs["reason"] = threshold.reason
        return declare_no_error(score, threshold.reason)
    interval = clipped(bootstrap_interval(defined, "mean", units="subjects"), 0.0)
    return attach_interval(score, interval, units="subjects for these images", estimates="mean over subjects")
