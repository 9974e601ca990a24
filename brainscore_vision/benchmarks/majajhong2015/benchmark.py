"""Predictivity of recordings in V4 and IT (Majaj, Hong et al. 2015)."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.uncertainty import attach_interval
from brainscore_core.metrics import Ceiling, Metric, Score, attach_uncertainty
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.measurements import of_region, require_coords, single_time_bin
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    average_repetition,
    benchmark_of_repetitions,
)

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


VISUAL_DEGREES: Final = 8
NUMBER_OF_TRIALS: Final = 50
VERSION: Final = 4
BIBTEX = read_citation(__file__)

_CROSS_VALIDATION: Final = {"stratification_coord": "object_name"}


def pls_benchmark(region: str, access: str) -> NeuralBenchmark:
    """Predict mean rates 70–170 ms after onset by PLS regression; the ceiling is their reliability.

    `region`: ``'V4'`` or ``'IT'``. `access`: ``'public'`` (images with little variation) or ``'private'`` (with much).
    """
    metric = load_metric("pls", crossvalidation_kwargs=_CROSS_VALIDATION)
    return _benchmark(region, access, metric, load_ceiling("internal_consistency"))


def temporal_benchmark(region: str, access: str, *, time_interval: int) -> NeuralBenchmark:
    """Predict the time course of responses with one PLS regression for all time bins.

    `region`: ``'V4'`` or ``'IT'``. `access`: ``'public'`` or ``'private'``. `time_interval`: width of the time bins in
    milliseconds; the first starts at stimulus onset.

    Notes
    -----
    The published implementation's result has one value a time bin, r²/ceiling. Here the score is one value: the mean
    over time bins of sign(r)·r², divided by the mean of the reliabilities, so that bins in which nothing is reliable,
    such as those before responses begin, neither dominate nor have to be left out. The correlations a time bin are
    ``score.attrs['raw'].attrs['raw']``, the reliabilities ``score.attrs['ceiling'].attrs['raw']``.
    """
    metric = ExplainedOverTime(load_metric("spantime_pls", crossvalidation_kwargs=_CROSS_VALIDATION))
    ceiling = CeilingOverTime(load_ceiling("internal_consistency_temporal"))
    return _benchmark(region, access, metric, ceiling, time_interval=time_interval)


def _benchmark(
    region: str, access: str, metric: Metric, ceiling: Ceiling, *, time_interval: int | None = None
) -> NeuralBenchmark:
    return benchmark_of_repetitions(
        lambda: load_assembly(average_repetitions=False, region=region, access=access, time_interval=time_interval),
        metric,
        ceiling,
        identifier=f"MajajHong2015.{region}{'.public' if access == 'public' else ''}-pls",
        version=VERSION,
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=NUMBER_OF_TRIALS,
        parent=region,
        bibtex=BIBTEX,
    )


def DicarloMajajHong2015V4PLS() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``MajajHong2015.V4-pls``."""
    return pls_benchmark("V4", "private")


def DicarloMajajHong2015ITPLS() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``MajajHong2015.IT-pls``."""
    return pls_benchmark("IT", "private")


def MajajHongV4PublicBenchmark() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``MajajHong2015public.V4-pls``."""
    return pls_benchmark("V4", "public")


def MajajHongITPublicBenchmark() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``MajajHong2015public.IT-pls``."""
    return pls_benchmark("IT", "public")


def load_assembly(
    average_repetitions: bool, region: str, access: str = "private", time_interval: int | None = None
) -> DataAssembly:
    """Recordings of one region.

    `average_repetitions`: whether to average over the repetitions of each stimulus. `region`: ``'V4'`` or ``'IT'``.
    `access`: ``'public'`` or ``'private'``. `time_interval`: width of time bins in milliseconds, from 0 to before the
    last one ends; by default the mean of 70–170 ms. Result: presentation × neuroid, with `time_interval` × time_bin. A
    UserError if the data are not as they should be; names data set, file and coordinate.
    """
    temporal = time_interval is not None
    assembly = load_dataset(f"MajajHong2015.temporal.{access}" if temporal else f"MajajHong2015.{access}")
    needed = {"stimulus_id": "presentation", "object_name": "presentation", "repetition": "presentation"}
    require_coords(assembly, needed)
    assembly = of_region(assembly, region)
    assembly = single_time_bin(assembly) if time_interval is None else _in_bins(assembly, time_interval)
    return average_repetition(assembly) if average_repetitions else assembly


def _in_bins(assembly: DataAssembly, width: int) -> DataAssembly:
    from brainscore_vision.model_helpers.brain_transformation.temporal import assembly_time_align

    last = int(assembly["time_bin_end"].values.max()) - width
    aligned = assembly_time_align(assembly, [(start, start + width) for start in range(0, last, width)])
    aligned.attrs = dict(assembly.attrs)
    return aligned
