"""Formatting of the cards: numbers, states, and small drawings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import ArrayLike

from brainscore_core.formatting import estimate_text, number_text, size_text
from brainscore_core.metrics import ABOVE_CEILING
from brainscore_web.leaderboard.clean import finite

NONE = "–"
"""Text for a missing number."""


class StateText(NamedTuple):
    """How a state is shown: a symbol, a word, and its meaning."""

    sign: str
    word: str
    meaning: str


STATES = {
    "scored": StateText("", "scored", "The model has a score."),
    "undefined": StateText("≈", "undefined", "The score is undefined."),
    "not applicable": StateText("∅", "not applicable", "The model cannot do what the benchmark asks."),
    "failed": StateText("✕", "failed", "Scoring ended with an error."),
    "outdated": StateText("↺", "outdated", "Only an earlier version of the benchmark was scored."),
    "missing": StateText("·", "missing", "Never scored."),
    "undetermined": StateText(
        "?", "undetermined", "The interval of the ceiling includes 0: the score relative to it says nothing."
    ),
    "not run": StateText(
        "○", "not run", "Data, weights, space or software were missing; this says nothing about the model."
    ),
    "too few scores": StateText("…", "too few scores", "Scored on too few benchmarks for a mean."),
}
"""By name; symbols and words are unique."""


def number(value: float | None) -> str:
    """Format a number with three decimals.

    Examples
    --------
    >>> number(0.51249), number(-0.0001), number(None)
    ('0.512', '0.000', '–')
    """
    return number_text(finite(value))


def estimate(
    value: float | None,
    error: float | None = None,
    low: float | None = None,
    high: float | None = None,
    *,
    level: float | None = None,
    none: str = NONE,
    reason: str = "",
) -> str:
    """Format a number with its interval; with its standard error if there is only that.

    If `reason`, why there is no interval, is that the score is above its ceiling, it stands in place of both.

    Examples
    --------
    >>> estimate(0.5, 0.0123, 0.476, 0.524), estimate(0.5, None, 0.4), estimate(0.5, 0.0123), estimate(None)
    ('0.500 (0.476–0.524)', '0.500 (0.400 and more, no upper limit)', '0.500 (standard error 0.012)', '–')
    """
    known = finite(value)
    if known is None:
        return none
    finding = reason if reason.startswith(ABOVE_CEILING) else None
    return estimate_text(known, error=finite(error), ci=limits(low, high), level=level, finding=finding, brief=True)


def limits(low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return the limits of an interval, infinite on a side without a limit; None if there is no interval.

    Examples
    --------
    >>> limits(0.1, 0.25), limits(None, 0.2), limits(None, None)
    ((0.1, 0.25), (-inf, 0.2), None)
    """
    known = finite(low), finite(high)
    if known == (None, None):
        return None
    return -math.inf if known[0] is None else known[0], math.inf if known[1] is None else known[1]


def megabytes(value: float | None) -> str:
    """Format a size that is given in MB.

    Examples
    --------
    >>> megabytes(0.0412), megabytes(244.4), megabytes(2310), megabytes(None)
    ('41.2 kB', '244 MB', '2.31 GB', '')
    """
    return "" if value is None else size_text(value * 1e6)


def seconds(value: float | None) -> str:
    """Format a duration.

    Examples
    --------
    >>> seconds(0.0042), seconds(42.4), seconds(754), seconds(7500), seconds(None)
    ('0.004 s', '42.4 s', '12 min 34 s', '2 h 5 min', '–')
    """
    known = finite(value)
    if known is None:
        return NONE
    if known < 1:
        return f"{known:.3f} s"
    if known < 60:
        return f"{known:.1f} s"
    whole = round(known)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def web_address(text: str) -> str:
    """Return a URL if it is safe to link to; empty for others, such as URLs that run a script.

    Examples
    --------
    >>> web_address("https://doi.org/10.1000/1"), web_address("javascript:alert(1)")
    ('https://doi.org/10.1000/1', '')
    """
    return text if text.lower().startswith(("https://", "http://")) else ""


_WIDTH, _HEIGHT, _MARGIN = 150, 18, 6
_BINS = 20
_LARGEST = 1e12  # larger values are clipped to this


class Axis(NamedTuple):
    """Common axis of all bars of a table."""

    low: float
    high: float

    @property
    def texts(self) -> tuple[str, str]:
        """Both ends with two digits."""
        return f"{self.low:.2g}".replace("-", "−"), f"{self.high:.2g}".replace("-", "−")

    def x(self, value: float, width: float = _WIDTH) -> float:
        """Return the position of a value, clipped to the ends."""
        share = (value - self.low) / (self.high - self.low)
        return _MARGIN + (width - 2 * _MARGIN) * min(max(share, 0.0), 1.0)


class Bin(NamedTuple):
    """A column of a histogram: its limits, its count, and its height relative to the highest column."""

    low: float
    high: float
    number: int
    share: float


def axis_of(*values: ArrayLike) -> Axis:
    """Return an axis from 0 to 1 that is extended to include all values.

    Examples
    --------
    >>> axis_of([0.2, float("nan")], [1.25])
    Axis(low=0.0, high=1.25)
    """
    every = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in (*values, [0.0, 1.0])])
    every = np.clip(every[np.isfinite(every)], -_LARGEST, _LARGEST)
    return Axis(float(every.min()), float(every.max()))


def bar(
    axis: Axis,
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    best: float | None = None,
    median: float | None = None,
    ceiling: float | None = None,
) -> SafeString:
    """Draw a value with its interval; median as a line, best as a triangle, ceiling as a bracket."""
    middle = _HEIGHT / 2
    parts = [f'<path class="bar-line" d="M{_MARGIN} {middle:g}H{_WIDTH - _MARGIN}"/>']
    for kind, where, shape in (
        ("ceiling", ceiling, "m-3 -7h3v14h-3"),
        ("median", median, "m0 -6v12"),
        ("best", best, "m0 -3l-3 -5h6z"),
    ):
        at = finite(where)
        if at is not None:
            parts.append(f'<path class="bar-{kind}" d="M{axis.x(at):.1f} {middle:g}{shape}"/>')
    start, end, here = finite(low), finite(high), finite(value)
    if start is not None and end is not None:
        parts.append(f'<path class="bar-interval" d="M{axis.x(start):.1f} {middle:g}H{axis.x(end):.1f}"/>')
    if here is not None:
        parts.append(f'<circle class="bar-value" cx="{axis.x(here):.1f}" cy="{middle:g}" r="3.5"/>')
    return _svg(parts, _WIDTH, _HEIGHT)


def spark(axis: Axis, points: Sequence[tuple[float, float | None, float | None, float | None, bool]]) -> SafeString:
    """Draw values over time."""
    width, height = 110, 26
    there = [point for point in points if finite(point[1]) is not None]
    if not there:
        return SafeString("")
    start, end = min(point[0] for point in there), max(point[0] for point in there)
    parts = []
    for time, value, low, high, current in there:
        x = width / 2 if end == start else 6 + (width - 12) * (time - start) / (end - start)
        if finite(low) is not None and finite(high) is not None:
            parts.append(f'<path class="bar-interval thin" d="M{x:.1f} {_y(axis, low):.1f}V{_y(axis, high):.1f}"/>')
        kind = "bar-value" if current else "bar-value hollow"
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{_y(axis, value):.1f}" r="2.5"/>')
    return _svg(parts, width, height)


def bins(values: ArrayLike, axis: Axis) -> tuple[Bin, ...]:
    """Count values in 20 bins of equal width over the range of an axis.

    Examples
    --------
    >>> [column.number for column in bins([0.12, 0.12, 0.97, float("nan")], Axis(0.0, 1.0))][::-17]
    [1, 2]
    """
    array = np.asarray(values, dtype=np.float64)
    array = array[np.isfinite(array)]
    counts, edges = np.histogram(np.clip(array, -_LARGEST, _LARGEST), bins=_BINS, range=axis)
    highest = max(int(counts.max(initial=0)), 1)
    return tuple(
        Bin(float(low), float(high), int(count), int(count) / highest)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def histogram(columns: Sequence[Bin], axis: Axis) -> SafeString:
    """Draw a histogram, with its counts as a description for screen readers."""
    if not columns:
        return SafeString("")
    width, height, base = 260, 70, 54
    step = (width - 2 * _MARGIN) / len(columns)
    counts = [f"{column.low:.2f} to {column.high:.2f}: {column.number}" for column in columns if column.number]
    parts = [
        '<title id="distribution">Distribution of scores</title>',
        f"<desc>{', '.join(counts)}</desc>",
    ]
    parts += [
        f'<path class="bar-count" d="M{_MARGIN + place * step + 0.5:.1f} {base}v{-50 * column.share:.1f}h{step - 1:.1f}'
        f'V{base}z"><title>{column.low:.2f} to {column.high:.2f}: {column.number}</title></path>'
        for place, column in enumerate(columns)
        if column.number
    ]
    middle = (axis.low + axis.high) / 2
    parts.append(f'<path class="bar-median" d="M{_MARGIN} {base}H{width - _MARGIN}"/>')
    parts += [
        f'<text class="bar-text" x="{axis.x(value, width):.1f}" y="{base + 13}" text-anchor="{anchor}">'
        f"{value:.2g}</text>"
        for value, anchor in ((axis.low, "start"), (middle, "middle"), (axis.high, "end"))
    ]
    return SafeString(
        f'<svg class="bar" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-labelledby="distribution">{"".join(parts)}</svg>'
    )


def _y(axis: Axis, value: float | None) -> float:
    share = ((value or 0.0) - axis.low) / (axis.high - axis.low)
    return 23 - 20 * min(max(share, 0.0), 1.0)


def _svg(parts: Iterable[str], width: int, height: int) -> SafeString:
    """Assemble an SVG from parts that contain only numbers."""
    return SafeString(
        f'<svg class="bar" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )
