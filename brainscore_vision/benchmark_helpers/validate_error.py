"""Validation of the uncertainty of scores."""

import math
import warnings
from dataclasses import dataclass, field

from brainscore_core.metrics import Score, Uncertainty

_REASONS = ("error_nan_reason", "error_reason")
_SOURCES = ("error_over", "ci_estimates")


@dataclass
class ValidationResult:
    """Result of a validation.

    `ok`: whether there are no problems. `problems`: reasons why the uncertainty is unusable. `warnings`: unusual
    values.
    """

    ok: bool
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def validate_score_uncertainty(
    score: Score, require_raw: bool = True, allow_nan_with_reason: bool = True
) -> ValidationResult:
    """Check that a score's standard error can be used.

    Problems are an error that is missing, not a number, NaN without a reason (`allow_nan_with_reason`), negative or
    infinite, and no raw values (`require_raw`). Warnings are an error much larger than the score, which may be on
    another scale, and no source of variation.

    Examples
    --------
    >>> score = Score(0.5)
    >>> score.attrs["error"] = -0.1
    >>> validate_score_uncertainty(score, require_raw=False).problems
    ['the error is negative: -0.1']
    """
    attrs = score.attrs
    problems: list[str] = []
    unusual: list[str] = []
    error = Uncertainty.of(score).error
    if error is None:
        problems.append("there is no attrs['error']")
    else:
        try:
            number = float(error)
        except (TypeError, ValueError):
            problems.append(f"the error is not a number: {error!r}")
        else:
            more, unusual = _check_error(number, score, allow_nan_with_reason)
            problems += more
    if require_raw and Score.RAW_VALUES_KEY not in attrs:
        problems.append("there are no attrs['raw']: keep the values before aggregation")
    return ValidationResult(ok=not problems, problems=problems, warnings=unusual)


def assert_valid_uncertainty(score: Score, *, require_raw: bool = True, allow_nan_with_reason: bool = True) -> None:
    """Fail a test if :func:`validate_score_uncertainty` finds a problem; pass on its warnings.

    Raises
    ------
    AssertionError
        The message lists all problems.
    """
    result = validate_score_uncertainty(score, require_raw, allow_nan_with_reason)
    for warning in result.warnings:
        warnings.warn(warning, stacklevel=2)
    if not result.ok:
        raise AssertionError("the score's uncertainty cannot be used:\n- " + "\n- ".join(result.problems))


def _check_error(error: float, score: Score, allow_nan_with_reason: bool) -> tuple[list[str], list[str]]:
    attrs = score.attrs
    if math.isnan(error):
        if allow_nan_with_reason and any(attrs.get(name) for name in _REASONS):
            return [], []
        return ["the error is NaN without a reason: declare it with declare_no_error(score, reason)"], []
    if math.isinf(error):
        return [f"the error is {error}"], []
    problems = [f"the error is negative: {error}"] if error < 0 else []
    value = float(score) if score.size == 1 else math.nan
    unusual = []
    if math.isfinite(value) and error > max(1.0, 2 * abs(value)):
        unusual.append(f"the error ({error:.3g}) is large for a score of {value:.3g}: are they on the same scale?")
    if not any(attrs.get(name) for name in _SOURCES):
        unusual.append("the source of variation is missing: name it in attrs['error_over'] or attrs['ci_estimates']")
    return problems, unusual
