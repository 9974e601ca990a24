"""Elements of SVG, ticks and axes."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from datetime import date
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple


class Svg(str):
    """Complete and escaped SVG text, which template engines insert unchanged."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


COLUMN_WIDTHS = {85: 400.0, 114: 536.5, 174: 818.8}
"""Width of a journal's column in millimetres → width of a chart in units: one column, one and a half, two."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # in XML 1.0
_NARROW, _WIDE = frozenset("fijlrtI.,:;'|!()[]/- "), frozenset("mwMWQGO@%—…")


def number(value: float) -> str:
    """Format a coordinate with at most one decimal.

    Examples
    --------
    >>> number(12.04), number(-0.04), number(3.25)
    ('12', '0', '3.2')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: str | float | None) -> Svg:
    """Make one element; `class_` becomes class, other underscores hyphens, None is left out, text is escaped."""
    pieces = [f"<{name}"]
    for key, value in attributes.items():
        if value is None:
            continue
        text = number(value) if isinstance(value, int | float) else _clean(value)
        pieces.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    inner = "".join(child if isinstance(child, Svg) else escape(_clean(child), quote=False) for child in children)
    pieces.append(f">{inner}</{name}>" if children else "/>")
    return Svg("".join(pieces))


def join(parts: Iterable[Svg]) -> Svg:
    """Concatenate elements."""
    return Svg("".join(parts))


def column_width(millimetres: float) -> float:
    """Width of a chart in units that fills a column of a journal.

    Raises
    ------
    ValueError
        If the width is not one of :data:`COLUMN_WIDTHS`.

    Examples
    --------
    >>> column_width(85)
    400.0
    """
    if millimetres not in COLUMN_WIDTHS:
        widths = ", ".join(map(str, COLUMN_WIDTHS))
        raise ValueError(f"a column of a journal is {widths} mm wide, not {millimetres:g} mm")
    return COLUMN_WIDTHS[int(millimetres)]


class Drawing(NamedTuple):
    """The elements of a chart, which is a figure by itself or a part of one."""

    content: Svg
    width: float
    height: float
    links: bool = False


def figure(drawing: Drawing, *, title: str, description: str, kind: str, identifier: str = "") -> Svg:
    """Make the svg element around a chart, with its name and description.

    An image has no parts for assistive technology; with links in it, it is therefore a group.
    """
    if not identifier:
        identity = _clean(f"{title}{description}{drawing.content}")
        identifier = "chart-" + hashlib.sha256(identity.encode()).hexdigest()[:8]
    return element(
        "svg",
        element("title", title, id=f"{identifier}-title"),
        element("desc", description, id=f"{identifier}-desc"),
        drawing.content,
        xmlns="http://www.w3.org/2000/svg",
        class_=f"chart chart-{kind}",
        viewBox=f"0 0 {number(drawing.width)} {number(drawing.height)}",
        role="group" if drawing.links else "img",
        aria_labelledby=f"{identifier}-title",
        aria_describedby=f"{identifier}-desc",
    )


def figure_of(chart: Any, drawing: Drawing, kind: str) -> Svg:
    """Make the svg element of a single chart, which has a title, a description and an identifier."""
    return figure(drawing, title=chart.title, description=chart.description, kind=kind, identifier=chart.identifier)


def text_width(text: str, size: float = 12) -> float:
    """Estimate the width of a text in a sans-serif font, rather too large than too small."""
    return size * sum(0.37 if c in _NARROW else 0.93 if c in _WIDE else 0.7 if c.isupper() else 0.61 for c in text)


def clipped(text: str, width: float, size: float = 12) -> str:
    """Shorten a text in its middle until it fits, since the ends of names distinguish them.

    Examples
    --------
    >>> clipped("a_rather_long_identifier-pls", 90)
    'a_rath…ier-pls'
    """
    if text_width(text, size) <= width:
        return text
    keep = len(text)
    while keep > 2:
        keep -= 1
        short = f"{text[: keep // 2]}…{text[len(text) - (keep - keep // 2) :]}"
        if text_width(short, size) <= width:
            return short
    return "…"


def finite(*values: float) -> bool:
    """Whether all values are finite numbers."""
    return all(math.isfinite(value) for value in values)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("�", text)


_STEPS = (1.0, 2.0, 5.0, 10.0)
_TINY = 1e-9  # of a step
_FARTHEST = 1e300  # the difference of two such values is still finite


def nice_step(span: float, n: int) -> float:
    """Smallest step of 1, 2, 5 × a power of ten that divides the span into at most `n` parts."""
    if not (math.isfinite(span) and span > 0 and n >= 1):
        raise ValueError(f"no step for a span of {span} in {n} parts")
    power = 10.0 ** math.floor(math.log10(span / n))
    for step in _STEPS:
        if span <= n * step * power * (1 + _TINY):
            return step * power
    return _STEPS[-1] * power


def nice_ticks(low: float, high: float, n: int = 5) -> tuple[float, ...]:
    """Round numbers from low to high.

    Parameters
    ----------
    low, high : float
        Ends of the axis, low < high.
    n : int
        At most this many steps between them.

    Returns
    -------
    tuple of float
        Multiples of 1, 2 or 5 × a power of ten, rising; none outside the ends.

    Raises
    ------
    ValueError
        If the ends are not finite or not in order.

    Examples
    --------
    >>> nice_ticks(0.13, 0.92)
    (0.2, 0.4, 0.6, 0.8)
    >>> nice_ticks(-3, 12, n=4)
    (0.0, 5.0, 10.0)
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"an axis cannot go from {low} to {high}; pass finite limits in ascending order")
    step = nice_step(high - low, n)
    first, last = math.ceil(low / step - _TINY), math.floor(high / step + _TINY)
    decimals = max(0, -math.floor(math.log10(step)))
    return tuple(round(number * step, decimals) + 0.0 for number in range(first, last + 1))


def nice_range(values: Sequence[float], *, share: float = 0.04) -> tuple[float, float]:
    """Ends of an axis with some space beside the finite values; 0 to 1 if there are none.

    Examples
    --------
    >>> nice_range([0.0, 1.0], share=0.05)
    (-0.05, 1.05)
    >>> nice_range([2.0, float("nan")])
    (1.5, 2.5)
    """
    finite = [min(max(value, -_FARTHEST), _FARTHEST) for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    if high - low <= 1e-6 * max(1.0, abs(high), abs(low)):
        beside = max(0.5, 1e-3 * abs(high))
        return low - beside, high + beside
    return low - share * (high - low), high + share * (high - low)


def tick_texts(ticks: Sequence[float]) -> tuple[str, ...]:
    """Format ticks with as many decimals as distinguish them.

    Examples
    --------
    >>> tick_texts((-0.5, 0.0, 0.5)), tick_texts((0.0, 5.0, 10.0))
    (('−0.5', '0.0', '0.5'), ('0', '5', '10'))
    """
    gaps = [after - before for before, after in pairwise(ticks)]
    step = min(gaps) if gaps else abs(ticks[0]) if ticks and ticks[0] else 1.0
    largest = max((abs(tick) for tick in ticks), default=0.0)
    if largest >= 1e6 or (largest > 0 and step < 1e-6):
        return tuple(f"{tick:.3g}".replace("-", "−") for tick in ticks)
    least = max(0, -math.floor(math.log10(step) + _TINY))
    exact = (n for n in range(least, least + 3) if all(abs(round(tick, n) - tick) < 1e-3 * step for tick in ticks))
    decimals = next(exact, least)
    return tuple(f"{tick:.{decimals}f}".replace("-", "−") for tick in ticks)


def date_ticks(low: date, high: date, n: int = 5) -> tuple[tuple[date, str], ...]:
    """Starts of months, quarters or years from low to high, with their texts; days if these are too few.

    Examples
    --------
    >>> [text for _, text in date_ticks(date(2024, 2, 1), date(2026, 1, 20))]
    ['2024-07', '2025-01', '2025-07', '2026-01']
    """
    months = (high.year - low.year) * 12 + high.month - low.month
    every = next((step for step in (1, 3, 6, 12, 24, 60, 120, 240) if months <= n * step), 600)
    starts = [
        date(count // 12, count % 12 + 1, 1)
        for count in range(low.year * 12 + low.month - 1, high.year * 12 + high.month)
        if (count % 12 if every <= 12 else count) % every == 0
    ]
    inside = [start for start in starts if low <= start <= high]
    if every >= 12:
        return tuple((start, f"{start.year}") for start in inside)
    if len(inside) >= 2:
        return tuple((start, f"{start:%Y-%m}") for start in inside)
    ends = (low, high) if low < high else (low,)
    return tuple((day, day.isoformat()) for day in ends)


MARKER_KINDS = 8
"""Number of marks that differ in form and colour, after which they repeat."""

TICK_FONT_SIZE = 11  # size of type


class Scale(NamedTuple):
    """Linear map from values to coordinates."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Coordinate of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def clip(self, value: float) -> float:
        """Coordinate of a value, limited to the ends."""
        return self(min(max(value, self.low), self.high))


class AxisTick(NamedTuple):
    """One tick."""

    place: float
    text: str


class Frame(NamedTuple):
    """The area in which values are drawn."""

    left: float
    right: float
    top: float
    bottom: float


def axis_ticks(scale: Scale, n: int = 5) -> list[AxisTick]:
    """Round numbers along a scale."""
    ticks = nice_ticks(scale.low, scale.high, n)
    return [AxisTick(scale(tick), text) for tick, text in zip(ticks, tick_texts(ticks), strict=True)]


def horizontal_axis(ticks: Sequence[AxisTick], frame: Frame, title: str, *, above: bool = False) -> Svg:
    """Draw a horizontal axis with grid lines, and texts and title below, or also above."""
    shapes = [line(tick.place, frame.top, tick.place, frame.bottom, "chart-grid") for tick in ticks]
    shapes.append(line(frame.left, frame.bottom, frame.right, frame.bottom, "chart-axis"))
    free = -math.inf
    bases = [(frame.bottom + 14, frame.bottom + 32), *([(frame.top - 6, frame.top - 21)] if above else [])]
    for tick in ticks:
        half = text_width(tick.text, TICK_FONT_SIZE) / 2
        if tick.place - half < free:
            continue  # no space
        free = tick.place + half + 4
        shapes += [
            element("text", tick.text, class_="chart-tick chart-middle", x=tick.place, y=base) for base, _ in bases
        ]
    shapes += [
        element("text", title, class_="chart-label chart-middle", x=(frame.left + frame.right) / 2, y=base)
        for _, base in bases
    ]
    return join(shapes)


def vertical_axis(ticks: Sequence[AxisTick], frame: Frame, title: str) -> Svg:
    """Draw a vertical axis with grid lines, and texts and rotated title on the left."""
    shapes = [line(frame.left, tick.place, frame.right, tick.place, "chart-grid") for tick in ticks]
    shapes.append(line(frame.left, frame.top, frame.left, frame.bottom, "chart-axis"))
    shapes += [
        element("text", tick.text, class_="chart-tick chart-end", x=frame.left - 6, y=tick.place + 4) for tick in ticks
    ]
    turn = f"translate(13 {number((frame.top + frame.bottom) / 2)}) rotate(-90)"
    shapes.append(element("text", title, class_="chart-label chart-middle", transform=turn))
    return join(shapes)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Svg:
    """A straight line."""
    return element("path", class_=class_, d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}")


def tooltip(text: str) -> Svg:
    """Tooltip of a mark."""
    return element("title", text)


def marker(kind: int, x: float, y: float, size: float = 4.0) -> Svg:
    """Draw a mark of a kind, which determines both form and colour."""
    kind %= MARKER_KINDS
    class_ = f"chart-mark chart-kind-{kind}"
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


def legend(entries: Sequence[tuple[Svg, str]], *, left: float, right: float, top: float) -> tuple[Svg, float]:
    """Draw a legend of marks with their texts, in rows; return it with its height."""
    shapes, x, y = [], left, top + 10
    for mark, text in entries:
        width = 22 + text_width(text, TICK_FONT_SIZE)
        if x > left and x + width > right:
            x, y = left, y + 16
        shapes.append(element("g", mark, transform=f"translate({number(x + 6)} {number(y - 4)})"))
        shapes.append(element("text", text, class_="chart-tick chart-legend", x=x + 15, y=y))
        x += width + 10
    return join(shapes), (y - top + 8 if entries else 0.0)
