"""How sure a score is: standard error and confidence interval in its attributes."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

__all__ = ["UNCERTAINTY_KEYS", "attach_uncertainty", "declare_no_error", "forgotten", "scaled", "scaled_influence"]

UNCERTAINTY_KEYS = (
    "error",
    "error_reason",
    "ci",
    "ci_level",
    "ci_estimates",
    "ci_method",
    "ci_reason",
)

ScoreT = TypeVar("ScoreT", bound=Any)


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
    """Write standard error and confidence interval into ``score.attrs``.

    Parameters
    ----------
    score : Score
        Changed in place.
    error : float, optional
        Standard error in the units of the score; None or NaN where it cannot be had.
    ci : (float, float), optional
        Lower and upper limit of the confidence interval; None or NaN where it cannot be had.
    level : float
        Confidence level of `ci`.
    estimates : str, optional
        What the interval estimates and what was resampled for it; needed with `ci`.
    method : str, optional
        How it was made: ``'bootstrap'``, ``'bca'``, ``'t'`` …; needed with `ci`.
    reason : str, optional
        Why `error` or `ci` cannot be had; needed where one of them is missing.

    Returns
    -------
    Score
        The same object.

    Raises
    ------
    ValueError
        If something is missing without a reason, or the limits are in the wrong order.

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
        raise ValueError("error or interval is missing: say why in `reason`")
    if not no_interval:
        if low > high:
            raise ValueError(f"the interval ({low}, {high}) is in the wrong order")
        if not estimates or not method:
            raise ValueError("say in `estimates` what the interval estimates and in `method` how it was made")
    for key in UNCERTAINTY_KEYS:
        score.attrs.pop(key, None)
    score.attrs["error"] = error
    score.attrs["ci"] = (low, high)
    if math.isnan(error):
        score.attrs["error_reason"] = reason
    if no_interval:
        score.attrs["ci_reason"] = reason
    else:
        score.attrs.update(ci_level=level, ci_estimates=estimates, ci_method=method)
    return score


def declare_no_error(score: ScoreT, reason: str) -> ScoreT:
    """Say that neither error nor interval can be had, and why.

    Parameters
    ----------
    score : Score
        Changed in place.
    reason : str
        Why there is none.

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


def scaled(attrs: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Attributes of a score that was multiplied by a constant."""
    result = dict(attrs)
    if "error" in result:
        result["error"] = result["error"] * abs(factor)
    if "ci" in result:
        low, high = result["ci"]
        limits = (low * factor, high * factor)
        result["ci"] = limits if factor >= 0 else limits[::-1]
    if "influence" in result:
        result["influence"] = scaled_influence(result["influence"], factor)
    return result


def scaled_influence(influence: Any, factor: float) -> Any:
    """What units do to a value (and its bias) after the value was multiplied by a constant."""
    if not hasattr(influence, "attrs"):
        return influence * factor
    result = influence.copy(data=influence.values * factor)
    result.attrs = dict(influence.attrs)
    if "bias" in result.attrs:
        result.attrs["bias"] = result.attrs["bias"] * factor
    return result


def forgotten(reason: str) -> dict[str, Any]:
    """Attributes of a result whose uncertainty does not follow from its operands'."""
    return {"error": math.nan, "error_reason": reason, "ci": (math.nan, math.nan), "ci_reason": reason}
