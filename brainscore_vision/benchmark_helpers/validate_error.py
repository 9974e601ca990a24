"""Validation of the uncertainty of scores."""

import math
import warnings

from brainscore_core.metrics import Score, Uncertainty


def assert_valid_uncertainty(score: Score, *, require_raw: bool = True, allow_nan_with_reason: bool = True) -> None:
    """Fail a test if a score's standard error cannot be used.

    Problems are an error that is missing, not a number, NaN without a reason (`allow_nan_with_reason`), negative or
    infinite, and no raw values (`require_raw`). An error much larger than the score, which may be on another scale, and
    no source of variation are warnings.

    Raises
    ------
    AssertionError
        The message lists all problems.

    Examples
    --------
    >>> score = Score(0.5)
    >>> score.attrs["error"] = -0.1
    >>> assert_valid_uncertainty(score, require_raw=False)
    Traceback (most recent call last):
    ...
    AssertionError: the score's uncertainty cannot be used:
    - the error is negative: -0.1
    """
    attrs = score.attrs
    problems, unusual = _examine_error(Uncertainty.of(score).error, score, allow_nan_with_reason)
    if require_raw and Score.RAW_VALUES_KEY not in attrs:
        problems.append("there are no attrs['raw']: keep the values before aggregation")
    for warning in unusual:
        warnings.warn(warning, stacklevel=2)
    if problems:
        raise AssertionError("the score's uncertainty cannot be used:\n- " + "\n- ".join(problems))


def _examine_error(error: object, score: Score, allow_nan_with_reason: bool) -> tuple[list[str], list[str]]:
    """Problems and warnings."""
    attrs = score.attrs
    if error is None:
        return ["there is no attrs['error']"], []
    try:
        number = float(error)  # type: ignore[arg-type] # what is not a number raises
    except (TypeError, ValueError):
        return [f"the error is not a number: {error!r}"], []
    if math.isnan(number):
        stated = allow_nan_with_reason and (attrs.get("error_nan_reason") or attrs.get("error_reason"))
        return [] if stated else [
            "the error is NaN without a reason: declare it with declare_no_error(score, reason)"
        ], []
    if math.isinf(number) or number < 0:
        return [f"the error is {'negative: ' if number < 0 else ''}{number}"], []
    value = float(score) if score.size == 1 else math.nan
    unusual = []
    if number > max(1.0, 2 * abs(value)):
        unusual.append(f"the error ({number:.3g}) is large for a score of {value:.3g}: are they on the same scale?")
    if not (attrs.get("error_over") or attrs.get("ci_estimates")):
        unusual.append("the source of variation is missing: name it in attrs['error_over'] or attrs['ci_estimates']")
    return [], unusual
