"""One value for the correlations, and one for the reliabilities, of several time bins."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.uncertainty import attach_interval
from brainscore_core.metrics import Ceiling, Metric, Score, attach_uncertainty
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

_Transform = Callable[[NDArray[Any]], NDArray[Any]]


class ExplainedOverTime(Metric):
    """Mean over time bins of the share of variance that a correlation explains, sign(r)·r².

    `metric`: gives one correlation a time bin; its ``raw`` is split × neuroid × time_bin. Such as ``'spantime_pls'``.

    Notes
    -----
    A bin in which the correlation is undefined, as nothing varies there, counts as 0 explained; where all are, the
    result is NaN. ``error`` is the standard error over splits (ddof 0), ``ci`` an interval with neuroids resampled;
    a neuroid's time bins stay together. ``raw``: the metric's own score, with one value a time bin.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare `source` with `target`, both presentation × neuroid × time_bin."""
        score = _over_time(self._metric(source, target), lambda r: np.sign(r) * r**2, "explained variance")
        score.attrs["scale"] = "variance"
        return score


class CeilingOverTime(Ceiling):
    """Mean over time bins of the reliability.

    `ceiling`: gives one reliability a time bin. Such as ``'internal_consistency_temporal'``.

    Notes
    -----
    ``error``, ``ci``, ``raw`` and undefined bins as in :class:`ExplainedOverTime`.
    """

    meaning = "reliability"

    def __init__(self, ceiling: Callable[[DataAssembly], Score]) -> None:
        self._ceiling = ceiling

    def __call__(self, assembly: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        """Estimate the reliability of `assembly`, presentation × neuroid × time_bin with repetitions."""
        score = _over_time(self._ceiling(assembly), lambda reliability: reliability, "reliability")
        score.attrs["meaning"] = self.meaning
        return score


def _over_time(per_bin: Score, transform: _Transform, what: str) -> Score:
    from brainscore_core.numerics import bootstrap_interval

    raw = per_bin.attrs[Score.RAW_VALUES_KEY].transpose("split", "time_bin", "neuroid").values
    raw = np.asarray(raw, dtype=np.float64)
    score = Score(np.nan)
    score.attrs[Score.RAW_VALUES_KEY] = per_bin
    if np.isnan(raw).all():
        return attach_uncertainty(score, reason="it is undefined in every time bin: nothing varies there")

    def pooled(values: NDArray[Any], axis: int) -> NDArray[Any]:
        """From split × time bin × resample × neuroid to one value a resample."""
        return np.asarray(transform(_median(values).mean(axis=0)).mean(axis=0))

    def of(splits: NDArray[Any]) -> float:
        return float(pooled(splits[:, :, np.newaxis], -1)[0])

    score.values = np.array(of(raw))
    each = [of(split[np.newaxis]) for split in raw]
    return attach_interval(
        score,
        bootstrap_interval(raw, pooled, units="neuroids"),
        units="neuroids for these stimuli",
        estimates=f"mean {what} over time bins; splits are kept",
        error=float(np.std(each) / np.sqrt(len(each))),
    )


def _median(values: NDArray[Any]) -> NDArray[Any]:
    """Median over neuroids, the last axis; 0 where it is undefined."""
    from brainscore_core.numerics.resampling import median

    return np.nan_to_num(median(values, -1), nan=0.0)
