"""The contract of benchmarks, and normalization of scores by ceilings."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from brainscore_core.metrics import INFLUENCE_KEYS, Score, attach_uncertainty, declare_no_error, scale_influence

__all__ = ["Benchmark", "BenchmarkBase", "bound_score", "ceil_score", "explained_variance", "normalise"]

_AVERAGED_DATA = (
    "a ceiling above 1 usually comes from measurements whose repetitions are already averaged: "
    "pass the assembly with its repetitions to the ceiling"
)

_STEP = 1e-4
"""For slopes."""


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
        score / ceiling, with ``raw`` and ``ceiling`` in its attributes; ``error`` by the delta method, ``ci`` from the
        two intervals by the method of variance estimates recovery [1]_; ``influence`` if the score has it. NaN in
        either operand gives NaN.

    Raises
    ------
    ValueError
        If the ceiling is not positive, or not a single value.

    References
    ----------
    .. [1] Zou & Donner 2008, Statistics in Medicine, https://doi.org/10.1002/sim.3095

    Examples
    --------
    >>> float(ceil_score(Score(0.4), Score(0.8)))
    0.5
    """
    return _relative(score, ceiling, _ratio, _ratio_error)


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
        With ``raw`` and ``ceiling`` in its attributes; ``error`` and ``ci`` as in :func:`ceil_score`.

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
    return _relative(score, ceiling, _signed_square_ratio, _signed_square_ratio_error)


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
        ``score.attrs['unclamped']`` and ``['unclamped_ci']``; NaN stays NaN.

    Returns
    -------
    Score
        The same object.

    Examples
    --------
    >>> score = bound_score(Score(-0.2))
    >>> float(score), score.attrs["unclamped"]
    (0.0, -0.2)
    """
    value = _require_scalar(score, "score")
    score.attrs.setdefault("unclamped", value)
    if not math.isnan(value):
        score.values = np.array(_clamped(value))
    if "ci" in score.attrs:
        score.attrs.setdefault("unclamped_ci", score.attrs["ci"])
        low, high = score.attrs["ci"]
        score.attrs["ci"] = (_clamped(low), _clamped(high))
    return score


def _relative(
    score: Score,
    ceiling: Score | float,
    value_of: Callable[[float, float], float],
    error_of: Callable[[float, float, float, float], float],
) -> Score:
    ceiling = as_score(ceiling, "the ceiling")
    value, limit = _require_scalar(score, "score"), _require_scalar(ceiling, "ceiling")
    if limit <= 0:
        raise ValueError(
            f"the ceiling is {limit:.4g}: measurements that do not agree with themselves cannot rank models; "
            "check the labels of repetitions or subjects"
        )
    if value_of is _signed_square_ratio and limit > 1 + 1e-9:
        raise ValueError(f"the ceiling is {limit:.4g}, but a reliability cannot exceed 1; {_AVERAGED_DATA}")
    result = Score(value_of(value, limit))
    result.attrs["raw"], result.attrs["ceiling"], result.attrs["scale"] = score, ceiling, "ceiled"
    slope = (value_of(value + _STEP, limit) - value_of(value - _STEP, limit)) / (2 * _STEP)
    for key in INFLUENCE_KEYS:
        if key in score.attrs:
            result.attrs[key] = scale_influence(score.attrs[key], slope)
    score_error = float(score.attrs.get("error", math.nan))
    ceiling_error = float(ceiling.attrs.get("error", math.nan))
    exact = math.isnan(ceiling_error)
    error = error_of(value, limit, score_error, 0.0 if exact else ceiling_error)
    interval = _interval(score, ceiling, value_of)
    reason = None
    if math.isnan(error) or interval is None:
        reason = score.attrs.get("error_reason") or score.attrs.get("ci_reason") or "the raw score has none"
    estimates = score.attrs.get("ci_estimates", "the raw score's sampling")
    estimates += "; ceiling taken as exact" if exact else "; with the ceiling's own uncertainty"
    return attach_uncertainty(
        result,
        error=error,
        ci=interval,
        level=score.attrs.get("ci_level", 0.95),
        estimates=estimates,
        method=f"{score.attrs.get('ci_method', '')}, recovered variance",
        reason=reason,
    )


def _interval(score: Score, ceiling: Score, value_of: Callable[[float, float], float]) -> tuple[float, float] | None:
    low, high = score.attrs.get("ci", (math.nan, math.nan))
    if math.isnan(low) or math.isnan(high):
        return None
    value, limit = float(score), float(ceiling)
    ceiling_low, ceiling_high = ceiling.attrs.get("ci", (limit, limit))
    if math.isnan(ceiling_low) or math.isnan(ceiling_high) or ceiling_low <= 0:
        ceiling_low = ceiling_high = limit
    middle = value_of(value, limit)
    # a larger ceiling lowers a positive score and raises a negative one
    lower_ceiling, upper_ceiling = (ceiling_high, ceiling_low) if value >= 0 else (ceiling_low, ceiling_high)
    down = math.hypot(middle - value_of(low, limit), middle - value_of(value, lower_ceiling))
    up = math.hypot(value_of(high, limit) - middle, value_of(value, upper_ceiling) - middle)
    return middle - down, middle + up


def _ratio(value: float, ceiling: float) -> float:
    return value / ceiling


def _ratio_error(value: float, ceiling: float, value_error: float, ceiling_error: float) -> float:
    return math.hypot(value_error / ceiling, value * ceiling_error / ceiling**2)


def _signed_square_ratio(value: float, ceiling: float) -> float:
    return math.copysign(value**2, value) / ceiling


def _signed_square_ratio_error(value: float, ceiling: float, value_error: float, ceiling_error: float) -> float:
    return math.hypot(2 * value * value_error / ceiling, value**2 * ceiling_error / ceiling**2)


def _unceiled(score: Score, ceiling: Score) -> Score:
    result = Score(float(score))
    uncertainty = ("error", "error_reason", "ci", "ci_level", "ci_estimates", "ci_method", "ci_reason")
    for key in (*uncertainty, *INFLUENCE_KEYS):
        if key in score.attrs:
            result.attrs[key] = score.attrs[key]
    if "error" not in result.attrs:
        declare_no_error(result, "the raw score has none")
    result.attrs["raw"], result.attrs["ceiling"], result.attrs["scale"] = score, ceiling, "unceiled"
    return result


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


class Benchmark(ABC):
    """An experiment, a metric and a ceiling; called with a candidate model, it returns a score."""

    control: ClassVar[bool] = False
    """Whether this benchmark tests the method instead of the model; averages leave out such controls."""

    @abstractmethod
    def __call__(self, candidate: Any) -> Score:
        """Run the experiment on `candidate` and compare it with the measurements.

        Raises
        ------
        NotApplicable
            If the candidate cannot do what the experiment requires.
        """

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
    ceiling_func : callable
        Called without arguments, at most once, when the ceiling is first needed; returns a `Score` or a number.
    version : int or str
        Increases whenever a change to the benchmark changes scores.
    parent : str, optional
        The benchmark that groups this one in the leaderboard tree.
    bibtex : str, optional
        Citation of the measurements.

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
        ceiling_func: Callable[[], Score | float],
        version: int | str,
        parent: str | None = None,
        bibtex: str | None = None,
    ) -> None:
        if not callable(ceiling_func):
            raise TypeError(
                f"benchmark {identifier!r}: ceiling_func must be a function without arguments, such as "
                f"`lambda: {ceiling_func!r}`"
            )
        self._identifier = identifier
        self._ceiling_func = ceiling_func
        self._version = version
        self._parent = parent
        self._bibtex = bibtex
        self._ceiling: Score | None = None

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
        if self._ceiling is None:
            self._ceiling = as_score(self._ceiling_func(), f"ceiling_func of benchmark {self.identifier!r}")
        return self._ceiling

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.identifier!r} version {self.version}>"
