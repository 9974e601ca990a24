"""Fit neural responses from a model's features on some stimuli, correlate the predictions for others."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brainscore_core.metric_helpers.alignment import as_table, listed, match_rows
from brainscore_core.metric_helpers.transformations import CrossValidation, merge_splits
from brainscore_core.metric_helpers.uncertainty import (
    Units,
    attach_neuroid_interval,
    attach_predictivity_interval,
    note_undefined,
    unit_ids,
    units_along,
    units_of_stimuli,
    with_groups,
    with_tested,
)
from brainscore_core.metric_helpers.xarray_utils import Defaults, XarrayCorrelation, XarrayRegression
from brainscore_core.metrics import NEUROID_GROUPS, Metric, Score, amend_uncertainty
from brainscore_core.numerics import Predictivity, pearson, predictivity
from brainscore_core.numerics.predictions import FEWEST, PredictivityOfSplits
from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED

_WHAT = "the correlation of predicted and measured responses"

_OTHER_MEASURE = "the measure is not Pearson's correlation"
"""Why an interval is about these stimuli only."""

_OFTEN = 0.5
"""Share of fits with a penalty at the end of its grid, above which this is remarked."""

_ENOUGH = 250
"""Number of test stimuli, over splits, from which effects of the training stimuli are known well enough."""


class CrossRegressedCorrelation(Metric):
    """Cross-validated predictivity: fit on some stimuli, correlate the predictions for the others, neuroid by neuroid.

    The score is the mean over splits of the median over neuroids of the Pearson correlation between predicted and
    measured responses to held-out stimuli [1]_ [2]_.

    Parameters
    ----------
    regression : XarrayRegression
        Maps features to responses.
    correlation : callable
        ``correlation(prediction, target) -> Score`` with one value a neuroid.
    crossvalidation_kwargs : dict, optional
        For :class:`~brainscore_core.metric_helpers.transformations.CrossValidation`; by default 10 splits with 90 %
        of the stimuli to fit on, stratified by ``object_name`` where the target has that coordinate.
    stimulus_groups, neuroid_groups : str, optional
        Coordinates of the target whose values group stimuli and neuroids that do not vary independently; by default
        ``subject`` if the target has that, and what it declares
        (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`). None: no groups.

    Notes
    -----
    A neuroid whose measured or predicted responses are constant over the test stimuli of a split has no correlation
    there: NaN in ``raw``. As on the existing platform the median leaves it out; ``attrs['undefined']`` counts such
    values, and the score is NaN where nothing is left. NaN in the input is an error.

    ``attrs`` of the score: ``raw`` (split × neuroid; its ``attrs['alpha']`` lists the penalty of each split, where the
    regression chooses one); ``error`` and ``ci``, standard error and interval of the expected score over new stimuli
    and new neuroids, the model fixed; ``split_error``, the standard deviation over splits (ddof 0) divided by √splits,
    as published; ``scale``; ``predictions`` and ``targets``: the test stimuli of all splits, with the level ``split``.

    The variance is that of the median over resampled neuroids, plus the effects that stimuli have on all neuroids in
    common [3]_, when they are left out of the test part and, for regressions that compute it (ridge, PLS, least
    squares), of the training part (``training_influence``); maps of other regressions are kept, which ``ci_estimates``
    says. With another correlation than Pearson's, only neuroids vary.

    References
    ----------
    .. [1] Yamins et al. (2014). PNAS 111, 8619–8624. https://doi.org/10.1073/pnas.1403112111
    .. [2] Schrimpf et al. (2018). https://doi.org/10.1101/407007
    .. [3] Owen (2007). Annals of Applied Statistics 1, 386–411. https://doi.org/10.1214/07-AOAS122

    Examples
    --------
    >>> from brainscore_core.numerics import Ridge
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> features = rng.standard_normal((80, 40))
    >>> def assembly(values):
    ...     return NeuroidAssembly(values, dims=["presentation", "neuroid"], coords={
    ...         "stimulus_id": ("presentation", [f"stimulus{i}" for i in range(len(values))]),
    ...         "neuroid_id": ("neuroid", list(range(values.shape[1])))})
    >>> ridge = XarrayRegression(Ridge())
    >>> metric = CrossRegressedCorrelation(regression=ridge, correlation=pearsonr_correlation())
    >>> score = metric(assembly(features), assembly(features[:, :5]))
    >>> bool(score > 0.95), score.attrs["raw"].sizes["split"]
    (True, 10)
    """

    scale = "correlation"
    compares = "recordings"
    predicts = "recordings"
    _dims: tuple[str, ...] = Defaults.expected_dims
    _splits: type[Any] = CrossValidation

    def __init__(
        self,
        regression: XarrayRegression,
        correlation: Any,
        crossvalidation_kwargs: Mapping[str, Any] | None = None,
        *,
        stimulus_groups: str | None = DECLARED,
        neuroid_groups: str | None = NEUROID_GROUPS,
    ) -> None:
        self.regression = regression
        self.correlation = correlation
        self.cross_validation = self._splits(**(crossvalidation_kwargs or {}))
        self.stimulus_groups = stimulus_groups
        self.neuroid_groups = neuroid_groups
        self._pearson = isinstance(correlation, XarrayCorrelation) and correlation.is_pearson
        estimator = getattr(regression, "estimator", None)
        own = type(self) is CrossRegressedCorrelation
        self.from_products = own and bool(getattr(estimator, "from_products", False))

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Predict `target` from `source`.

        `source`, `target` (NeuroidAssembly, presentation × neuroid): with the same ``stimulus_id``, in any order, each
        once. Returns: in [−1, 1]; NaN where no correlation is defined. Raises MetricInputError if the two hold
        different stimuli or NaN, or there are too few stimuli.
        """
        source = as_table(source, self._dims, role="source")
        target = as_table(target, self._dims, role="target")
        if type(self).apply is not CrossRegressedCorrelation.apply or not isinstance(self.regression, XarrayRegression):
            score = self.cross_validation(source, target, apply=self.apply, aggregate=self.aggregate)
            return self._finish(score, [], self._units(target), _OTHER_MEASURE)
        rows = self.cross_validation.split_rows(source, target)
        tested_at_once = [len(split.test) for split in rows]
        _remark_on_few_stimuli(tested_at_once, len(target))
        stimuli, neuroids = self._units(target)
        units = with_tested(stimuli, np.concatenate([split.test for split in rows])), neuroids
        measured = np.asarray(target.values)
        collected: list[PredictivityOfSplits] = []
        if self._pearson and min(tested_at_once) >= FEWEST:
            bins = measured.shape[2] if measured.ndim > 2 else 1
            names = unit_ids(stimuli, np.arange(len(target)) if stimuli.names is None else stimuli.names)
            collected = [
                PredictivityOfSplits(stimuli.codes, names=names, neuroid_names=neuroids.names) for _ in range(bins)
            ]
        tested = 0
        predictions: list[Any] = []
        alphas: list[Any] = []
        values: list[Any] = []
        if isinstance(self.correlation, XarrayCorrelation) and self.correlation.pairs_rows_of(self.regression):
            for split, fit in zip(rows, self.regression.cross_fit(source, target, rows), strict=True):
                predictions.append(fit.predicted)
                alphas.append(fit.alpha)
                values.append(self.correlation.correlate(fit.predicted, measured[split.test]))
                for bin_splits in collected:
                    left_out = fit.left_out if tested < _ENOUGH else None
                    bin_splits.add(
                        fit.predicted, measured[split.test], test=split.test, train=split.train, left_out=left_out
                    )
                tested += len(split.test)
            coords: dict[str, Any] = {"split": ("split", np.arange(len(rows)))} | coords_for_dim(target, "neuroid")
            raw = Score(np.stack(values), coords=coords, dims=["split", "neuroid"])
        else:
            for split, prediction in zip(rows, self.regression.cross_predict(source, target, rows), strict=True):
                predictions.append(prediction.values)
                alphas.append(prediction.attrs.get("alpha"))
                values.append(self.correlation(prediction, target.isel(presentation=split.test)))
                sides = [np.atleast_3d(side) for side in (prediction.values, measured[split.test])]
                for number, bin_splits in enumerate(collected):
                    bin_splits.add(*(side[:, :, number] for side in sides), test=split.test)
            raw = merge_splits(values)
        if all(alpha is not None for alpha in alphas):
            raw.attrs["alpha"] = [np.asarray(alpha, dtype=np.float64).tolist() for alpha in alphas]
            _remark_on_penalties(self.regression, alphas, raw)
        score = self.cross_validation.aggregate(raw, self.aggregate)
        reason = _too_few(tested_at_once, len(target)) if self._pearson else _OTHER_MEASURE
        score = self._finish(score, [bin_splits.result() for bin_splits in collected], units, reason)

        held_out = target.isel(presentation=np.concatenate([split.test for split in rows]))
        split_of = np.repeat(np.arange(len(rows)), [len(split.test) for split in rows])
        held_out = held_out.assign_coords(split=("presentation", split_of))
        held_out = with_groups(held_out, units[0], np.concatenate([split.test for split in rows]))
        predicted = held_out.copy(deep=False, data=np.concatenate(predictions))
        return amend_uncertainty(score, predictions=predicted, targets=held_out)

    def value(self, source: DataAssembly, target: DataAssembly) -> float:
        """The score alone, without its interval."""
        return float(self.cross_validation.aggregate(self.correlations(source, target), self.aggregate))

    def correlations(self, source: DataAssembly, target: DataAssembly) -> Score:
        """The raw values, split × neuroid, without an interval."""
        correlation, regression = self.correlation, self.regression
        known = isinstance(correlation, XarrayCorrelation) and isinstance(regression, XarrayRegression)
        plain = known and self.predicts == "recordings" and type(self).apply is CrossRegressedCorrelation.apply
        if not plain or not correlation.pairs_rows_of(regression):
            raw: Score = self(source, target).attrs[Score.RAW_VALUES_KEY]
            return raw
        rows = self.cross_validation.split_rows(source, target)
        measured = np.asarray(target.values)
        values = [
            correlation.correlate(fit.predicted, measured[split.test])
            for split, fit in zip(rows, regression.cross_fit(source, target, rows), strict=True)
        ]
        coords: dict[str, Any] = {"split": ("split", np.arange(len(rows)))} | coords_for_dim(target, "neuroid")
        return Score(np.stack(values), coords=coords, dims=["split", "neuroid"])

    def apply(
        self,
        source_train: DataAssembly,
        target_train: DataAssembly,
        source_test: DataAssembly,
        target_test: DataAssembly,
    ) -> Score:
        """Fit on one part, predict and correlate the other; one value a neuroid."""
        self.regression.fit(source_train, target_train)
        correlation: Score = self.correlation(self.regression.predict(source_test), target_test)
        return correlation

    def aggregate(self, scores: Score) -> Score:
        """Median over neuroids."""
        return _median_neuroid(scores)

    def _units(self, target: DataAssembly) -> tuple[Units, Units]:
        return units_of(target, self.stimulus_groups, self.neuroid_groups)

    def _finish(self, score: Score, results: Sequence[Predictivity], units: tuple[Units, Units], reason: str) -> Score:
        """Attach scale, error and interval; `results` has one result for each time bin, or `reason` says why none."""
        raw = score.attrs[Score.RAW_VALUES_KEY]
        score.attrs["scale"] = self.scale
        if score.ndim == 0 and "neuroid" in raw.dims and type(self).aggregate is CrossRegressedCorrelation.aggregate:
            attach_interval_over_units(score, raw, results, units, reason)
        return note_undefined(score, raw.values, what=_WHAT)


class SplitRegressedCorrelation(Metric):
    """Predictivity with training and test stimuli that the experiment fixed.

    - `regression`: maps features to responses.
    - `correlation`: ``correlation(prediction, target) -> Score`` with one value a neuroid.
    - `stimulus_groups`, `neuroid_groups`: as for :class:`CrossRegressedCorrelation`.

    As :class:`CrossRegressedCorrelation`, without splits: ``raw`` has one value a neuroid; its ``attrs['alpha']`` is
    the penalty, where the regression chooses one. ``error`` and ``ci`` are over new test stimuli and new neuroids; the
    fitted map is kept.
    """

    scale = "correlation"
    compares = "recordings"
    predicts = "recordings"
    needs_training = True

    def __init__(
        self,
        regression: XarrayRegression,
        correlation: Any,
        *,
        stimulus_groups: str | None = DECLARED,
        neuroid_groups: str | None = NEUROID_GROUPS,
    ) -> None:
        self.regression = regression
        self.correlation = correlation
        self.stimulus_groups = stimulus_groups
        self.neuroid_groups = neuroid_groups
        own = type(self) is SplitRegressedCorrelation
        self.from_products = own and bool(getattr(getattr(regression, "estimator", None), "from_products", False))

    def __call__(
        self,
        source_train: DataAssembly,
        source_test: DataAssembly,
        target_train: DataAssembly,
        target_test: DataAssembly,
    ) -> Score:
        """Fit on the training part, correlate predictions and measurements of the test part.

        `source_train`, `source_test`, `target_train`, `target_test` (NeuroidAssembly, presentation × neuroid): training
        parts hold the same ``stimulus_id``, and so do the test parts. Returns: median over neuroids, in [−1, 1].
        """
        shared = set(target_train["stimulus_id"].values) & set(target_test["stimulus_id"].values)
        if shared:
            warnings.warn(
                f"{len(shared)} stimuli are fitted and tested on, such as {listed(sorted(shared, key=repr))}",
                stacklevel=2,
            )
        self.regression.fit(source_train, target_train)
        prediction = self.regression.predict(source_test)
        raw = self.correlation(prediction, target_test)
        if "alpha" in prediction.attrs:
            raw.attrs["alpha"] = prediction.attrs.pop("alpha")
            _remark_on_penalties(self.regression, [raw.attrs["alpha"]], raw)
        score = Score(_median_neuroid(raw))
        tested = as_table(target_test, Defaults.expected_dims, role="target_test").copy()
        order = match_rows(prediction, tested, roles=("prediction", "target"))
        units = units_of(tested, self.stimulus_groups, self.neuroid_groups)
        score.attrs = {
            Score.RAW_VALUES_KEY: raw,
            "scale": self.scale,
            "predictions": with_groups(prediction, units[0], np.argsort(order)),
            "targets": with_groups(tested, units[0], np.arange(len(tested))),
        }
        pearson_of_rows = isinstance(self.correlation, XarrayCorrelation) and self.correlation.is_pearson
        if pearson_of_rows and len(tested) >= FEWEST:
            correlations = predictivity(prediction.values[order], tested.values, stimuli=units[0].codes)
            attach_predictivity_interval(
                score, correlations, stimuli=units[0], neuroids=units[1], fixed=" and so is the fitted map"
            )
        else:
            _remark_on_few_stimuli([len(tested)], len(tested))
            reason = _too_few([len(tested)], len(tested)) if pearson_of_rows else _OTHER_MEASURE
            attach_neuroid_interval(score, raw, reason=reason)
        return note_undefined(score, raw.values, what=_WHAT)


def pearsonr_correlation(xarray_kwargs: Mapping[str, Any] | None = None) -> XarrayCorrelation:
    """Pearson correlation of each neuroid; `xarray_kwargs` go to :class:`XarrayCorrelation`."""
    return XarrayCorrelation(pearson, columnwise=True, **(xarray_kwargs or {}))


def _median_neuroid(scores: Score) -> Score:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)  # NaN is the answer there
        return scores.median("neuroid")


def _remark_on_few_stimuli(tested: Sequence[int], stimuli: int) -> None:
    """Say that correlations over the test stimuli of a split are mostly chance."""
    if min(tested, default=FEWEST) >= FEWEST:
        return
    advice = "use more stimuli"
    if stimuli >= 2 * FEWEST:
        folds = min(len(tested), stimuli // FEWEST)
        advice += f", or test more of them in each split: crossvalidation_kwargs=dict(kfold=True, splits={folds})"
    remark(
        f"{_too_few(tested, stimuli)}: the correlation of two is 1 or −1, that of few mostly chance, scores come out "
        f"too high or too low, and the interval is about new neuroids for these stimuli only; {advice}"
    )


def _too_few(tested: Sequence[int], stimuli: int) -> str:
    if min(tested) == stimuli:
        return f"only {stimuli} stimuli are tested"
    return f"splits test only {min(tested)} of {stimuli} stimuli"


def _remark_on_penalties(regression: Any, chosen: Sequence[Any], raw: Score) -> None:
    """Say that a penalty at the end of the grid was chosen in most splits: the best one may lie beyond."""
    estimator = getattr(regression, "estimator", None)
    grid = getattr(estimator, "alphas", None)
    if grid is None or len(grid) < 2 or np.isnan(raw.values).all():
        return
    values = [np.ravel(alpha) for alpha in chosen]
    for end, value in (("largest", max(grid)), ("smallest", min(grid))):
        share = float(np.mean(np.concatenate(values) == value))
        if share <= _OFTEN:
            continue
        text = f"the {end} of {len(grid)} penalties, {value:g}, was chosen in {share:.0%} of the fits"
        if not getattr(estimator, "relative", False):
            text += (
                ": a penalty beyond might fit better, and the score depends on the unit of the features, which that of "
                "ridgecv_relative does not"
            )
        elif end == "largest":
            text += ": the features hardly predict the responses"
        else:
            text += ": the features predict the responses best without a penalty"
        remark(text)


def units_of(target: DataAssembly, stimulus_groups: str | None, neuroid_groups: str | None) -> tuple[Units, Units]:
    """Units of the target along stimuli and neuroids."""
    return (
        units_of_stimuli(target, stimulus_groups),
        units_along(target, "neuroid", neuroid_groups, default=NEUROID_GROUPS),
    )


def attach_interval_over_units(
    score: Score, raw: Score, found: Sequence[Predictivity], units: tuple[Units, Units], reason: str
) -> Score:
    """Attach the interval over stimuli and neuroids, or for a `reason` over neuroids alone."""
    if not found:
        return attach_neuroid_interval(score, raw, reason=reason)
    fixed = "" if found[0].training is not None else " and so are the fitted maps"
    return attach_predictivity_interval(score, found[0], stimuli=units[0], neuroids=units[1], fixed=fixed)
