"""What scores show of themselves: text, HTML and a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from brainscore_core.figures import Dots, DotsRow, Lines, Panel, Plot, Series, Svg, lines, panels
from brainscore_core.formatting import estimate_text, number_text, range_text
from brainscore_core.metrics.uncertainty import Uncertainty
from brainscore_core.populations import condition, details

if TYPE_CHECKING:
    from brainscore_core.metrics import Score

_MOST_POINTS = 400  # of a line
_MOST_ROWS = 60  # with a name each
_TEXTS = (
    ("model", "model_identifier"),
    ("benchmark", "benchmark_identifier"),
    ("layers", "layers"),
    ("readout", "readout"),
)
_MOST_COUNTED = 10_000_000  # values whose distribution is computed


def score_title(score: Score) -> str:
    """The value with its interval; why there is none; of an array, its size and its distribution."""
    name = type(score).__name__
    if score.size != 1:
        sizes = ", ".join(f"{dim}: {size}" for dim, size in score.sizes.items())
        return f"{name} ({sizes}): {_distribution(score)}"
    attrs, uncertainty = score.attrs, Uncertainty.of(score)
    if undetermined := _text(uncertainty.undetermined):
        raw = attrs.get("raw")
        before = f" (raw {number_text(_float(raw))})" if raw is not None and np.size(raw) == 1 else ""
        return f"{name} undetermined{before}: {undetermined}"
    if math.isnan(_float(score)):
        state = _text(attrs.get("state")) or "undefined"
        reason = _text(attrs.get("reason")) or _text(uncertainty.error_reason)
        return f"{name} {state}: {reason}" if reason else f"{name} {state}"
    return f"{name} {value_text(score)}"


def score_rows(score: Score) -> list[tuple[str, str]]:
    """Names and texts of what is known of a score besides its value."""
    attrs, uncertainty = score.attrs, Uncertainty.of(score)
    rows = []
    if score.size == 1 and not math.isnan(_float(score)):
        if holds_for := condition(_text(uncertainty.ci_estimates)):
            rows.append(("holds for", holds_for))
        if not _finding(uncertainty):
            rows.append(("interval", _interval(uncertainty)))
            unclamped = _float(uncertainty.unclamped)
            if not (math.isnan(unclamped) or unclamped == _float(score) or _text(uncertainty.undetermined)):
                rows.append(("unclamped", number_text(unclamped)))
    for name, kind in (("raw", "scale"), ("ceiling", "meaning")):
        if attrs.get(name) is not None:
            rows.append((name, _with_kind(attrs[name], kind)))
    rows += [(name, text) for name, key in _TEXTS if (text := _text(attrs.get(key)))]
    return rows


def score_record(score: Score) -> dict[str, Any]:
    """Values of a single score by the names of an export's columns; unknown numbers are NaN, unknown texts None."""
    attrs, uncertainty = score.attrs, Uncertainty.of(score)
    record: dict[str, Any] = {
        "model": _text(attrs.get("model_identifier")) or None,
        "benchmark": _text(attrs.get("benchmark_identifier")) or None,
        "state": _text(attrs.get("state")) or ("undefined" if math.isnan(_float(score)) else "scored"),
        "reason": _text(attrs.get("reason")) or _text(uncertainty.undetermined) or None,
    }
    for prefix, value in (("", score), ("raw", attrs.get("raw")), ("ceiling", attrs.get("ceiling"))):
        of_value = Uncertainty.of(value)
        low, high = of_value.limits
        start = f"{prefix}_" if prefix else ""
        record |= {
            prefix or "score": _float(value),
            f"{start}error": of_value.standard_error,
            f"{start}ci_low": low,
            f"{start}ci_high": high,
        }
    return record | {"ci_level": uncertainty.level, "ci_estimates": _text(uncertainty.ci_estimates) or None}


def value_text(value: Any) -> str:
    """Write a single number or score with its interval, and the distribution of several numbers.

    Examples
    --------
    >>> value_text(0.5), value_text([0.2, 0.4, 0.9])
    ('0.500', 'median 0.400, 0.200–0.900, 3 values')
    """
    if np.size(value) != 1:
        return _distribution(value)
    uncertainty = Uncertainty.of(value)
    return estimate_text(
        _float(value),
        error=uncertainty.standard_error,
        ci=uncertainty.limits,
        level=uncertainty.level,
        estimates=_text(uncertainty.ci_estimates),
        finding=_finding(uncertainty),
    )


def score_plot(score: Score) -> Plot:
    """Draw a score with its ceiling and the value before the ceiling; of several values, draw them sorted."""
    name = _text(score.attrs.get("benchmark_identifier")) or "Score"
    if model := _text(score.attrs.get("model_identifier")):
        name = f"{model} on {name}"
    if score.size != 1:
        return Plot(_values_in_order(score, name) or _sorted_values(score, name), name)
    ceiling = score.attrs.get("ceiling")
    uncertainty = Uncertainty.of(score)
    undetermined = _text(uncertainty.undetermined)
    rows = [
        DotsRow(label="score", state="undetermined", hint=f"undetermined: {undetermined}")
        if undetermined
        else _row("score", score, score_title(score), kind=0)
    ]
    rows += [
        _row(label, value, f"{label} {value_text(value)}", kind=1)
        for label, value in (("raw score", score.attrs.get("raw")), ("ceiling", ceiling))
        if value is not None and np.size(value) == 1
    ]
    relative = _text(score.attrs.get("scale")) == "ceiled"
    chart = Dots(
        rows=rows,
        title=name,
        x_title=f"value; intervals of {100 * uncertainty.level:g} %",
        kinds=("relative to the ceiling", "as measured") if relative else (),
        reference=0.0,
    )
    return Plot(_single(chart, name), name)


def _single(chart: Dots, name: str, notes: Sequence[str] = ()) -> Svg:
    return panels([[Panel(chart=chart, heading=name, notes=notes)]], title=name)


def _row(label: str, value: Any, hint: str, *, kind: int) -> DotsRow:
    number = _float(value)
    if math.isnan(number):
        return DotsRow(label=label, state="undefined", hint=hint)
    low, high = Uncertainty.of(value).limits
    return DotsRow(label=label, value=number, low=low, high=high, text=number_text(number), hint=hint, kind=kind)


def _values_in_order(score: Score, name: str) -> Svg | None:
    """A row for each value along a single dimension whose positions have names; None of others, and of very many."""
    if score.ndim != 1 or not 1 < score.size <= _MOST_ROWS:
        return None
    dim = score.dims[0]
    # a level of the dimension's index has the names, if there are several
    names = next((score.coords[coord].values for coord in score.coords if coord != dim), None)
    if names is None:
        names = score.coords[dim].values if dim in score.coords else None
    if names is None or np.asarray(names).dtype.kind not in "OUTS":
        return None
    rows = [
        DotsRow(label=str(label), value=value, text=number_text(value), state="" if np.isfinite(value) else "no number")
        for label, value in zip(names, score.values.astype(np.float64).tolist(), strict=True)
    ]
    return _single(Dots(rows=rows, title=name, x_title="value", reference=0.0), name, [str(dim)])


def _sorted_values(score: Score, name: str) -> Svg:
    values = np.sort(_finite(score))
    if not len(values):
        rows = [DotsRow(label=name, state=_distribution(score))]
        return _single(Dots(rows=rows, title=name, x_title="value"), name)
    shown = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).round().astype(int))
    median = (float(np.median(values)), "median")
    over = " × ".join(str(dim) for dim in score.dims)
    series = Series(name=over, x=(shown + 1.0).tolist(), y=values[shown].tolist())
    return lines(
        Lines(series=[series], title=name, x_title=f"{over}, sorted by value", y_title="value", reference=median)
    )


def _distribution(values: Any) -> str:
    size = int(np.size(values))
    if size > _MOST_COUNTED:
        return f"{size} values"
    numbers = _finite(values)
    if not len(numbers):
        return f"no number in {size} values" if size else "no values"
    missing = f", {size - len(numbers)} missing" if size > len(numbers) else ""
    spread = range_text(float(numbers.min()), float(numbers.max()))
    return f"median {number_text(float(np.median(numbers)))}, {spread}, {size} values{missing}"


def _finite(values: Any) -> np.ndarray:
    numbers = np.asarray(getattr(values, "values", values))
    if numbers.dtype.kind not in "fiub":
        return np.empty(0)
    numbers = numbers.astype(np.float64).ravel()
    return numbers[np.isfinite(numbers)]


def _interval(uncertainty: Uncertainty) -> str:
    low, high = uncertainty.limits
    if math.isnan(low) or math.isnan(high):
        return f"none: {_text(uncertainty.ci_reason) or _text(uncertainty.error_reason) or 'no reason is given'}"
    method = f" ({text})" if (text := _text(uncertainty.ci_method)) else ""
    estimates = _text(uncertainty.ci_estimates)
    if _text(uncertainty.undetermined):  # the title has no interval, and no population
        return f"{range_text(low, high)}; {estimates or 'of the score'}{method}"
    return (details(estimates) or "of the score") + method


def _finding(uncertainty: Uncertainty) -> str:
    """Why there is no interval any more, if the interval before the limits of 0 and 1 was beyond them."""
    limited = uncertainty.unclamped_ci is not None and all(map(math.isnan, uncertainty.limits))
    return _text(uncertainty.ci_reason) if limited else ""


def _with_kind(value: Any, kind: str) -> str:
    described = _text(getattr(value, "attrs", {}).get(kind))
    return f"{value_text(value)} ({described})" if described else value_text(value)


def _float(value: Any) -> float:
    try:
        return float(np.asarray(getattr(value, "values", value)).item())
    except (TypeError, ValueError):
        return nan


def _text(value: Any) -> str:
    """An attribute, which may have been written by others; empty if it is not a text."""
    return value if isinstance(value, str) else ""
