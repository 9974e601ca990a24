"""The contract of benchmarks, and normalization of scores by ceilings."""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from statistics import NormalDist
from types import EllipsisType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from xarray import DataArray

from brainscore_core.formatting import as_html, as_text, estimate_text
from brainscore_core.metrics import (
    ABOVE_CEILING,
    Score,
    Uncertainty,
    amend_uncertainty,
    attach_uncertainty,
    declare_no_error,
    undetermined,
)
from brainscore_core.numerics.predictions import PredictivityOfUnits, predictivity_covariance
from brainscore_core.numerics.significance import Uncertain, ratio_limits
from brainscore_core.provenance import note, remark

if TYPE_CHECKING:
    from brainscore_core.benchmarks.measurements import Measurements
    from brainscore_core.figures import Plot

__all__ = [
    "Benchmark",
    "BenchmarkBase",
    "bound_score",
    "ceil_score",
    "explained_variance",
    "normalise",
    "note_undeclared",
    "undetermined",
]

_AVERAGED_DATA = (
    "a ceiling above 1 usually comes from measurements whose repetitions are already averaged: "
    "pass the assembly with its repetitions to the ceiling"
)


def ceil_score(score: Score, ceiling: Score | float) -> Score:
    """Divide a score by its ceiling.

    Parameters
    ----------
    score : Score
        A single value.
    ceiling : Score or float
        A single value > 0. A plain number counts as exact.

    Returns
    -------
    Score
        score / ceiling, with ``raw`` and ``ceiling`` in its attributes; ``ci`` by the profile limits of score and
        ceiling jointly (:func:`brainscore_core.numerics.ratio_limits`), which may be infinite; ``error`` by the delta
        method, NaN with a reason where a limit is infinite; ``influence`` if the score has it. Where the ceiling's
        interval includes 0, ``undetermined`` is the reason why the value says nothing. NaN in either operand gives NaN.

    Notes
    -----
    Score and ceiling count as independent, unless both tell how the same units influence them, in
    ``attrs['influence']`` and ``['further_influence']``, or, as regressions and their reliability do, in
    ``attrs['predictivity']``: then their covariance over all of these units is taken into account.

    Raises
    ------
    ValueError
        If the ceiling is not positive, or not a single value.

    Examples
    --------
    >>> float(ceil_score(Score(0.4), Score(0.8)))
    0.5
    """
    return _relative(score, ceiling, power=1)


def explained_variance(score: Score, ceiling: Score | float) -> Score:
    """Fraction of the explainable variance that a correlation explains: sign(r) · r² / reliability.

    A Spearman–Brown corrected reliability is already a fraction of variance, so it is not squared. A negative
    correlation stays negative: squaring alone would reward it.

    Parameters
    ----------
    score : Score
        A single correlation r.
    ceiling : Score or float
        A single reliability in (0, 1]. A plain number counts as exact.

    Returns
    -------
    Score
        With ``raw`` and ``ceiling`` in its attributes; ``error``, ``ci`` and ``undetermined`` as in
        :func:`ceil_score`.

    Raises
    ------
    ValueError
        If the ceiling is not in (0, 1], or not a single value.

    Examples
    --------
    >>> round(float(explained_variance(Score(0.65), Score(0.82))), 3)
    0.515
    >>> round(float(explained_variance(Score(-0.65), Score(0.82))), 3)
    -0.515
    """
    return _relative(score, ceiling, power=2)


def normalise(score: Score, ceiling: Score) -> Score:
    """Relate a score to its ceiling in the way that the score's scale and the ceiling's meaning require.

    ========================  =====================  ==========================
    ``score.attrs['scale']``  ``ceiling['meaning']``  result
    ========================  =====================  ==========================
    correlation               reliability            sign(r) · r² / reliability
    variance                  reliability            score / reliability
    any                       upper bound            score / ceiling
    any                       human-human            score / ceiling
    any                       none                   the score itself, unceiled
    ========================  =====================  ==========================

    Parameters
    ----------
    score : Score
        A single value.
    ceiling : Score
        A single value.

    Returns
    -------
    Score
        With ``raw``, ``ceiling``, ``error``, ``ci`` and ``scale`` (``'ceiled'`` or ``'unceiled'``).

    Raises
    ------
    ValueError
        If the scale or the meaning is not declared, or the two do not fit together.

    Examples
    --------
    >>> score, ceiling = Score(0.65), Score(0.82)
    >>> score.attrs["scale"], ceiling.attrs["meaning"] = "correlation", "reliability"
    >>> round(float(normalise(score, ceiling)), 3)
    0.515
    """
    scale, meaning = score.attrs.get("scale"), ceiling.attrs.get("meaning")
    if meaning is None:
        raise ValueError(
            "the ceiling does not declare its meaning; set ceiling.attrs['meaning'] to 'reliability', 'upper bound', "
            "'human-human' or 'none', or call ceil_score or explained_variance directly"
        )
    if scale not in {"correlation", "variance", "similarity", "accuracy"}:
        raise ValueError(
            f"the score's scale is {scale!r}; set score.attrs['scale'] to 'correlation', 'variance', 'similarity' or "
            "'accuracy', or call ceil_score or explained_variance directly"
        )
    if meaning == "none":
        return _unceiled(score, ceiling)
    if meaning in {"upper bound", "human-human"}:
        return ceil_score(score, ceiling)
    if meaning == "reliability":
        if scale == "correlation":
            return explained_variance(score, ceiling)
        if scale == "variance":
            return ceil_score(score, ceiling)
        raise ValueError(
            f"a {scale} cannot be related to a reliability, which is a fraction of variance; use a ceiling on the "
            f"scale of the {scale}, such as the {scale} of one person with the others"
        )
    raise ValueError(
        f"unknown ceiling meaning {meaning!r}; it must be 'reliability', 'upper bound', 'human-human' or 'none'"
    )


def bound_score(score: Score) -> Score:
    """Clamp a single score to [0, 1], in place.

    Parameters
    ----------
    score : Score
        Changed in place, and so is its interval. The original value and interval are kept in
        ``score.attrs['unclamped']`` and ``['unclamped_ci']``; NaN stays NaN. An interval that lies outside of [0, 1]
        would become a point, as if the score were known exactly: it is replaced by ``attrs['ci_reason']``. That a score
        is above its ceiling is also noted in the receipt.

    Returns
    -------
    Score
        The same object.

    Examples
    --------
    >>> score = bound_score(Score(-0.2))
    >>> float(score), score.attrs["unclamped"]
    (0.0, -0.2)
    >>> above = Score(1.94)
    >>> above.attrs["ci"] = (1.77, 2.14)
    >>> bound_score(above).attrs["ci_reason"]
    'above the ceiling: 1.940 (1.770–2.140) before it was limited to 1; does it predict noise?'
    """
    value = _require_scalar(score, "score")
    uncertainty = Uncertainty.of(score)
    if uncertainty.unclamped is None:
        uncertainty = replace(uncertainty, unclamped=value)
    if not math.isnan(value):
        score.values = np.array(_clamped(value))
    if uncertainty.ci is not None:
        low, high = uncertainty.ci
        clamped = (_clamped(low), _clamped(high))
        uncertainty = replace(uncertainty, ci=clamped, unclamped_ci=uncertainty.unclamped_ci or (low, high))
        point = clamped[0] == clamped[1] and low != high
        if uncertainty.undetermined is None and (point or low > 1 or high < 0):
            before = estimate_text(value, ci=(low, high), brief=True)
            if low >= 1:
                reason = f"{ABOVE_CEILING}: {before} before it was limited to 1; does it predict noise?"
                note("remark", text=reason)
            else:
                reason = f"below 0: {before} before it was limited to 0"
            uncertainty = replace(uncertainty, ci=(math.nan, math.nan), ci_reason=reason)
    score.attrs["uncertainty"] = uncertainty
    return score


def attach_ceiling(score: Score, raw: Score, ceiling: Score) -> Score:
    """Write raw value and ceiling into a score, in place; ``undetermined`` if the ceiling's interval includes 0."""
    score.attrs |= {"raw": raw, "ceiling": ceiling, "scale": "ceiled"}
    return amend_uncertainty(score, undetermined=undetermined(ceiling) or Uncertainty.of(score).undetermined)


def _relative(score: Score, ceiling: Score | float, *, power: int) -> Score:
    """The score, or its square with its sign, divided by the ceiling, with the errors of both."""
    ceiling = as_score(ceiling, "the ceiling")
    value, limit = _require_scalar(score, "score"), _require_scalar(ceiling, "ceiling")
    if limit <= 0:
        raise ValueError(
            f"the ceiling is {limit:.4g}: measurements that do not agree with themselves cannot rank models; "
            "check the labels of repetitions or subjects"
        )
    if power == 2 and limit > 1 + 1e-9:
        raise ValueError(f"the ceiling is {limit:.4g}, but a reliability cannot exceed 1; {_AVERAGED_DATA}")
    result = attach_ceiling(Score(math.copysign(abs(value) ** power, value) / limit), score, ceiling)
    slope = power * abs(value) ** (power - 1) / limit
    uncertainty = Uncertainty.of(score)
    influences = uncertainty.scaled(slope)
    amend_uncertainty(result, influence=influences.influence, further_influence=influences.further_influence)
    ceiling_error = Uncertainty.of(ceiling).standard_error
    limits = _limits_of_ceiling(score, ceiling)
    exact = limits.low == limits.high
    correlation = 0.0 if exact else _correlation(score, ceiling)
    of_score = slope * uncertainty.standard_error
    of_ceiling = 0.0 if math.isnan(ceiling_error) else -float(result) * ceiling_error / limit
    error = math.sqrt(max(of_score**2 + of_ceiling**2 + 2 * correlation * of_score * of_ceiling, 0.0))
    form: Any = "explained variance" if power == 2 else "ratio"
    interval = ratio_limits(Uncertain(value, *uncertainty.limits), limits, correlation=correlation, form=form)
    missing = uncertainty.reason or "the raw score has none"
    if math.isinf(interval[0]) or math.isinf(interval[1]):
        error, missing = math.nan, f"the limits are unbounded: {undetermined(ceiling)}"
    estimates = uncertainty.ci_estimates or "the raw score's sampling"
    estimates += "; ceiling taken as exact" if exact else "; with the ceiling's own uncertainty"
    if correlation:
        estimates += ", which varies with the score's"
    return attach_uncertainty(
        result,
        error=error,
        ci=interval,
        level=uncertainty.level,
        estimates=estimates,
        method=f"{uncertainty.ci_method or ''}, profile of score and ceiling",
        reason=missing,
    )


def _limits_of_ceiling(score: Score, ceiling: Score) -> Uncertain:
    """The ceiling with limits of the score's level; exact if it has neither interval nor error."""
    value, uncertainty = float(ceiling), Uncertainty.of(ceiling)
    low, high = uncertainty.limits
    quantile = _quantile(Uncertainty.of(score).level)
    if math.isnan(low) or math.isnan(high):
        half = 0.0 if math.isnan(uncertainty.standard_error) else quantile * uncertainty.standard_error
        return Uncertain(value, value - half, value + half)
    wider = quantile / _quantile(uncertainty.level)
    return Uncertain(value, value - wider * (value - low), value + wider * (high - value))


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _correlation(score: Score, ceiling: Score) -> float:
    """Correlation of score and ceiling over the units that both vary with; 0 if these are not known."""
    sides = [Uncertainty.of(side) for side in (score, ceiling)]
    predicted = [side.predictivity for side in sides]
    errors = np.nan_to_num([side.standard_error for side in sides])
    variances = np.zeros(2)
    if all(isinstance(side, PredictivityOfUnits) for side in predicted):
        covariance = predictivity_covariance(*predicted)
    else:
        ours, theirs = map(_influences, sides)
        pairs = [pair for first in ours for second in theirs if (pair := _matched(first, second)) is not None]
        covariance = sum(float(np.cov(*pair)[0, 1]) / len(pair[0]) for pair in pairs)
        for pair in pairs:
            variances += [values.var(ddof=1) / len(values) for values in pair]
    # a part of the variance may come from elsewhere, such as splits, and the covariance then does not
    spread = np.maximum(errors, np.sqrt(variances))
    if not (math.isfinite(covariance) and np.isfinite(spread).all() and spread.all()):
        return 0.0
    return min(1.0, max(-1.0, covariance / float(spread.prod())))


def _influences(uncertainty: Uncertainty) -> list[DataArray]:
    """Influence of each kind of units; of two crossed kinds, the means over the other one."""
    known = (uncertainty.influence, uncertainty.further_influence)
    means = []
    for influence in (influence for influence in known if isinstance(influence, DataArray)):
        for dim in influence.dims:
            mean = influence.mean([further_dim for further_dim in influence.dims if further_dim != dim])
            mean.attrs = influence.attrs
            means.append(mean)
    return means


def _matched(first: DataArray, second: DataArray) -> tuple[np.ndarray, np.ndarray] | None:
    """Influences of the same units, in the same order; None if the units differ."""
    names = sorted((name for name in first.coords if name in second.coords), key=str)
    if first.dims != second.dims or not names or not (first.attrs.get("paired", 1) and second.attrs.get("paired", 1)):
        return None
    ids = [list(zip(*(side[name].values.tolist() for name in names), strict=True)) for side in (first, second)]
    rows = {unit: row for row, unit in enumerate(ids[1])}
    n = len(ids[0])
    if len(rows) != len(ids[1]) or len(ids[1]) != n or set(rows) != set(ids[0]) or n < 2:
        return None
    return first.values, second.values[[rows[unit] for unit in ids[0]]]


def _unceiled(score: Score, ceiling: Score) -> Score:
    result = Score(float(score), attrs={"raw": score, "ceiling": ceiling, "scale": "unceiled"})
    result.attrs["uncertainty"] = Uncertainty.of(score)
    return result if "error" in result.attrs else declare_no_error(result, "the raw score has none")


def _clamped(value: float) -> float:
    return value if math.isnan(value) else min(1.0, max(0.0, value))


def as_score(value: Any, origin: str) -> Score:
    """Return `value` as a Score; a plain number becomes an exact Score.

    Any other value raises a TypeError that names its `origin`.
    """
    if isinstance(value, Score):
        return value
    if isinstance(value, Real | np.number) and not isinstance(value, bool):
        return declare_no_error(Score(float(value)), "given as a constant")
    raise TypeError(f"{origin} gave {type(value).__name__}; it must be a Score or a number")


def _require_scalar(score: Score, role: str) -> float:
    if score.size != 1:
        raise ValueError(
            f"the {role} has shape {score.shape}, but it must be a single value; aggregate it first, "
            "for example with .median('neuroid').mean('split')"
        )
    return float(score)


def note_undeclared(raw: Score, ceiling: Score) -> bool:
    """Say in a remark that a score will be squared because its scale or its ceiling's meaning is not declared.

    Returns
    -------
    bool
        Whether one of them is not declared.
    """
    undeclared = [
        f"the {role} does not declare its {name}"
        for role, name, attrs in (("metric", "scale", raw.attrs), ("ceiling", "meaning", ceiling.attrs))
        if attrs.get(name) is None
    ]
    if undeclared:
        remark(
            f"{' and '.join(undeclared)}: the score is taken as a correlation and the ceiling as a reliability, so "
            "that the result is sign(r) · r² / reliability; declare attrs['scale'] of scores and attrs['meaning'] of "
            "ceilings"
        )
    return bool(undeclared)


class Benchmark(ABC):
    """An experiment, a metric and a ceiling; called with a candidate model, it returns a score."""

    control: ClassVar[bool] = False
    """Whether this benchmark tests the method instead of the model; averages leave out such controls."""

    ungrouped_splits: str | None = None
    """Reason why splits may divide stimuli that are nearly equal or of one group, for the checks of new benchmarks."""

    @abstractmethod
    def __call__(self, candidate: Any) -> Score:
        """Run the experiment on `candidate` and compare it with the measurements.

        Raises NotApplicable if the candidate cannot do what the experiment requires.
        """

    def measurements(self) -> "Measurements | None":
        """What is measured and how models are compared with it; None if the benchmark does not say.

        Benchmarks that say it can be composed with other metrics, simulated, and assessed; nothing is loaded yet.
        """
        return None

    @property
    @abstractmethod
    def identifier(self) -> str:
        """Unique name, by convention ``AuthorYear[.subset]-metric``."""

    @property
    @abstractmethod
    def ceiling(self) -> Score:
        """The value that the best possible model would reach."""

    @property
    @abstractmethod
    def version(self) -> int | str:
        """Increases whenever a change to the benchmark changes scores."""

    @property
    @abstractmethod
    def parent(self) -> str | None:
        """The benchmark that groups this one in the leaderboard tree, such as ``'V1'`` or ``'behavior'``."""

    @property
    @abstractmethod
    def bibtex(self) -> str | None:
        """Citation of the measurements."""


class BenchmarkBase(Benchmark):
    """A benchmark with the usual attributes; a subclass implements ``__call__``.

    Parameters
    ----------
    identifier : str
        Unique name.
    ceiling_func : callable, optional
        Called without arguments, at most once, when the ceiling is first needed; returns a `Score` or a number.
    version : int or str
        Increases whenever a change to the benchmark changes scores.
    parent : str, optional
        The benchmark that groups this one in the leaderboard tree.
    bibtex : str, optional
        Citation of the measurements.
    ceiling : Score or None, optional
        In place of `ceiling_func`: the ceiling itself, or None for a benchmark without one.

    Raises
    ------
    TypeError
        If neither or both of `ceiling_func` and `ceiling` are passed, or the version is missing.

    Examples
    --------
    >>> class Half(BenchmarkBase):
    ...     def __init__(self):
    ...         super().__init__(identifier="Half2024-accuracy", version=1, ceiling_func=lambda: 0.5)
    ...     def __call__(self, candidate):
    ...         return ceil_score(Score(0.25), self.ceiling)
    >>> from brainscore_core.benchmarks import ceil_score
    >>> float(Half()(candidate=None))
    0.5
    """

    def __init__(
        self,
        identifier: str,
        ceiling_func: Callable[[], Score | float] | None = None,
        version: int | str | EllipsisType = ...,
        parent: str | None = None,
        bibtex: str | None = None,
        ceiling: Score | EllipsisType | None = ...,
    ) -> None:
        if version is ...:
            raise TypeError(f"benchmark {identifier!r}: pass its version, such as version=1")
        if ceiling is not ... and ceiling_func is not None:
            raise TypeError(f"benchmark {identifier!r}: pass ceiling_func or ceiling, not both")
        if ceiling is ... and not callable(ceiling_func):
            raise TypeError(
                f"benchmark {identifier!r}: ceiling_func must be a function without arguments, such as "
                f"`lambda: {ceiling_func!r}`"
            )
        self._identifier = identifier
        self._ceiling_func = ceiling_func
        self._version = version
        self._parent = parent
        self._bibtex = bibtex
        self._ceiling = None if ceiling is ... else ceiling

    @property
    def identifier(self) -> str:
        """Unique name."""
        return self._identifier

    @property
    def version(self) -> int | str:
        """Increases whenever a change to the benchmark changes scores."""
        return self._version

    @property
    def parent(self) -> str | None:
        """The benchmark that groups this one in the leaderboard tree."""
        return self._parent

    @property
    def bibtex(self) -> str | None:
        """Citation of the measurements."""
        return self._bibtex

    @property
    def ceiling(self) -> Score:
        """The value that the best possible model would reach; estimated once for this object."""
        if self._ceiling is None and self._ceiling_func is not None:
            self._ceiling = as_score(self._ceiling_func(), f"ceiling_func of benchmark {self.identifier!r}")
        return self._ceiling  # type: ignore[return-value]  # None only where the benchmark has no ceiling

    @property
    def estimated_ceiling(self) -> Score | None:
        """The ceiling if it was estimated before; else None."""
        return self._ceiling

    def plot(self, *, results: str | os.PathLike[str] | None = None) -> "Plot":
        """Draw the dissimilarities of the measured stimuli, the ceiling, and controls if they were assessed.

        Data and ceiling are loaded and estimated.

        Parameters
        ----------
        results : path, optional
            The store of results in which assessments are found; by default as for `brainscore assess`.
        """
        from brainscore_core.benchmarks.benchmark_display import benchmark_plot

        return benchmark_plot(self, results)

    def __repr__(self) -> str:
        from brainscore_core.benchmarks.benchmark_display import benchmark_rows, benchmark_title

        return as_text(benchmark_title(self), benchmark_rows(self))

    def _repr_html_(self) -> str:
        from brainscore_core.benchmarks.benchmark_display import benchmark_rows, benchmark_title

        return as_html(benchmark_title(self), benchmark_rows(self))
