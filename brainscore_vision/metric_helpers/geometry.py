"""Helpers for metrics that compare the geometry of two representations."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metrics import Metric, Score, attach_uncertainty
from brainscore_core.numerics import Interval, Similarity, influence_interval
from brainscore_core.numerics.resampling import SMALL
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.alignment import (
    MetricInputError,
    also_named,
    as_table,
    finite_values,
    match_rows,
)
from brainscore_vision.metric_helpers.transformations import TestOnlyCrossValidation, merge_splits
from brainscore_vision.metric_helpers.uncertainty import attach_influence, attach_interval

__all__ = ["CrossValidatedGeometry", "GeometryMetric", "Matched", "geometry_score", "matched", "numbered"]

Array = NDArray[np.float64]

_DIMS = ("presentation", "neuroid")


class Matched(NamedTuple):
    """Two recordings of the same stimuli.

    Attributes
    ----------
    source, target : DataAssembly, presentation × neuroid
        Each in its own order.
    X, Y : array, stimuli × neuroids
        Finite values of source and target, both in the source's order: wide features stay where they are.
    order : array
        Rows of the two in the target's order.
    """

    source: DataAssembly
    target: DataAssembly
    X: NDArray
    Y: NDArray
    order: NDArray[np.intp]


def matched(source: DataAssembly, target: DataAssembly, *, fewest: int, what: str) -> Matched:
    """Match two recordings by ``stimulus_id``.

    Raises
    ------
    MetricInputError
        If the two hold different stimuli, a stimulus twice, NaN, or fewer than `fewest` stimuli for `what`.
    """
    source, target = (as_table(a, _DIMS, role=role) for a, role in ((source, "source"), (target, "target")))
    order = match_rows(source, target)
    if len(order) < fewest:
        raise MetricInputError(
            f"{len(order)} stimuli are too few for {what}", remedy=f"use at least {fewest} stimuli"
        )  # fmt: skip
    Y = finite_values(target, role="target")
    X = finite_values(source, role="source")
    in_source_order = np.empty_like(Y)
    in_source_order[order] = Y
    return Matched(source, target, X, in_source_order, order)


def numbered(assembly: DataAssembly) -> NDArray[np.intp]:
    """Rank of each presentation by ``stimulus_id``, so that groups of stimuli do not depend on any other order."""
    return np.argsort(np.argsort(assembly["stimulus_id"].values.astype(str), kind="stable"))


def geometry_score(
    similarity: Similarity,
    pair: Matched,
    *,
    estimates: str,
    names: Mapping[str, str],
    interval: Interval | None = None,
    varies: str = "stimuli vary, neuroids are kept",
    enough: int = SMALL,
) -> Score:
    """A similarity with its interval over stimuli, and ``attrs['influence']`` in the target's order.

    The interval is around the value minus its bias (``attrs['bias']``), and need not contain the score.

    Parameters
    ----------
    similarity : Similarity
        Its influence is in the source's order.
    pair : Matched
        What was compared.
    estimates : str
        What the value is.
    names : mapping
        What the parts of a reason are called for users.
    interval : Interval, optional
        Used instead of the interval from the influence.
    varies : str
        What the interval lets vary.
    enough : int
        Stimuli below which a bias cannot be corrected, so that there is no interval.
    """
    score = Score(similarity.value)
    score.attrs[Score.RAW_VALUES_KEY] = Score(similarity.value)
    score.attrs["scale"] = "similarity"
    score.attrs["bias"] = similarity.bias
    _attach_influence(score, similarity.influence[pair.order], pair.target)
    if interval is None:
        centre = _clip_correlation(similarity.value - similarity.bias)
        interval = influence_interval(centre, similarity.influence, correlation=True)
        if interval.reason is not None:
            interval = interval._replace(reason="too few stimuli, or undefined when one of them is left out")
    if similarity.reason is not None:
        reason = similarity.reason
        for numeric, name in names.items():
            reason = reason.replace(numeric, name)
        interval = interval._replace(reason=reason)
    interval = _if_enough(interval, similarity.bias, enough)
    return attach_interval(score, interval, estimates=f"{estimates}; {varies}")


class GeometryMetric(Metric):
    """Compares matrices of all pairs of stimuli: dissimilarities or kernels.

    Attributes
    ----------
    fewest : int
        Stimuli that are needed.
    what : str
        Name of the geometry in messages.
    estimates : str
        What the value is, for ``attrs['ci_estimates']``.
    names : mapping
        What the parts of a reason are called for users.
    """

    scale = "similarity"
    fewest: int
    what: str
    estimates: str
    names: Mapping[str, str]

    @abstractmethod
    def geometry(self, X: NDArray) -> Array:
        """Stimuli × stimuli matrix of the rows of X; selecting stimuli must select the same entries of the matrix."""

    @abstractmethod
    def compare(self, first: Array, second: Array) -> Similarity:
        """Similarity of two matrices of the same stimuli."""

    @also_named(assembly1="source", assembly2="target")
    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare the geometries of `source` and `target`.

        Parameters
        ----------
        source, target : NeuroidAssembly, presentation × neuroid
            With the same ``stimulus_id``, in any order, each once.

        Returns
        -------
        Score
            At most 1; NaN with a reason where undefined.

        Raises
        ------
        MetricInputError
            If the two hold different stimuli, a stimulus twice, NaN, or too few stimuli.
        """
        pair = matched(source, target, fewest=self.fewest, what=self.what)
        similarity = self.compare(self.geometry(pair.X), self.geometry(pair.Y))
        return geometry_score(similarity, pair, estimates=self.estimates, names=self.names)


class CrossValidatedGeometry(Metric):
    """Apply a geometry metric, which fits nothing, to the test part of each split of the stimuli.

    Each test part holds 90 % of the stimuli (``test_size=0.9``), as on the existing platform, whose comment speaks of
    leaving out 10 %. The parts overlap, so the published spread (``split_error``: standard deviation over splits,
    ddof 0, over √splits) tells how much the score depends on a tenth of the stimuli, and is far below the standard
    error.

    Parameters
    ----------
    metric : GeometryMetric
        Its matrices are computed once for all splits.
    crossvalidation_kwargs : mapping, optional
        Arguments of :class:`~brainscore_vision.metric_helpers.transformations.TestOnlyCrossValidation`; takes the
        place of ``test_size=0.9`` if it contains `train_size`, `test_size` or `kfold`.
    """

    scale = "similarity"

    def __init__(self, metric: GeometryMetric, *, crossvalidation_kwargs: Mapping[str, Any] | None = None) -> None:
        self._metric = metric
        options = dict(crossvalidation_kwargs or {})
        if not {"train_size", "test_size", "kfold"} & options.keys():
            options["test_size"] = 0.9
        self._cross_validation = TestOnlyCrossValidation(**options)

    @also_named(assembly1="source", assembly2="target")
    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare `source` and `target` in each split.

        Parameters
        ----------
        source, target : NeuroidAssembly, presentation × neuroid
            With the same ``stimulus_id``, in any order, each once; ``object_name`` of the target stratifies.

        Returns
        -------
        Score
            Mean over splits. ``raw`` (split), ``split_error`` as published, ``error``, ``ci`` and ``influence``
            over stimuli; NaN splits are left out and counted in ``attrs['undefined']``.

        Raises
        ------
        MetricInputError
            As the metric itself; also if a split's test part has too few stimuli.
        """
        metric = self._metric
        pair = matched(source, target, fewest=metric.fewest, what=metric.what)
        splits = [rows.test for rows in self._cross_validation.split_rows(pair.source, pair.target)]
        smallest = min(len(test) for test in splits)
        if smallest < metric.fewest:
            raise MetricInputError(
                f"a split tests {smallest} stimuli, too few for {metric.what}",
                remedy=f"use more stimuli or a larger test_size, so that each split has at least {metric.fewest}",
            )
        first, second = metric.geometry(pair.X), metric.geometry(pair.Y)
        values, influences, reasons, biases = [], [], [], []
        for test in splits:
            rows = np.ix_(pair.order[test], pair.order[test])
            similarity = metric.compare(first[rows], second[rows])
            values.append(Score(similarity.value))
            reasons.append(similarity.reason)
            biases.append(similarity.bias)
            influence = np.zeros(len(pair.order))
            influence[test] = similarity.influence / len(test)
            influences.append(influence)
        score = self._cross_validation.aggregate(merge_splits(values))
        score.attrs["scale"] = self.scale
        undefined = np.isnan(score.attrs[Score.RAW_VALUES_KEY].values)
        score.attrs["undefined"] = int(undefined.sum())
        if undefined.all():
            reason = str(reasons[0])
            for numeric, name in metric.names.items():
                reason = reason.replace(numeric, name)
            return attach_uncertainty(score, reason=f"undefined in every split: {reason}")
        # a stimulus contributes to all splits that test it
        influence = np.mean([i for i, none in zip(influences, undefined, strict=True) if not none], axis=0)
        influence *= len(influence)
        score.attrs["bias"] = float(np.mean([b for b, none in zip(biases, undefined, strict=True) if not none]))
        _attach_influence(score, influence, pair.target)
        interval: Interval = influence_interval(
            _clip_correlation(float(score) - score.attrs["bias"]), influence, correlation=True
        )
        if interval.reason is not None:
            interval = interval._replace(reason="too few stimuli, or undefined when one of them is left out")
        interval = _if_enough(interval, score.attrs["bias"])
        return attach_interval(
            score,
            interval,
            estimates=f"{metric.estimates} (mean over splits); stimuli vary, neuroids and splits are kept",
        )


def _if_enough(interval: Interval, bias: float, enough: int = SMALL) -> Interval:
    """Remove the limits of a biased value if there are too few stimuli to estimate the bias."""
    if bias == 0 or interval.n >= enough or interval.reason is not None:
        return interval
    reason = f"{interval.n} stimuli: at least {enough} are needed to correct the value's bias"
    return interval._replace(low=math.nan, high=math.nan, reason=reason)


def _clip_correlation(value: float) -> float:
    return min(max(value, -1.0), 1.0)


def _attach_influence(score: Score, influence: Array, target: DataAssembly) -> None:
    attach_influence(
        score, influence, units="stimuli", ids=target["stimulus_id"].values, bias=float(score.attrs["bias"])
    )
