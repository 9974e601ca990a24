"""Aggregation of scores over neuroids, subjects and animals, with their uncertainty."""

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import attach_ceiling, note_undeclared
from brainscore_core.metric_helpers.alignment import MetricInputError, listed
from brainscore_core.metric_helpers.uncertainty import (
    attach_influence,
    attach_interval,
    attach_jackknife,
    attach_neuroid_interval,
    over_splits,
)
from brainscore_core.metrics import Score, Uncertainty, amend_uncertainty, attach_uncertainty, unclamped_value
from brainscore_core.numerics import bootstrap_interval, mean_influence
from brainscore_core.plurals import counted, singular
from brainscore_core.populations import population, these
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim


def values_along(scores: Sequence[Score], labels: Sequence[Hashable], dim: str) -> Score:
    """Values of several scores along one dimension, before clamping."""
    coords: Any = {dim: (dim, np.asarray(labels, dtype=object if isinstance(labels[0], str) else None))}
    return Score([unclamped_value(score) for score in scores], coords=coords, dims=[dim])


def mean_of_fixed(scores: Sequence[Score], *, units: str) -> Score:
    """Mean of the scores of fixed units, such as the two animals of an experiment.

    The scores vary independently, with their own ``error`` and ``ci``; the units are not resampled. The interval is
    computed by the method of variance estimates recovery [1]_.

    `scores`: single values. `units`: name of the units, in the plural. Result: with ``error`` and ``ci``; NaN with a
    reason if one of `scores` has none. ``undetermined`` if one of them is.

    References
    ----------
    .. [1] Zou & Donner 2008, Statistics in Medicine, https://doi.org/10.1002/sim.3095
    """
    values = np.array([unclamped_value(score) for score in scores])
    result = Score(values.mean())
    uncertainties = [Uncertainty.of(score) for score in scores]
    errors = np.array([uncertainty.standard_error for uncertainty in uncertainties])
    limits = np.array([uncertainty.unclamped_limits for uncertainty in uncertainties])
    k = len(values)
    down, up = (float(np.linalg.norm(limits[:, side] - values) / k) for side in (0, 1))
    first = next((known for known in uncertainties if known.ci_estimates is not None), Uncertainty())
    reasons = [uncertainty.reason for uncertainty in uncertainties if uncertainty.reason]
    missing = bool(np.isnan(errors).any() or np.isnan(down) or np.isnan(up))
    doubts = [uncertainty.undetermined for uncertainty in uncertainties if uncertainty.undetermined]
    amend_uncertainty(result, undetermined=next(iter(doubts), None))
    return attach_uncertainty(
        result,
        error=float(np.linalg.norm(errors) / k),
        ci=None if math.isnan(down) or math.isnan(up) else (float(result) - down, float(result) + up),
        level=first.level,
        estimates=_of_fixed(first.ci_estimates or "", k, units),
        method=f"{first.ci_method or ''}, recovered variance",
        reason=(reasons[0] if reasons else f"one of the {units} has none") if missing else None,
    )


def _of_fixed(estimates: str, k: int, units: str) -> str:
    """Say over what the mean of fixed units generalises, from what the score of the first one says."""
    mean, unit = f"mean over {counted(k, units)}, each with its own interval", singular(units)
    if not (varied := population(estimates)):
        return f"{mean}; {estimates}" if estimates else mean
    details = estimates.partition(";")[2].strip()
    return f"{varied.replace(f' of {these(1, unit)}', '')} for {these(k, unit)}; {mean}; of the first: {details}"


def mean_of_sampled(values: Score, *, units: str, error: float | None = None, note: str = "") -> Score:
    """Mean over units that are a sample of a population, such as subjects (t interval).

    `values`: one value per unit. `units`: name of the units, in the plural. `error`: standard error, instead of that of
    the t interval. `note`: added to ``ci_estimates``.
    """
    numbers = np.asarray(values.values, dtype=np.float64)
    interval = bootstrap_interval(numbers, "mean", method="t", units=units)
    mean = Score(float(numbers.mean()))  # NaN if a unit has no value
    if numbers.ndim == 1 and not np.isnan(numbers).any():
        (dim,) = values.dims
        attach_influence(mean, mean_influence(numbers), units=str(dim), ids=values[dim].values)
    return attach_interval(mean, interval, units=units, estimates=f"mean over {units}{note}", error=error)


def mean_over_subjects(
    values: NDArray[np.float64], subjects: Sequence[str], *, shown: str, reason: str | None = None
) -> Score:
    """Mean similarity of a model to subjects (t interval), with the values of each in ``attrs['raw']``.

    `shown`: the stimuli for which the interval holds, such as ``'24 stimuli'``. `reason`: why there is no interval.
    """
    score = Score(values.mean())
    each = Score(values, coords={"subject": ("subject", list(subjects))}, dims=["subject"])
    score.attrs.update({Score.RAW_VALUES_KEY: each, "scale": "similarity"})
    attach_influence(score, mean_influence(values), units="subjects", ids=subjects)
    interval = bootstrap_interval(values, "mean", method="t", units="subjects")
    if reason is not None:
        interval = interval._replace(reason=reason)
    return attach_interval(score, interval, units=f"subjects for these {shown}", estimates="mean correlation")


def agreement_of_subjects(
    values: NDArray[np.float64],
    compare: Callable[[NDArray[np.float64], NDArray[np.float64]], float],
    subjects: Any,
    *,
    scale: str = "similarity",
    shown: str = "stimuli",
    estimates: str = "correlation of a subject with the others",
) -> Score:
    """Mean similarity of each subject's values (a row) to the mean of all others', as a ceiling.

    Missing values are left out of means, and subjects whose similarity is undefined, too. ``error`` and ``ci`` are from
    the jackknife over subjects.
    """

    def with_others(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        known = ~np.isnan(rows)
        filled = np.where(known, rows, 0.0)
        others = known.sum(axis=0) - known
        with np.errstate(invalid="ignore"):
            means = np.where(others > 0, (filled.sum(axis=0) - filled) / np.maximum(others, 1), np.nan)
        return np.array([compare(*pair) for pair in zip(rows, means, strict=True)])

    def mean(each: NDArray[np.float64]) -> float:
        return float(np.mean(each[~np.isnan(each)])) if not np.isnan(each).all() else math.nan

    each = with_others(values)
    score = Score(mean(each))
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(each, coords={"subject": ("subject", subjects)}, dims=["subject"]),
        "scale": scale,
        "meaning": "human-human",
        "undefined": int(np.isnan(each).sum()),
    }
    return attach_jackknife(
        score,
        lambda: [mean(with_others(np.delete(values, row, axis=0))) for row in range(len(values))],
        subjects=subjects,
        units=f"subjects for these {shown}",
        low=-math.inf,
        high=math.inf,
        estimates=estimates,
    )


def constant_ceiling(
    value: float, *, error: float | None = None, meaning: str = "human-human", reason: str | None = None
) -> Score:
    """A ceiling that was published as a number.

    `value`: the ceiling. `error`: its published error. `meaning`: ``'human-human'``, ``'reliability'`` or ``'upper
    bound'``. `reason`: why the error is unknown, if it is.

    Examples
    --------
    >>> constant_ceiling(0.883, error=0.078).attrs["error"]
    0.078
    """
    score = Score(value)
    score.attrs["meaning"] = meaning
    if error is not None:
        reason = "the ceiling was published as a number with its error alone"
    return attach_uncertainty(
        score, error=error, reason=reason or "the ceiling was published as a number without an error"
    )


def concatenate_neuroids(arrays: Sequence[Any]) -> DataAssembly | None:
    """Join arrays of several groups of neuroids; None if one has no neuroids."""
    import xarray as xr

    if any("neuroid" not in getattr(array, "dims", ()) for array in arrays):
        return None
    return xr.concat(arrays, dim="neuroid", combine_attrs="drop")


def neuroid_wise_explained_var(score: Score, ceiling: Score, aggregate_func: Callable[..., Any] = np.mean) -> Score:
    """Explained variance of each neuroid relative to its own ceiling, then aggregated.

    Parameters
    ----------
    score : Score
        Its ``raw`` has one correlation per neuroid (splits are averaged).
    ceiling : Score
        With one reliability per neuroid in its ``raw`` (splits are averaged), or itself one value per neuroid.
    aggregate_func : callable
        Aggregates the neuroids' values to a number.

    Returns
    -------
    Score
        Aggregate of sign(r) · r² / reliability. ``attrs['ceiled_scores']``: one value per neuroid, NaN if correlation
        or reliability is undefined or the reliability is not positive; the aggregate leaves these out, and
        ``attrs['undefined']`` is their number. ``raw``, ``ceiling``; ``error`` and ``ci`` with neuroids resampled;
        ``undetermined`` if the interval of `ceiling` includes 0.

    Raises
    ------
    MetricInputError
        If there are no values per neuroid, or not of the same neuroids in the same order; if the score declares another
        scale than ``'correlation'``, or the ceiling another meaning than ``'reliability'``. A remark says so if they
        declare nothing.

    Examples
    --------
    >>> def of_neuroids(*values):
    ...     score = Score(np.median(values))
    ...     score.attrs |= {"scale": "correlation", "meaning": "reliability"}
    ...     score.attrs["raw"] = Score(list(values), dims=["neuroid"], coords={"neuroid_id": ("neuroid", ["n0", "n1"])})
    ...     return score
    >>> round(float(neuroid_wise_explained_var(of_neuroids(0.5, 0.6), of_neuroids(0.5, 0.9))), 6)
    0.45
    """
    note_undeclared(score, ceiling)
    scale, meaning = score.attrs.get("scale"), ceiling.attrs.get("meaning")
    if scale not in {None, "correlation"} or meaning not in {None, "reliability"}:
        raise MetricInputError(
            f"the score's scale is {scale!r} and the ceiling's meaning {meaning!r}; only a correlation of a neuroid is "
            "squared and divided by its reliability",
            remedy="use a correlation and a reliability, or relate the aggregated score to an aggregated ceiling",
        )
    raw, ceilings = _neuroid_values(score, "score"), _neuroid_values(ceiling, "ceiling")
    _check_same_neuroids(raw, ceilings)
    r, reliability = (np.asarray(side.values, dtype=np.float64) for side in (raw, ceilings))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(reliability > 0, np.copysign(r**2, r) / reliability, np.nan)
    defined = values[~np.isnan(values)]
    result = Score(float(aggregate_func(defined)) if defined.size else np.nan)
    attach_ceiling(result, score, ceiling)
    result.attrs |= {
        "ceiled_scores": Score(values, coords=coords_for_dim(raw, "neuroid"), dims=["neuroid"]),
        "undefined": int(np.isnan(values).sum()),
    }
    interval = bootstrap_interval(defined, _statistic(aggregate_func), units="neuroids")
    return attach_interval(
        result, interval, units="neuroids for these stimuli", estimates="explained variance over neuroids"
    )


def ceiling_of_neuroids(ceiling: Score, coord: str, value: Any) -> Score:
    """Ceiling of the neuroids with a given value of a coordinate.

    `ceiling`: its ``raw`` has one value per neuroid, perhaps for each of several splits. `coord`: coordinate of the
    neuroids. `value`: value of the coordinate. Result: mean over splits of the median over these neuroids, with
    ``raw``, ``error`` and ``ci``, and the meaning of `ceiling`. A MetricInputError if the ceiling has no values per
    neuroid, or they lack the coordinate.
    """
    raw = ceiling.attrs.get(Score.RAW_VALUES_KEY)
    if raw is None or "neuroid" not in getattr(raw, "dims", ()) or coord not in raw.coords:
        raise MetricInputError(
            f"the ceiling has no values per neuroid with the coordinate {coord!r} in its attrs['raw']",
            remedy="use a ceiling that keeps them, such as load_ceiling('internal_consistency'), or leave alpha_coord "
            "out",
        )
    raw = raw.isel(neuroid=np.flatnonzero(np.asarray(raw[coord].values) == value))
    if "split" in raw.dims:
        value_of_all, spread = over_splits(_median(raw).values)
    else:
        value_of_all, spread = float(_median(raw)), None
    selected = Score(value_of_all)
    selected.attrs = {Score.RAW_VALUES_KEY: raw}
    if "meaning" in ceiling.attrs:
        selected.attrs["meaning"] = ceiling.attrs["meaning"]
    return attach_neuroid_interval(amend_uncertainty(selected, split_error=spread), raw)


def _median(raw: Score) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)  # the result is NaN
        return raw.median("neuroid")


def _neuroid_values(score: Score, role: str) -> DataAssembly:
    values = score.attrs.get(Score.RAW_VALUES_KEY, score)
    if "neuroid" not in getattr(values, "dims", ()):
        raise MetricInputError(
            f"the {role} has no values per neuroid in its attrs['raw']",
            remedy="use a metric and a ceiling that keep them, such as 'ridgecv_split' and 'internal_consistency'",
        )
    dims = [dim for dim in values.dims if dim != "neuroid"]
    if dims:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)  # the result is NaN
            values = values.mean(dims)
    return values


def _check_same_neuroids(raw: DataAssembly, ceilings: DataAssembly) -> None:
    if raw.sizes["neuroid"] != ceilings.sizes["neuroid"]:
        raise MetricInputError(
            f"the score has {raw.sizes['neuroid']} neuroids, the ceiling {ceilings.sizes['neuroid']}",
            remedy="filter neuroids in the same way for both",
        )
    ours, theirs = coords_for_dim(raw, "neuroid"), coords_for_dim(ceilings, "neuroid")
    for name in [name for name in ours if name in theirs]:
        pairs = zip(ours[name].values, theirs[name].values, strict=True)
        # missing values count as equal
        different = [pair for pair in pairs if pair[0] != pair[1] and not (pair[0] != pair[0] and pair[1] != pair[1])]
        if different:
            raise MetricInputError(
                f"score and ceiling hold different neuroids, or the same in another order: {name!r} is "
                f"{listed([different[0][0]])} in the score and {listed([different[0][1]])} in the ceiling",
                remedy="compute both from the same recordings, filtered in the same way",
            )


def _statistic(aggregate_func: Callable[..., Any]) -> Any:
    named: dict[Any, str] = {np.mean: "mean", np.nanmean: "mean", np.median: "median", np.nanmedian: "median"}
    if aggregate_func in named:
        return named[aggregate_func]

    def along(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.apply_along_axis(aggregate_func, axis, values)

    return along
