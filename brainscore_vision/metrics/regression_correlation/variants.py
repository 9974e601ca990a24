"""Predictivity in the other direction, and over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from brainscore_core.metric_helpers.alignment import as_table, finite_values, match_rows
from brainscore_core.metric_helpers.predictivity import (
    CrossRegressedCorrelation,
    SplitRegressedCorrelation,
    attach_interval_over_units,
)
from brainscore_core.metric_helpers.uncertainty import Units, attach_each, note_undefined, over_splits
from brainscore_core.metric_helpers.xarray_utils import Defaults, XarrayCorrelation, XarrayRegression
from brainscore_core.metrics import Score, Uncertainty, amend_uncertainty
from brainscore_core.numerics import Predictivity
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ATTRIBUTE
from brainscore_vision.metric_helpers.temporal import TIME_DIM, PerTime, SpanTimeRegression

_WHAT = "the correlation of predicted and measured responses in a time bin"


class ReverseCrossRegressedCorrelation(CrossRegressedCorrelation):
    """Cross-validated predictivity of the source (a model's features) from the target (responses) [1]_.

    As :class:`CrossRegressedCorrelation` with the two exchanged: what is fitted, predicted and correlated are the
    source's neuroids. Splits are made on the order of the source, and stratified where the source has the coordinate.

    References
    ----------
    .. [1] Muzellec & Kar (2025). Reverse predictivity: going beyond one-way mapping to compare artificial neural
       network models and brains. bioRxiv.
    """

    predicts = "features"

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Predict `source` from `target`; arguments, result and errors as for :class:`CrossRegressedCorrelation`."""
        _check(source, target)
        return _of_the_model(super().__call__(target, _declared(source, target)))


class ReverseSplitRegressedCorrelation(SplitRegressedCorrelation):
    """Predictivity of the source (a model's features) from the target, with fixed training and test stimuli.

    As :class:`SplitRegressedCorrelation` with source and target exchanged.
    """

    predicts = "features"

    def __call__(
        self,
        source_train: DataAssembly,
        source_test: DataAssembly,
        target_train: DataAssembly,
        target_test: DataAssembly,
    ) -> Score:
        """Fit the source's training part from the target's, correlate predictions with the source's test part."""
        _check(source_train, target_train)
        _check(source_test, target_test)
        return _of_the_model(
            super().__call__(target_train, target_test, source_train, _declared(source_test, target_test))
        )


class SpanTimeCrossRegressedCorrelation(CrossRegressedCorrelation):
    """Cross-validated predictivity over time: one map for all time bins, correlations in each.

    The map is fitted on the presentations of all time bins together; responses are predicted and correlated bin by
    bin.

    `regression`: maps features to responses. `correlation`: ``correlation(prediction, target) -> Score`` with one value
    a neuroid. `**kwargs`: further arguments of :class:`CrossRegressedCorrelation`.

    Notes
    -----
    The score has one value a time bin: mean over splits of the median over neuroids. ``raw`` is split × neuroid ×
    time_bin. ``error`` and the two limits in ``ci``, over new stimuli and neuroids, are arrays over time bins;
    neighbouring bins share neuroids and stimuli, so their intervals are not independent. ``attrs['split_error']``, also
    named ``time_bin_error``, is the spread over splits that is published for a single bin.
    """

    per_time_bin = True
    _dims = (*Defaults.expected_dims, TIME_DIM)

    def __init__(self, regression: XarrayRegression, correlation: Any, **kwargs: Any) -> None:
        super().__init__(SpanTimeRegression(regression), PerTime(correlation), **kwargs)
        self._pearson = isinstance(correlation, XarrayCorrelation) and correlation.is_pearson

    def _finish(self, score: Score, results: Sequence[Predictivity], units: tuple[Units, Units], reason: str) -> Score:
        score = super()._finish(score, results, units, reason)
        raw = score.attrs[Score.RAW_VALUES_KEY]
        bins, split_errors = [], []
        for i, value in enumerate(np.asarray(score.values, dtype=np.float64)):
            values = raw.isel({TIME_DIM: i}, drop=True)
            split_errors.append(over_splits(np.asarray(self.aggregate(values).values, dtype=np.float64))[1])
            bin_ = attach_interval_over_units(Score(value), values, results[i : i + 1], units, reason)
            bins.append(note_undefined(bin_, values, what=_WHAT))
        attach_each(score, bins, what="time bin")
        split_error = Score(np.array(split_errors), coords=score.coords, dims=score.dims)
        score.attrs["time_bin_error"] = split_error
        return amend_uncertainty(score, split_error=split_error)


def _declared(source: DataAssembly, target: DataAssembly) -> DataAssembly:
    """The model's responses with the groups of stimuli that the recordings declare."""
    source = source.copy(deep=False)
    source.attrs = source.attrs | {key: target.attrs[key] for key in (ATTRIBUTE, "stimulus_set") if key in target.attrs}
    return source


def _of_the_model(score: Score) -> Score:
    """Say that the predicted neuroids are the model's own, so that another model has others."""
    Uncertainty.of(score).predictions.attrs["units"] = "model neuroids"
    return amend_uncertainty(score, predictivity=None)  # the ceiling is that of the recorded neuroids


def _check(source: DataAssembly, target: DataAssembly) -> None:
    """What is wrong is named by the roles that the caller gave."""
    match_rows(source, target)
    for assembly, role in ((source, "source"), (target, "target")):
        finite_values(as_table(assembly, Defaults.expected_dims, role=role), role=role)
