"""Dot plots: one value of each item with its interval, one row for each item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

from brainscore_core.figures.axes import (
    TICK_FONT_SIZE,
    Frame,
    Scale,
    Svg,
    axis_ticks,
    clipped,
    element,
    figure,
    finite,
    horizontal_axis,
    join,
    legend,
    line,
    marker,
    nice_range,
    number,
    text_width,
    tooltip,
)

__all__ = ["Dots", "DotsRow", "Mark", "dots_with_intervals"]

MarkKind = Literal["best", "median", "ceiling"]
_MARKS: tuple[MarkKind, ...] = ("best", "median", "ceiling")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A reference value of a row: the best or the median of others, or the ceiling."""

    value: float
    kind: MarkKind


@dataclass(frozen=True, kw_only=True)
class DotsRow:
    """An item.

    Attributes
    ----------
    label : str
        Text on the left; a long one is shortened in the middle.
    value, low, high : float
        Value and interval; NaN if there is none.
    href : str or None
        Link of label and dot.
    marks : sequence of Mark
        Reference values, drawn behind the value.
    text : str
        Text on the right: the value as a number, or why there is none.
    hint : str
        Tooltip; by default label and text.
    kind : int
        Kind, which determines form and colour; see `Dots.kinds`.
    heading : bool
        Whether the row is a heading without a value.
    indent : int
        Level in a tree.
    """

    label: str
    value: float = nan
    low: float = nan
    high: float = nan
    href: str | None = None
    marks: Sequence[Mark] = ()
    text: str = ""
    hint: str = ""
    kind: int = 0
    heading: bool = False
    indent: int = 0


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Content of a dot plot.

    Attributes
    ----------
    rows : sequence of DotsRow
        Rows, from top to bottom.
    title, description : str
        Title and description for assistive technology; not drawn.
    x_title : str
        Title of the x axis.
    kinds : sequence of str
        Names of the kinds of dots in the legend.
    reference : float or None
        Position of a vertical line, such as 0 for no difference.
    x_range : (float, float), optional
        Ends of the axis.
    width : float
        Width in units; text is 11–12 units high.
    identifier : str
        Identifier of the element; needed if a page contains the same chart twice.
    """

    rows: Sequence[DotsRow]
    title: str
    x_title: str
    description: str = ""
    kinds: Sequence[str] = ()
    reference: float | None = None
    x_range: tuple[float, float] | None = None
    width: float = 440
    identifier: str = ""


_ROW, _HEADING, _INDENT = 19.0, 24.0, 10.0


def dots_with_intervals(chart: Dots) -> Svg:
    """Draw a dot plot.

    Examples
    --------
    >>> rows = [DotsRow(label="A", value=0.5, low=0.4, high=0.6, text="0.50"), DotsRow(label="B", text="failed")]
    >>> made = dots_with_intervals(Dots(rows=rows, title="Scores", x_title="score"))
    >>> made.count("chart-row-label"), "failed" in made
    (2, True)
    """
    x_range = chart.x_range or _range(chart)
    label_width = max((text_width(row.label) + row.indent * _INDENT for row in chart.rows), default=0.0)
    label_width = min(label_width, 0.45 * chart.width)
    left = label_width + 14
    right = (
        chart.width
        - 12
        - max((text_width(row.text, TICK_FONT_SIZE) for row in chart.rows if finite(row.value)), default=0.0)
    )
    drawn_legend, legend_height = legend(_entries(chart), left=4, right=chart.width - 4, top=5)
    long = len(chart.rows) > 20  # then the axis is also drawn above
    top = 9 + legend_height + (34 if long else 0)
    bottom = top + sum(_HEADING if row.heading else _ROW for row in chart.rows) + 4
    frame, x = Frame(left, right, top, bottom), Scale(*x_range, left, right)
    parts = [drawn_legend, horizontal_axis(axis_ticks(x), frame, chart.x_title, above=long)]
    if chart.reference is not None and x.low <= chart.reference <= x.high:
        parts.append(line(x(chart.reference), top, x(chart.reference), bottom, "chart-reference"))
    y = top + 2
    for row in chart.rows:
        height = _HEADING if row.heading else _ROW
        parts.append(_row(row, x, y + height / 2, label_width, chart.width))
        y += height
    return figure(
        join(parts),
        width=chart.width,
        height=bottom + 40,
        title=chart.title,
        description=chart.description,
        kind="dots",
        identifier=chart.identifier,
        links=any(row.href for row in chart.rows),
    )


def _range(chart: Dots) -> tuple[float, float]:
    values = [one for row in chart.rows for one in (row.value, row.low, row.high, *(mark.value for mark in row.marks))]
    return nice_range(values if chart.reference is None else [*values, chart.reference])


def _entries(chart: Dots) -> list[tuple[Svg, str]]:
    entries = []
    if len(chart.kinds) > 1:
        used = sorted({row.kind for row in chart.rows if finite(row.value) and row.kind < len(chart.kinds)})
        entries += [(marker(kind, 0, 0), chart.kinds[kind]) for kind in used]
    there = {mark.kind for row in chart.rows for mark in row.marks if finite(mark.value)}
    return entries + [(_mark(kind, 0, 0), kind) for kind in _MARKS if kind in there]


def _mark(kind: MarkKind, x: float, y: float) -> Svg:
    """Draw a reference: a triangle above for the best, a stroke for the median, a bracket for the ceiling."""
    n = number
    path = {
        "best": f"M{n(x)} {n(y - 3)}l-3.2 -5h6.4z",
        "median": f"M{n(x)} {n(y - 6)}v12",
        "ceiling": f"M{n(x - 3)} {n(y - 7)}h3v14h-3",
    }[kind]
    return element("path", class_=f"chart-{kind}", d=path)


def _row(row: DotsRow, x: Scale, y: float, label_width: float, width: float) -> Svg:
    start = 4 + row.indent * _INDENT
    if row.heading:
        return element("text", clipped(row.label, width), class_="chart-heading", x=start, y=y + 7)
    parts = [tooltip(row.hint or f"{row.label}: {row.text}")]
    short = clipped(row.label, label_width - row.indent * _INDENT)
    parts.append(element("text", short, class_="chart-row-label", x=start, y=y + 4))
    parts += [_mark(mark.kind, x.clip(mark.value), y) for mark in row.marks if finite(mark.value)]
    if finite(row.value):
        if finite(row.low, row.high):
            parts.append(line(x.clip(row.low), y, x.clip(row.high), y, "chart-error chart-bar"))
        parts.append(marker(row.kind, x.clip(row.value), y))
    if row.text:
        parts.append(element("text", row.text, class_="chart-tick chart-end", x=width - 4, y=y + 4))
    return element("a", *parts, href=row.href) if row.href else element("g", *parts)
