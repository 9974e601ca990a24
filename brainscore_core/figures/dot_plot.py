"""Dot plots: one value of each item with its interval, one row for each item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Literal

from brainscore_core.figures import axes
from brainscore_core.figures.axes import Svg

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
        Value and interval; NaN if there is none. An infinite limit is an arrow at the end of the axis.
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
    state : str
        Text in the place of the dot: why there is no value.
    share : float
        Length of a bar beside the dots, from 0 to 1; NaN if there is none.
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
    state: str = ""
    share: float = nan


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
    ceiling : float or None
        Position of a dashed vertical line, which the legend explains.
    share_title : str
        Title of the axis of the bars, if any row has one.
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
    ceiling: float | None = None
    share_title: str = ""
    x_range: tuple[float, float] | None = None
    width: float = 440
    identifier: str = ""


_ROW, _HEADING, _INDENT = 19.0, 24.0, 10.0
_SHARES, _BAR = 110.0, 11.0


def dots_with_intervals(chart: Dots) -> Svg:
    """Draw a dot plot.

    Examples
    --------
    >>> rows = [DotsRow(label="A", value=0.5, low=0.4, high=0.6, text="0.50"), DotsRow(label="B", text="failed")]
    >>> made = dots_with_intervals(Dots(rows=rows, title="Scores", x_title="score"))
    >>> made.count("chart-row-label"), "failed" in made
    (2, True)
    """
    return axes.figure(
        draw_dots(chart),
        title=chart.title,
        description=chart.description,
        kind="dots",
        identifier=chart.identifier,
    )


def draw_dots(chart: Dots) -> axes.Drawing:
    """Draw the elements of a dot plot."""
    x_range = chart.x_range or _range(chart)
    label_width = max((axes.text_width(row.label) + row.indent * _INDENT for row in chart.rows), default=0.0)
    label_width = min(label_width, 0.45 * chart.width)
    left = label_width + 14
    shares = any(axes.finite(row.share) for row in chart.rows)
    text_end = chart.width - (_SHARES + 18 if shares else 4)
    right = (
        text_end
        - 8
        - max(
            (axes.text_width(row.text, axes.TICK_FONT_SIZE) for row in chart.rows if axes.finite(row.value)),
            default=0.0,
        )
    )
    drawn_legend, legend_height = axes.legend(_entries(chart), left=4, right=chart.width - 4, top=5)
    long = len(chart.rows) > 20  # then the axis is also drawn above
    top = 9 + legend_height + (34 if long else 0)
    bottom = top + sum(_HEADING if row.heading else _ROW for row in chart.rows) + 4
    frame, x = axes.Frame(left, right, top, bottom), axes.Scale(*x_range, left, right)
    shapes = [drawn_legend, axes.horizontal_axis(axes.axis_ticks(x), frame, chart.x_title, above=long)]
    for value, class_ in ((chart.reference, "chart-reference"), (chart.ceiling, "chart-identity")):
        if value is not None and x.low <= value <= x.high:
            shapes.append(axes.line(x(value), top, x(value), bottom, class_))
    share = axes.Scale(0, 1, chart.width - _SHARES, chart.width - 12)
    if shares:
        beside = axes.Frame(share.start, share.end, top, bottom)
        shapes.append(axes.horizontal_axis(axes.axis_ticks(share, 2), beside, chart.share_title, above=long))
    # beside the line of reference, which would cross the text
    at_reference = left if chart.reference is None else x.clip(chart.reference)
    state_start = (at_reference if at_reference < (left + right) / 2 else left) + 6
    y = top + 2
    for row in chart.rows:
        height = _HEADING if row.heading else _ROW
        shapes.append(_row(row, x, y + height / 2, label_width, text_end))
        if row.state:
            state = axes.clipped(row.state, right - state_start, axes.TICK_FONT_SIZE)
            shapes.append(axes.element("text", state, class_="chart-tick", x=state_start, y=y + height / 2 + 4))
        if row.share > 0:
            shapes.append(_bar(row, share, y + height / 2))
        y += height
    return axes.Drawing(axes.join(shapes), chart.width, bottom + 40, any(row.href for row in chart.rows))


def _bar(row: DotsRow, share: axes.Scale, y: float) -> Svg:
    return axes.element(
        "rect",
        class_=f"chart-mark chart-kind-{row.kind}",
        x=share.start,
        y=y - _BAR / 2,
        width=share.clip(row.share) - share.start,
        height=_BAR,
    )


def _range(chart: Dots) -> tuple[float, float]:
    values = [
        value for row in chart.rows for value in (row.value, row.low, row.high, *(mark.value for mark in row.marks))
    ]
    return axes.nice_range([*values, *(value for value in (chart.reference, chart.ceiling) if value is not None)])


def _entries(chart: Dots) -> list[tuple[Svg, str]]:
    entries = []
    if len(chart.kinds) > 1:
        used = sorted({row.kind for row in chart.rows if axes.finite(row.value) and row.kind < len(chart.kinds)})
        entries += [(axes.marker(kind, 0, 0), chart.kinds[kind]) for kind in used]
    if chart.ceiling is not None:
        entries.append((axes.line(0, -6, 0, 6, "chart-identity"), "ceiling"))
    there = {mark.kind for row in chart.rows for mark in row.marks if axes.finite(mark.value)}
    return entries + [(_mark(kind, 0, 0), kind) for kind in _MARKS if kind in there]


def _mark(kind: MarkKind, x: float, y: float) -> Svg:
    """Draw a reference: a triangle above for the best, a stroke for the median, a bracket for the ceiling."""
    n = axes.number
    path = {
        "best": f"M{n(x)} {n(y - 3)}l-3.2 -5h6.4z",
        "median": f"M{n(x)} {n(y - 6)}v12",
        "ceiling": f"M{n(x - 3)} {n(y - 7)}h3v14h-3",
    }[kind]
    return axes.element("path", class_=f"chart-{kind}", d=path)


def _arrow(x: axes.Scale, y: float, sign: int) -> Svg:
    """Draw the end of an interval without a limit."""
    tip, back = x.end if sign > 0 else x.start, -5 * sign
    n = axes.number
    path = f"M{n(tip + back)} {n(y - 4)}L{n(tip)} {n(y)}L{n(tip + back)} {n(y + 4)}"
    return axes.element("path", class_="chart-error chart-bar", d=path)


def _row(row: DotsRow, x: axes.Scale, y: float, label_width: float, text_end: float) -> Svg:
    start = 4 + row.indent * _INDENT
    if row.heading:
        return axes.element("text", axes.clipped(row.label, text_end), class_="chart-heading", x=start, y=y + 7)
    shapes = [axes.tooltip(row.hint or f"{row.label}: {row.text}")]
    short = axes.clipped(row.label, label_width - row.indent * _INDENT)
    shapes.append(axes.element("text", short, class_="chart-row-label", x=start, y=y + 4))
    shapes += [_mark(mark.kind, x.clip(mark.value), y) for mark in row.marks if axes.finite(mark.value)]
    if axes.finite(row.value):
        if not isnan(row.low) and not isnan(row.high):
            shapes.append(axes.line(x.clip(row.low), y, x.clip(row.high), y, "chart-error chart-bar"))
            shapes += [_arrow(x, y, sign) for limit, sign in ((row.low, -1), (row.high, 1)) if limit == sign * inf]
        shapes.append(axes.marker(row.kind, x.clip(row.value), y))
    if row.text:
        shapes.append(axes.element("text", row.text, class_="chart-tick chart-end", x=text_end, y=y + 4))
    return axes.element("a", *shapes, href=row.href) if row.href else axes.element("g", *shapes)
