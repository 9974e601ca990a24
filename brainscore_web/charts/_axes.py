"""Axes, frames, marks and legends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from brainscore_web.charts._svg import element, join, number, text_width
from brainscore_web.charts._ticks import nice_ticks, tick_texts

__all__ = [
    "HOLLOW",
    "KINDS",
    "TICK",
    "Frame",
    "Scale",
    "ShownTick",
    "horizontal_axis",
    "legend",
    "line",
    "marker",
    "shown",
    "tooltip",
    "vertical_axis",
]

KINDS = 8
"""Kinds of marks that differ in form and colour; further ones begin anew."""

HOLLOW = frozenset({4, 5, 7})
"""Those that are drawn as outlines."""

TICK = 11  # size of type


class Scale(NamedTuple):
    """From values to coordinates, straight."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Coordinate of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def clip(self, value: float) -> float:
        """Coordinate of a value, at an end where it is beyond."""
        return self(min(max(value, self.low), self.high))


class ShownTick(NamedTuple):
    """One tick."""

    place: float
    text: str


class Frame(NamedTuple):
    """Where values are drawn."""

    left: float
    right: float
    top: float
    bottom: float


def shown(scale: Scale, n: int = 5) -> list[ShownTick]:
    """Round numbers along a scale."""
    ticks = nice_ticks(scale.low, scale.high, n)
    return [ShownTick(scale(tick), text) for tick, text in zip(ticks, tick_texts(ticks), strict=True)]


def horizontal_axis(ticks: Sequence[ShownTick], frame: Frame, title: str, *, above: bool = False) -> SafeString:
    """An axis that runs to the right: its texts and title below, or also above; grid lines."""
    parts = [line(tick.place, frame.top, tick.place, frame.bottom, "chart-grid") for tick in ticks]
    parts.append(line(frame.left, frame.bottom, frame.right, frame.bottom, "chart-axis"))
    free = -math.inf
    places = [(frame.bottom + 14, frame.bottom + 32), *([(frame.top - 6, frame.top - 21)] if above else [])]
    for tick in ticks:
        half = text_width(tick.text, TICK) / 2
        if tick.place - half < free:
            continue  # no room
        free = tick.place + half + 4
        parts += [
            element("text", tick.text, class_="chart-tick chart-middle", x=tick.place, y=base) for base, _ in places
        ]
    parts += [
        element("text", title, class_="chart-label chart-middle", x=(frame.left + frame.right) / 2, y=base)
        for _, base in places
    ]
    return join(parts)


def vertical_axis(ticks: Sequence[ShownTick], frame: Frame, title: str) -> SafeString:
    """An axis that runs upwards: its texts and title, turned, on the left; grid lines."""
    parts = [line(frame.left, tick.place, frame.right, tick.place, "chart-grid") for tick in ticks]
    parts.append(line(frame.left, frame.top, frame.left, frame.bottom, "chart-axis"))
    parts += [
        element("text", tick.text, class_="chart-tick chart-end", x=frame.left - 6, y=tick.place + 4) for tick in ticks
    ]
    turn = f"translate(13 {number((frame.top + frame.bottom) / 2)}) rotate(-90)"
    parts.append(element("text", title, class_="chart-label chart-middle", transform=turn))
    return join(parts)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> SafeString:
    """A straight line."""
    return element("path", class_=class_, d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}")


def tooltip(text: str) -> SafeString:
    """What a mark says when it is pointed at."""
    return element("title", text)


def marker(kind: int, x: float, y: float, size: float = 4.0, extra: str = "") -> SafeString:
    """A mark of a kind: form and colour say the same."""
    kind %= KINDS
    class_ = f"chart-mark chart-kind-{kind}{extra}"
    a, b = size * 1.15, size * 0.9
    n = number
    if kind == 0:
        return element("circle", class_=class_, cx=x, cy=y, r=size)
    if kind == 4:
        return element("circle", class_=class_, cx=x, cy=y, r=b)
    if kind == 5:
        return element("rect", class_=class_, x=x - b, y=y - b, width=2 * b, height=2 * b)
    path = {
        1: f"M{n(x - b)} {n(y - b)}h{n(2 * b)}v{n(2 * b)}h{n(-2 * b)}z",
        2: f"M{n(x)} {n(y - a)}l{n(a)} {n(2 * b)}h{n(-2 * a)}z",
        3: f"M{n(x)} {n(y - a)}l{n(a)} {n(a)}l{n(-a)} {n(a)}l{n(-a)} {n(-a)}z",
        6: f"M{n(x)} {n(y + a)}l{n(a)} {n(-2 * b)}h{n(-2 * a)}z",
        7: f"M{n(x - b)} {n(y - b)}l{n(2 * b)} {n(2 * b)}m{n(-2 * b)} 0l{n(2 * b)} {n(-2 * b)}",
    }[kind]
    return element("path", class_=class_, d=path)


def legend(
    entries: Sequence[tuple[SafeString, str]], *, left: float, right: float, top: float
) -> tuple[SafeString, float]:
    """Marks drawn about (0, 0) with their texts, in rows; and how high that is."""
    parts, x, y = [], left, top + 10
    for mark, text in entries:
        width = 22 + text_width(text, TICK)
        if x > left and x + width > right:
            x, y = left, y + 16
        parts.append(element("g", mark, transform=f"translate({number(x + 6)} {number(y - 4)})"))
        parts.append(element("text", text, class_="chart-tick chart-legend", x=x + 15, y=y))
        x += width + 10
    return join(parts), (y - top + 8 if entries else 0.0)
