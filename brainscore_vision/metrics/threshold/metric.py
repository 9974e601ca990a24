"""Thresholds of discrimination, and how much a context elevates them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metrics import Metric, Score, declare_no_error
from brainscore_core.numerics import bootstrap_interval, jackknife_interval
from brainscore_core.numerics.psychometric import before_asymptote, fit_psychometric
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.alignment import MetricInputError, as_table, coord_values, listed
from brainscore_vision.metric_helpers.uncertainty import attach_interval, clipped

__all__ = ["ModelThreshold", "Threshold", "ThresholdElevation"]

_REQUIRED_R2 = 0.4


class ModelThreshold(NamedTuple):
    """Threshold of a model."""

    value: float
    """In the units of the independent variable; NaN where there is none."""
    reason: str | None = None
    """Why there is none."""


class _People(NamedTuple):
    values: NDArray[np.float64]
    subjects: NDArray[Any]


class Threshold(Metric):
    """Closeness of a model's threshold s to each subject's threshold t: max(1 − |t − s| / t, 0), mean over subjects.

    A cumulative Gaussian from 0.5 to 1 − lapse rate (in [0.03, 0.5]) is fitted to the model's right and wrong answers
    by maximum likelihood; the threshold is where it reaches an accuracy [1]_.

    Parameters
    ----------
    independent_variable : str
        Coordinate of the source with the strength of the stimulus.
    threshold_accuracy : float or ``'inflection'``
        Accuracy at the threshold; ``'inflection'``: where the function is steepest.
    required_accuracy : float
        Models with less are not fitted.
    label_coord : str
        Coordinate of the source with the right answer.

    Notes
    -----
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

    def __init__(
        self,
        independent_variable: str,
        *,
        threshold_accuracy: float | Literal["inflection"] = "inflection",
        required_accuracy: float = 0.6,
        label_coord: str = "image_label",
    ) -> None:
        if threshold_accuracy != "inflection" and not 0.5 < float(threshold_accuracy) < 1:
            raise ValueError(
                f"threshold_accuracy is {threshold_accuracy}; 'inflection' or a number in (0.5, 1) is needed"
            )
        self._variable = independent_variable
        self._accuracy = threshold_accuracy
        self._required = required_accuracy
        self._label_coord = label_coord

    def __call__(self, source: DataAssembly | float, target: DataAssembly | Sequence[float]) -> Score:
        """Compare a model's threshold with people's.

        Parameters
        ----------
        source : BehavioralAssembly, presentation × choice, or float
            The model's probabilities, one row a trial; or its threshold.
        target : PropertyAssembly, subject, or sequence of float
            People's thresholds, positive.

        Returns
        -------
        Score
            In [0, 1].

        Raises
        ------
        MetricInputError
            If coordinates are missing, or the target holds no positive thresholds.
        """
        return _score(self.threshold(source), _people(target))

    def ceiling(self, assembly: DataAssembly | Sequence[float]) -> Score:
        """Each subject's threshold in the place of the model's, against all others.

        Parameters
        ----------
        assembly : PropertyAssembly, subject, or sequence of float
            People's thresholds.

        Returns
        -------
        Score
            Mean over subjects, with ``meaning`` ``'human-human'``, ``raw`` (subject), ``error`` and ``ci`` from the
            jackknife over subjects, and ``std`` over subjects as published. The existing platform draws the subjects
            that take the model's place at random, with replacement; here each takes it once.

        Raises
        ------
        MetricInputError
            If there are fewer than two subjects.
        """
        return _ceiling(_people(assembly))

    def threshold(self, source: DataAssembly | float) -> ModelThreshold:
        """Threshold of a model, from its probabilities; a number is taken as it is."""
        if not isinstance(source, DataAssembly):
            return ModelThreshold(float(source), None if math.isfinite(source) else "the model's threshold is NaN")
        x, correct = _answers(source, self._variable, self._label_coord)
        if correct.mean() < self._required:
            return _none(f"the model's accuracy is {correct.mean():.3f}; {self._required} is required for a fit")
        points, codes = np.unique(x, return_inverse=True)
        kept = before_asymptote(points, np.bincount(codes, correct) / np.bincount(codes))
        if kept < 3 or 3 * kept < len(points):
            return _none(f"the model is best for weak stimuli: {kept} of {len(points)} strengths remain for a fit")
        fit = fit_psychometric(x[codes < kept], correct[codes < kept])
        if not fit.r2 >= _REQUIRED_R2:
            return _none(f"the psychometric function does not fit the model's answers: R² {fit.r2:.3f}")
        value = fit.location if self._accuracy == "inflection" else fit.inverse(float(self._accuracy))
        if not value <= points[kept - 1]:
            return _none(f"the model does not reach an accuracy of {self._accuracy} for the stimuli shown")
        return ModelThreshold(value)


class ThresholdElevation(Metric):
    """Closeness of threshold elevations: as :class:`Threshold`, with threshold in a context / threshold without it.

    Parameters
    ----------
    independent_variable : str
        Coordinate of the source with the strength of the stimulus.
    baseline_condition, test_condition : str
        Keys of the source's two parts.
    threshold_accuracy : float or ``'inflection'``
        Accuracy at the threshold.
    required_baseline_accuracy, required_test_accuracy : float
        Models with less are not fitted.
    label_coord : str
        Coordinate of the source with the right answer.

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

        Parameters
        ----------
        source : dict or float
            The model's probabilities (presentation × choice) by condition; or its threshold elevation.
        target : dict, PropertyAssembly or sequence of float
            People's thresholds as ``{'baseline_assembly': …, 'condition_assembly': …}``, matched by ``subject``; or
            their elevations.

        Returns
        -------
        Score
            In [0, 1].

        Raises
        ------
        MetricInputError
            If a condition is missing, or the target holds no positive thresholds.
        """
        return _score(self._elevation(source), _elevations(target))

    def ceiling(self, assemblies: Mapping[str, DataAssembly] | DataAssembly | Sequence[float]) -> Score:
        """Each subject's elevation against all others'; see :meth:`Threshold.ceiling`."""
        return _ceiling(_elevations(assemblies))

    def _elevation(self, source: Mapping[str, DataAssembly] | float) -> ModelThreshold:
        if not isinstance(source, Mapping):
            return ModelThreshold(float(source), None if math.isfinite(source) else "the model's elevation is NaN")
        values = []
        for condition, part in self._parts.items():
            if condition not in source:
                raise MetricInputError(
                    f"the source has no condition {condition!r}; it has {listed(source)}",
                    remedy=f"pass {{{self._baseline!r}: …, {self._test!r}: …}}",
                )
            threshold = part.threshold(source[condition])
            if threshold.reason:
                return _none(f"in condition {condition!r} {threshold.reason}")
            values.append(threshold.value)
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
    for bad, what in (
        (~np.isfinite(x), f"{variable!r} is no finite number"),
        (np.isnan(values).any(axis=1), "are NaN"),
    ):
        if bad.any() or not len(x):
            raise MetricInputError(
                f"the source's probabilities {what}"
                if what == "are NaN"
                else f"{what} in {int(bad.sum())} trials of the source, such as {listed(strength[bad][:1])}",
                remedy="name a coordinate with numbers as independent_variable, and pass finite probabilities",
            )
    chosen = coord_values(source, "choice", role="source", dim="choice")[values.argmax(axis=1)]
    return x, np.asarray(chosen == coord_values(source, label_coord, role="source"), dtype=bool)


def _people(target: DataAssembly | Sequence[float]) -> _People:
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
    return _People(values, subjects)


def _elevations(target: Mapping[str, DataAssembly] | DataAssembly | Sequence[float]) -> _People:
    if not isinstance(target, Mapping):
        return _people(target)
    needed = ("baseline_assembly", "condition_assembly")
    missing = [name for name in needed if name not in target]
    if missing:
        raise MetricInputError(
            f"the target lacks {listed(missing)}; it has {listed(target)}", remedy="pass both, or people's elevations"
        )
    baseline, condition = (_people(target[name]) for name in needed)
    index = pd.Index(baseline.subjects)
    if not (index.is_unique and pd.Index(condition.subjects).is_unique and index.isin(condition.subjects).all()):
        raise MetricInputError(
            "baseline and condition do not hold the same subjects, each once",
            remedy="select the subjects that took part in both",
        )
    order = pd.Index(condition.subjects).get_indexer(index)
    return _People(condition.values[order] / baseline.values, baseline.subjects)


def _closeness(source: NDArray[np.float64] | float, target: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.maximum(1 - np.abs(target - source) / target, 0.0))


def _score(threshold: ModelThreshold, people: _People) -> Score:
    values = np.where(np.isnan(people.values), np.nan, 0.0)
    if threshold.reason is None:
        values = _closeness(threshold.value, people.values)
    defined = values[~np.isnan(values)]
    score = Score(defined.mean())
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(values, coords={"subject": ("subject", people.subjects)}, dims=["subject"]),
        "scale": "similarity",
        "std": float(defined.std()),
        "threshold": threshold.value,
        "undefined": int(np.isnan(values).sum()),
    }
    if threshold.reason is not None:
        score.attrs["reason"] = threshold.reason
        return declare_no_error(score, threshold.reason)
    interval = clipped(bootstrap_interval(defined, "mean", units="subjects"), 0.0)
    return attach_interval(score, interval, estimates="mean over subjects, which vary; the model is kept")


def _ceiling(people: _People) -> Score:
    kept = ~np.isnan(people.values)
    values, m = people.values[kept], int(kept.sum())
    if m < 2:
        raise MetricInputError(f"{m} subject: the ceiling needs a second one", remedy="pass all subjects' thresholds")
    pairs = _closeness(values[:, None], values[None, :])
    np.fill_diagonal(pairs, np.nan)
    each = np.nanmean(pairs, axis=1)
    score = Score(each.mean())
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(each, coords={"subject": ("subject", people.subjects[kept])}, dims=["subject"]),
        "scale": "similarity",
        "meaning": "human-human",
        "std": float(each.std()),
        "undefined": int((~kept).sum()),
    }
    rest = [np.delete(np.arange(m), i) for i in range(m)] if m > 2 else []
    interval = jackknife_interval(float(score), [np.nanmean(pairs[np.ix_(r, r)]) for r in rest], units="subjects")
    if not rest:
        interval = interval._replace(n=m, reason=f"{m} subjects: at least 3 are needed to tell how much they vary")
    return attach_interval(score, clipped(interval, 0.0), estimates="mean over pairs of subjects, who vary")
