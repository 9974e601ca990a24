"""Uncertainty of scores: standard error, interval, and what comparisons of two scores need."""

import math
from collections import UserDict
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, TypeVar

import numpy as np

ScoreT = TypeVar("ScoreT", bound=Any)


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """How much a score would vary in other experiments; None where nothing is known.

    ``score.attrs["uncertainty"]`` is this object. The score stores each field as an attribute of the same name: a
    plugin may read and write ``score.attrs["error"]`` alone, and the object then has that error and no interval.
    Whatever copies attributes (slices, copies, pickles, files, merges) keeps the uncertainty. Multiplication and
    division by a constant scale it; any other arithmetic replaces it by NaN with a reason.

    Attributes
    ----------
    error, error_reason
        Standard error in the units of the score, or NaN and the reason. Of several values, an array.
    ci, ci_reason
        Limits of the confidence interval, or NaN and the reason. A limit that does not exist is infinite.
    ci_level : float
        Confidence level of the interval.
    ci_estimates : str
        What the interval estimates: over what it generalises; after a semicolon, how many units there were, and what
        did not vary.
    ci_method : str
        How the interval was computed: ``'bootstrap'``, ``'bca'``, ``'t'`` …
    split_error
        Spread over splits of the same measurements, as it is usually published; not a standard error.
    unclamped, unclamped_ci
        Value and interval before they were clamped to [0, 1].
    undetermined : str
        Why a score relative to its ceiling says nothing: the ceiling's interval includes 0.
    influence
        Influence of each resampled unit on the value (its derivative by the unit's weight, times the number of units),
        used to test the difference between two models; its ``attrs['bias']`` is the expected excess of the value.
    further_influence
        Influence of units of another kind that vary as well, such as neuroids besides stimuli; the variances add up.
    predictivity
        Of regressions and of the reliability of recordings: effects of stimuli and neuroids on the value, by which its
        covariance with another one is computed. Receipts do not store it.
    predictions, targets
        Out-of-fold predictions and the values that they predict; later comparisons resample them.
    training_influence
        Decrease of the value without each stimulus, or group of stimuli, through the maps that are fitted with it, by
        neuroid; stored with the predictions, which do not determine it.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> score = Score(0.5)
    >>> score.attrs["uncertainty"] = Uncertainty(error=0.02, ci=(0.46, 0.54), ci_estimates="new stimuli; 60 stimuli")
    >>> score.attrs["ci"], (score / 2).attrs["uncertainty"].ci
    ((0.46, 0.54), (0.23, 0.27))
    >>> score.attrs["error"] = 0.03
    >>> score.attrs["uncertainty"].error
    0.03
    """

    error: Any = None
    error_reason: str | None = None
    ci: Any = None
    ci_level: float | None = None
    ci_estimates: str | None = None
    ci_method: str | None = None
    ci_reason: str | None = None
    split_error: Any = None
    unclamped: float | None = None
    unclamped_ci: tuple[float, float] | None = None
    undetermined: str | None = None
    influence: Any = field(default=None, compare=False, repr=False)
    further_influence: Any = field(default=None, compare=False, repr=False)
    predictivity: Any = field(default=None, compare=False, repr=False)
    predictions: Any = field(default=None, compare=False, repr=False)
    targets: Any = field(default=None, compare=False, repr=False)
    training_influence: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Read the attributes of a score, or of any other array; of a plain number, nothing is known."""
        attrs = getattr(value, "attrs", {})
        return cls(**{name: attrs[name] for name in _NAMES if name in attrs})

    @classmethod
    def missing(cls, reason: str) -> Self:
        """Neither error nor interval, and why."""
        return cls(error=math.nan, error_reason=reason, ci=(math.nan, math.nan), ci_reason=reason)

    @property
    def standard_error(self) -> float:
        """The error as a single number; NaN if there is none, or several."""
        return _number(self.error)

    @property
    def limits(self) -> tuple[float, float]:
        """Limits of the interval of a single value; NaN if there are none."""
        return _limits(self.ci)

    @property
    def unclamped_limits(self) -> tuple[float, float]:
        """Limits before they were clamped to [0, 1], if they were; NaN if there are none."""
        return _limits(self.ci if self.unclamped_ci is None else self.unclamped_ci)

    @property
    def level(self) -> float:
        """Confidence level, 0.95 unless another one is given."""
        level = _number(self.ci_level)
        return 0.95 if math.isnan(level) else level

    @property
    def reason(self) -> str | None:
        """Why the error or the interval is missing."""
        return self.error_reason or self.ci_reason

    def attributes(self) -> dict[str, Any]:
        """Attributes of a score with this uncertainty."""
        return {name: value for name in _NAMES if (value := getattr(self, name)) is not None}

    def write(self, attrs: MutableMapping[Any, Any]) -> None:
        """Replace the uncertainty in the attributes of a score."""
        for name in _NAMES:
            attrs.pop(name, None)
        attrs.update(self.attributes())

    def mapped(self, function: Callable[[Any], Any], slope: float) -> Self:
        """Uncertainty of a monotonic function of the score.

        Parameters
        ----------
        function : callable
            Of a value or a limit.
        slope : float
            Its derivative at the score.

        Examples
        --------
        >>> Uncertainty(error=0.1, ci=(0.3, 0.5)).mapped(lambda value: 1 - value, -1).ci
        (0.5, 0.7)
        """

        def limits(ci: Any) -> Any:
            return None if ci is None else tuple(function(limit) for limit in (ci if slope >= 0 else reversed(ci)))

        return replace(
            self,
            error=None if self.error is None else self.error * abs(slope),
            split_error=None if self.split_error is None else self.split_error * abs(slope),
            ci=limits(self.ci),
            unclamped=None if self.unclamped is None else function(self.unclamped),
            unclamped_ci=limits(self.unclamped_ci),
            influence=_scaled(self.influence, slope),
            further_influence=_scaled(self.further_influence, slope),
        )

    def scaled(self, factor: float) -> Self:
        """Uncertainty of the score after multiplication by a constant."""
        return self.mapped(lambda value: value * factor, factor)


_NAMES = tuple(attribute.name for attribute in fields(Uncertainty))
_KEY = "uncertainty"


class ScoreAttrs(UserDict[Any, Any]):
    """Attributes of a score: those of the array, and ``uncertainty``, the object that some of them make up."""

    def __init__(self, attrs: dict[Any, Any]) -> None:
        self.data = attrs
        if isinstance(attrs.get(_KEY), Uncertainty):  # passed to the constructor of the score
            attrs.update(attrs.pop(_KEY).attributes() | attrs)

    def __contains__(self, key: object) -> bool:
        return key == _KEY or key in self.data

    def __missing__(self, key: Any) -> Uncertainty:
        if key == _KEY:
            return Uncertainty(**{name: self.data[name] for name in _NAMES if name in self.data})
        raise KeyError(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if key == _KEY and isinstance(value, Uncertainty):
            value.write(self.data)
        else:
            self.data[key] = value

    def __delitem__(self, key: Any) -> None:
        if key == _KEY:
            Uncertainty().write(self.data)
        else:
            del self.data[key]


def amend_uncertainty(score: ScoreT, **values: Any) -> ScoreT:
    """Replace some fields of the uncertainty of a score, in place; None removes one.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> amend_uncertainty(Score(0.5), error=0.1).attrs
    {'error': 0.1}
    """
    replace(Uncertainty.of(score), **values).write(score.attrs)
    return score


def attach_uncertainty(
    score: ScoreT,
    *,
    error: float | None = None,
    ci: tuple[float, float] | None = None,
    level: float = 0.95,
    estimates: str | None = None,
    method: str | None = None,
    reason: str | None = None,
) -> ScoreT:
    """Check a standard error and a confidence interval, and write them into the uncertainty of a score.

    Parameters
    ----------
    score : Score
        Changed in place.
    error : float, optional
        Standard error in the units of the score; None or NaN if it is not available.
    ci : (float, float), optional
        Lower and upper limit of the confidence interval; None or NaN if it is not available.
    level : float
        Confidence level of `ci`.
    estimates : str, optional
        What the interval estimates and what was resampled for it; required with `ci`.
    method : str, optional
        How the interval was computed: ``'bootstrap'``, ``'bca'``, ``'t'`` …; required with `ci`.
    reason : str, optional
        Why `error` or `ci` is not available; required if one of them is missing.

    Returns
    -------
    Score
        The same object.

    Raises
    ------
    ValueError
        If a value is missing without a reason, or the limits are in the wrong order.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> score = attach_uncertainty(Score(0.5), error=0.02, ci=(0.46, 0.54), method="t",
    ...                            estimates="mean over 12 subjects")
    >>> score.attrs["ci"]
    (0.46, 0.54)
    """
    error = math.nan if error is None else float(error)
    low, high = (math.nan, math.nan) if ci is None else (float(ci[0]), float(ci[1]))
    no_interval = math.isnan(low) or math.isnan(high)
    if (math.isnan(error) or no_interval) and not reason:
        raise ValueError("the error or the interval is missing: give the reason in `reason`")
    if not no_interval:
        if low > high:
            raise ValueError(f"the interval ({low}, {high}) is in the wrong order")
        if not estimates or not method:
            raise ValueError("give in `estimates` what the interval estimates and in `method` how it was computed")
    return amend_uncertainty(
        score,
        error=error,
        error_reason=reason if math.isnan(error) else None,
        ci=(low, high),
        ci_level=None if no_interval else level,
        ci_estimates=None if no_interval else estimates,
        ci_method=None if no_interval else method,
        ci_reason=reason if no_interval else None,
    )


def declare_no_error(score: ScoreT, reason: str) -> ScoreT:
    """Declare that neither an error nor an interval is available, and why.

    Parameters
    ----------
    score : Score
        Changed in place.
    reason : str
        Why they are not available.

    Returns
    -------
    Score
        The same object.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> declare_no_error(Score(1.0), "a constant").attrs["error_reason"]
    'a constant'
    """
    return attach_uncertainty(score, reason=reason)


def unclamped_value(score: Any) -> float:
    """Value of a single score before it was clamped to [0, 1]."""
    unclamped = Uncertainty.of(score).unclamped
    return float(score if unclamped is None else unclamped)


def undetermined(ceiling: Any) -> str | None:
    """Why scores relative to this ceiling say nothing: its interval includes 0; None if it does not.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> ceiling = attach_uncertainty(Score(0.1), error=0.055, ci=(-0.01, 0.21), estimates="new stimuli", method="t")
    >>> undetermined(ceiling)
    'the interval of the ceiling 0.100, -0.010 to 0.210, includes 0'
    >>> undetermined(0.8)
    """
    from brainscore_core.numerics.significance import Uncertain, undetermined_by

    if getattr(ceiling, "attrs", {}).get("meaning") == "none" or np.size(ceiling) != 1:
        return None
    return undetermined_by(Uncertain(unclamped_value(ceiling), *Uncertainty.of(ceiling).unclamped_limits))


def _number(value: Any) -> float:
    try:
        return float(np.asarray(value, dtype=np.float64).item())
    except (TypeError, ValueError):
        return math.nan


def _limits(ci: Any) -> tuple[float, float]:
    limits = np.ravel(() if ci is None else ci)
    if limits.dtype.kind not in "fiu" or len(limits) != 2:
        return math.nan, math.nan
    return float(limits[0]), float(limits[1])


def _scaled(influence: Any, factor: float) -> Any:
    """Influence of units on a value, and its bias, after multiplication of the value by a constant."""
    if influence is None or not hasattr(influence, "attrs"):
        return None if influence is None else influence * factor
    result = influence.copy(data=influence.values * factor)
    result.attrs = dict(influence.attrs)
    if "bias" in result.attrs:
        result.attrs["bias"] = result.attrs["bias"] * factor
    return result
