"""Small pictures within tables: a value with its interval against those of others, a history, a distribution.

They repeat what stands in figures beside them, and are hidden from assistive technology.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from django.utils.safestring import SafeString
from numpy.typing import ArrayLike

from brainscore_web.leaderboard.cards._texts import known

__all__ = ["Axis", "Bin", "axis_of", "bar", "bins", "histogram", "spark"]

_WIDTH, _HEIGHT, _MARGIN = 150, 18, 6
_FARTHEST = 1e12  # what is farther is drawn there


class Axis(NamedTuple):
    """What the ends of all bars of a table stand for."""

    low: float
    high: float

    @property
    def texts(self) -> tuple[str, str]:
        """Both ends, in two digits."""
        return f"{self.low:.2g}".replace("-", "−"), f"{self.high:.2g}".replace("-", "−")

    def x(self, value: float, width: float = _WIDTH) -> float:
        """Where a value is; what is beyond the ends is at the ends."""
        share = (value - self.low) / (self.high - self.low)
        return _MARGIN + (width - 2 * _MARGIN) * min(max(share, 0.0), 1.0)


class Bin(NamedTuple):
    """A column of a histogram: its limits, how many are in it, and its height relative to the highest."""

    low: float
    high: float
    number: int
    share: float


def axis_of(*values: ArrayLike) -> Axis:
    """From 0 to 1, further where a value is further.

    Examples
    --------
    >>> axis_of([0.2, float("nan")], [1.25])
    Axis(low=0.0, high=1.25)
    """
    every = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in (*values, [0.0, 1.0])])
    every = np.clip(every[np.isfinite(every)], -_FARTHEST, _FARTHEST)
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
    """Draw a value and its interval: median as a stroke, best as a triangle above, ceiling as a bracket."""
    middle = _HEIGHT / 2
    parts = [f'<path class="bar-line" d="M{_MARGIN} {middle:g}H{_WIDTH - _MARGIN}"/>']
    for kind, where, shape in (
        ("ceiling", ceiling, "m-3 -7h3v14h-3"),
        ("median", median, "m0 -6v12"),
        ("best", best, "m0 -3l-3 -5h6z"),
    ):
        at = known(where)
        if at is not None:
            parts.append(f'<path class="bar-{kind}" d="M{axis.x(at):.1f} {middle:g}{shape}"/>')
    start, end, here = known(low), known(high), known(value)
    if start is not None and end is not None:
        parts.append(f'<path class="bar-interval" d="M{axis.x(start):.1f} {middle:g}H{axis.x(end):.1f}"/>')
    if here is not None:
        parts.append(f'<circle class="bar-value" cx="{axis.x(here):.1f}" cy="{middle:g}" r="3.5"/>')
    return _svg(parts, _WIDTH, _HEIGHT)


def spark(axis: Axis, points: Sequence[tuple[float, float | None, float | None, float | None, bool]]) -> SafeString:
    """Draw values over time.

    Parameters
    ----------
    axis : Axis
        Of the values.
    points : sequence of (time, value, low, high, current)
        Of any unit of time; filled where they are of the current version.
    """
    width, height = 110, 26
    there = [point for point in points if known(point[1]) is not None]
    if not there:
        return SafeString("")
    start, end = min(point[0] for point in there), max(point[0] for point in there)
    parts = []
    for time, value, low, high, current in there:
        x = width / 2 if end == start else 6 + (width - 12) * (time - start) / (end - start)
        if known(low) is not None and known(high) is not None:
            parts.append(f'<path class="bar-interval thin" d="M{x:.1f} {_y(axis, low):.1f}V{_y(axis, high):.1f}"/>')
        kind = "bar-value" if current else "bar-value hollow"
        parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{_y(axis, value):.1f}" r="2.5"/>')
    return _svg(parts, width, height)


def bins(values: ArrayLike, *, axis: Axis | None = None, number: int = 20) -> tuple[Bin, ...]:
    """Count values in intervals of equal width, over the range of an axis.

    Examples
    --------
    >>> [one.number for one in bins([0.1, 0.1, 0.95, float("nan")], axis=Axis(0.0, 1.0), number=5)]
    [2, 0, 0, 0, 1]
    """
    array = np.asarray(values, dtype=np.float64)
    array = array[np.isfinite(array)]
    ends = axis or axis_of(array)
    counts, edges = np.histogram(np.clip(array, -_FARTHEST, _FARTHEST), bins=number, range=ends)
    highest = max(int(counts.max(initial=0)), 1)
    return tuple(
        Bin(float(low), float(high), int(count), int(count) / highest)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )


def histogram(columns: Sequence[Bin], axis: Axis) -> SafeString:
    """Draw a distribution; its shape in words is its description."""
    if not columns:
        return SafeString("")
    width, height, base = 260, 70, 54
    step = (width - 2 * _MARGIN) / len(columns)
    parts = [
        '<title id="distribution">Distribution of scores</title>',
        f"<desc>{', '.join(f'{one.low:.2f} to {one.high:.2f}: {one.number}' for one in columns if one.number)}</desc>",
    ]
    parts += [
        f'<path class="bar-count" d="M{_MARGIN + place * step + 0.5:.1f} {base}v{-50 * one.share:.1f}h{step - 1:.1f}'
        f'V{base}z"><title>{one.low:.2f} to {one.high:.2f}: {one.number}</title></path>'
        for place, one in enumerate(columns)
        if one.number
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
    """Only numbers go into it."""
    return SafeString(
        f'<svg class="bar" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )
