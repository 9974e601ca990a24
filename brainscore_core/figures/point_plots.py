"""Dot plots, one row for each item, and scatter plots: values with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isnan, log10, nan
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
    x_range: tuple[float, float] | None = None
    width: float = 400
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
    return axes.figure_of(chart, draw_dots(chart), "dots")


def draw_dots(chart: Dots) -> axes.Drawing:
    """Draw the elements of a dot plot."""
    x_range = chart.x_range or _value_range(chart)
    label_width = max((axes.text_width(row.label) + row.indent * _INDENT for row in chart.rows), default=0.0)
    label_width = min(label_width, 0.45 * chart.width)
    left = label_width + 14
    text_end = chart.width - 4
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
        y += height
    return axes.Drawing(axes.join(shapes), chart.width, bottom + 40, any(row.href for row in chart.rows))


def _value_range(chart: Dots) -> tuple[float, float]:
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
    return entries + [(_reference_mark(kind, 0, 0), kind) for kind in _MARKS if kind in there]


def _reference_mark(kind: MarkKind, x: float, y: float) -> Svg:
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
    shapes += [_reference_mark(mark.kind, x.clip(mark.value), y) for mark in row.marks if axes.finite(mark.value)]
    if axes.finite(row.value):
        if not isnan(row.low) and not isnan(row.high):
            shapes.append(axes.line(x.clip(row.low), y, x.clip(row.high), y, "chart-error chart-bar"))
            shapes += [_arrow(x, y, sign) for limit, sign in ((row.low, -1), (row.high, 1)) if limit == sign * inf]
        shapes.append(axes.marker(row.kind, x.clip(row.value), y))
    if row.text:
        shapes.append(axes.element("text", row.text, class_="chart-tick chart-end", x=text_end, y=y + 4))
    return axes.element("a", *shapes, href=row.href) if row.href else axes.element("g", *shapes)


@dataclass(frozen=True, kw_only=True)
class Point:
    """An item.

    Attributes
    ----------
    x, y : float
        Its values; drawn if both are finite.
    label : str
        Tooltip, and name for assistive technology.
    x_low, x_high, y_low, y_high : float
        Limits of the intervals; NaN if there is none.
    href : str or None
        Link of the point.
    kind : int
        Kind, which determines form and colour; see `Scatter.kinds`.
    name : str
        Text beside the point, if there is space.
    """

    x: float
    y: float
    label: str
    x_low: float = nan
    x_high: float = nan
    y_low: float = nan
    y_high: float = nan
    href: str | None = None
    kind: int = 0
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Content of a scatter plot.

    Attributes
    ----------
    points : sequence of Point
        Points; later ones cover earlier ones.
    title, description : str
        Title and description for assistive technology; not drawn.
    x_title, y_title : str
        Titles of the axes.
    kinds : sequence of str
        Names of the kinds of points in the legend; without them, there is no legend.
    identity : bool
        Draw x = y; both axes then have the same range.
    curve : sequence of (float, float)
        Points of a dashed line, such as a limit.
    curve_name : str
        What the line is, for the legend.
    x_log : bool
        Logarithmic horizontal axis; values that are not positive are not drawn.
    width, height : float
        Size in units; text is 11–12 units high.
    identifier : str
        Identifier of the element; needed if a page contains the same chart twice.
    """

    points: Sequence[Point]
    title: str
    x_title: str
    y_title: str
    description: str = ""
    kinds: Sequence[str] = ()
    identity: bool = False
    curve: Sequence[tuple[float, float]] = ()
    curve_name: str = ""
    x_log: bool = False
    width: float = 400
    height: float = 380
    identifier: str = ""


def scatter(chart: Scatter) -> Svg:
    """Draw a scatter plot.

    Examples
    --------
    >>> made = scatter(Scatter(points=[Point(x=0.2, y=0.4, label="A")], title="A and B", x_title="x", y_title="y"))
    >>> made[:4], "<title>A</title>" in made
    ('<svg', True)
    >>> points = [Point(x=size, y=0.5, label="A") for size in (2e6, 3e9)]
    >>> made = scatter(Scatter(points=points, title="Size", x_title="parameters", y_title="score", x_log=True))
    >>> [text for text in ("1M", "10M", "100M", "1B") if f">{text}<" in made]
    ['10M', '100M', '1B']
    """
    return axes.figure_of(chart, draw_scatter(chart), "scatter")


def draw_scatter(chart: Scatter) -> axes.Drawing:
    """Draw the elements of a scatter plot."""
    points = [point for point in chart.points if axes.finite(point.x, point.y)]
    if chart.x_log:
        points = [_on_log_scale(point) for point in points if point.x > 0]
    x_range = _range([(p.x, p.x_low, p.x_high) for p in points])
    y_range = _range([(p.y, p.y_low, p.y_high) for p in points])
    if chart.identity:
        x_range = y_range = min(x_range[0], y_range[0]), max(x_range[1], y_range[1])
    used = sorted({point.kind for point in points if point.kind < len(chart.kinds)})
    entries = [(axes.marker(kind, 0, 0), chart.kinds[kind]) for kind in used] if len(chart.kinds) > 1 else []
    if chart.curve_name:
        entries.append((axes.line(-6, 0, 6, 0, "chart-identity"), chart.curve_name))
    left = 28 + max(
        axes.text_width(tick.text, axes.TICK_FONT_SIZE) for tick in axes.axis_ticks(axes.Scale(*y_range, 1, 0))
    )
    drawn_legend, height = axes.legend(entries, left=left, right=chart.width - 12, top=4)
    frame = axes.Frame(left, chart.width - 12, 10 + height, chart.height - 42)
    x, y = axes.Scale(*x_range, frame.left, frame.right), axes.Scale(*y_range, frame.bottom, frame.top)
    shapes = [
        axes.horizontal_axis(_log_ticks(x) if chart.x_log else axes.axis_ticks(x), frame, chart.x_title),
        axes.vertical_axis(axes.axis_ticks(y), frame, chart.y_title),
        drawn_legend,
    ]
    if chart.identity:
        shapes.append(axes.line(x.start, y.start, x.end, y.end, "chart-identity"))
    if chart.curve:
        inside = [(x(px), y(py)) for px, py in chart.curve if x.low <= px <= x.high and y.low <= py <= y.high]
        steps = "L".join(f"{axes.number(px)} {axes.number(py)}" for px, py in inside)
        shapes += [axes.element("path", class_="chart-identity", d=f"M{steps}")] if inside else []
    shapes.append(axes.element("g", *(_intervals(point, x, y) for point in points), class_="chart-errors"))
    size = 4.0 if len(points) <= 100 else 3.2 if len(points) <= 300 else 2.6
    shapes.append(axes.element("g", *(_mark(point, x, y, size) for point in points), class_="chart-points"))
    shapes.append(_names(points, x, y))
    return axes.Drawing(axes.join(shapes), chart.width, chart.height, any(point.href for point in points))


def _on_log_scale(point: Point) -> Point:
    low, high = (log10(limit) if limit > 0 else nan for limit in (point.x_low, point.x_high))
    return replace(point, x=log10(point.x), x_low=low, x_high=high)


def _log_ticks(scale: axes.Scale) -> list[axes.AxisTick]:
    """Powers of ten along a scale of logarithms, also twice and five times these if there are few."""
    powers = range(floor(scale.low), ceil(scale.high) + 1)
    for factors in ((1,), (1, 2, 5)):
        values = [(power + log10(factor), factor * 10.0**power) for power in powers for factor in factors]
        inside = [(exponent, value) for exponent, value in values if scale.low - 1e-9 <= exponent <= scale.high + 1e-9]
        if len(inside) > 2:
            break
    return [axes.AxisTick(scale(exponent), _short(value)) for exponent, value in inside]


def _short(value: float) -> str:
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= size * 0.999:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _range(values: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Ends of an axis for all values, and for intervals unless they are much wider than the spread of the values."""
    low, high = axes.nice_range([value for value, _, _ in values])
    reach = 0.4 * (high - low)
    ends = [min(max(end, low - reach), high + reach) for _, *two in values for end in two if axes.finite(end)]
    return axes.nice_range([low, high, *ends], share=0.0)


def _mark(point: Point, x: axes.Scale, y: axes.Scale, size: float) -> Svg:
    mark = axes.marker(point.kind, x.clip(point.x), y.clip(point.y), size)
    if point.href:
        return axes.element("a", axes.tooltip(point.label), mark, href=point.href)
    return axes.element("g", axes.tooltip(point.label), mark)


def _intervals(point: Point, x: axes.Scale, y: axes.Scale) -> Svg:
    shapes = []
    if axes.finite(point.x_low, point.x_high):
        shapes.append(
            axes.line(x.clip(point.x_low), y.clip(point.y), x.clip(point.x_high), y.clip(point.y), "chart-error")
        )
    if axes.finite(point.y_low, point.y_high):
        shapes.append(
            axes.line(x.clip(point.x), y.clip(point.y_low), x.clip(point.x), y.clip(point.y_high), "chart-error")
        )
    return axes.join(shapes)


def _names(points: Sequence[Point], x: axes.Scale, y: axes.Scale) -> Svg:
    """Draw names beside points if they overlap neither another name nor a point."""
    occupied = [(x.clip(p.x) - 4, y.clip(p.y) - 4, x.clip(p.x) + 4, y.clip(p.y) + 4) for p in points]
    shapes = []
    for point in points:
        if not point.name:
            continue
        px, py, width = x.clip(point.x), y.clip(point.y), axes.text_width(point.name, axes.TICK_FONT_SIZE)
        beside = ((px + 5, py - 5), (px - 5 - width, py - 5), (px + 5, py + 13), (px - 5 - width, py + 13))
        has_intervals = axes.finite(point.x_low, point.x_high) or axes.finite(point.y_low, point.y_high)
        for left, base in (
            *(beside if has_intervals else ()),  # where neither interval is
            (px + 7, py + 4),
            (px - 7 - width, py + 4),
            (px - width / 2, py - 8),
            (px - width / 2, py + 16),
        ):
            box = (left, base - 10, left + width, base + 3)
            inside = box[0] >= x.start and box[2] <= x.end + 8 and box[1] >= y.end - 4 and box[3] <= y.start
            if inside and not any(_overlap(box, box_before) for box_before in occupied):
                occupied.append(box)
                shapes.append(axes.element("text", point.name, class_="chart-name", x=left, y=base))
                break
    return axes.join(shapes)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
