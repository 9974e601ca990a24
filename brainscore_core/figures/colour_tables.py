"""Tables of numbers as colours: heat maps, with marks for cells without a number, and square matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.figures import axes
from brainscore_core.figures.axes import Drawing, Svg, clipped, element, join, line, number, text_width, tooltip

HEAT = (
    "#f7fbff", "#e3eef8", "#cfe1f2", "#b3d1e8", "#93bfde", "#6aa8d2",
    "#4690c4", "#2c76b2", "#195d9f", "#0d4688", "#083370", "#06224f",
)  # fmt: skip
"""From 0 to 1 in twelve steps of one hue, from light to dark: readable without seeing colours, and in print."""


def heat_class(value: float) -> int:
    """Place among the colours: below 0 as 0, above 1 as 1.

    Examples
    --------
    >>> heat_class(-0.2), heat_class(0.5), heat_class(1.0)
    (0, 6, 11)
    """
    return max(0, min(len(HEAT) - 1, math.floor(max(-1.0, min(value, 2.0)) * len(HEAT))))


def dark_text(colour: str) -> bool:
    """Whether black is easier to read on a colour than white (WCAG 2 contrast)."""
    return contrast(colour, "#000000") >= contrast(colour, "#ffffff")


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it, from 1 to 21.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def cell_text(value: float) -> str:
    """Format a score with as few characters as possible.

    Examples
    --------
    >>> cell_text(0.414), cell_text(-0.05), cell_text(1.0), cell_text(0.001), cell_text(-250.0)
    ('.41', '−.05', '1.00', '.00', '−250')
    """
    if abs(value) >= 10:
        return f"{value:.3g}".replace("-", "−")
    text = f"{value:.2f}"
    text = "0.00" if text == "-0.00" else text
    return text.replace("-0.", "-.").replace("-", "−") if value < 0 else text.removeprefix("0")


Pattern = Literal["vertical", "horizontal", "rising", "falling", "crossed", "dots"]


@dataclass(frozen=True, kw_only=True)
class CellState:
    """Why a cell has no number.

    Attributes
    ----------
    name : str
        Text in the legend.
    letter : str
        Text in the cell.
    pattern : str
        Lines across the cell.
    """

    name: str
    letter: str
    pattern: Pattern


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Content of a heat map.

    Attributes
    ----------
    rows, columns : sequence of str
        Labels.
    values : array (rows, columns)
        From 0 to 1; values outside have the colours of the ends. NaN if the cell has a state instead.
    states : array (rows, columns) of str
        Key of each cell without a number in `state_kinds`.
    state_kinds : mapping of str to CellState
        States, in the order of the legend, which shows those that occur.
    title, description : str
        Title and description for assistive technology; not drawn.
    row_title, column_title : str
        Texts that replace the labels of more than 70 rows or 55 columns.
    dividers : sequence of int
        Columns that begin a group, with a space before them.
    notes : sequence of (str, str)
        Signs in labels with their meanings, for the legend.
    width, height : float
        Width, and largest height, in units; text is 10–12 units high.
    identifier : str
        Identifier of the element; needed if a page contains the same chart twice.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: ArrayLike
    states: ArrayLike
    state_kinds: Mapping[str, CellState]
    title: str
    description: str = ""
    row_title: str = ""
    column_title: str = ""
    dividers: Sequence[int] = ()
    notes: Sequence[tuple[str, str]] = ()
    width: float = axes.COLUMN_WIDTHS[174]
    height: float = 1106
    identifier: str = ""


_NAMED_ROWS, _NAMED_COLUMNS = 70, 55
_CELL_WIDTH, _CELL_HEIGHT = 61.0, 20.0  # largest
_TEXT_WIDTH, _TEXT_HEIGHT = 28.0, 12.0  # smallest cells with a text
_DIVIDER, _BELOW, _HATCH = 5.0, 48.0, 5.0
_PALE = "#c3c8ce"  # lines of patterns
_MOST_PATTERNS = 10_000  # cells; in larger heat maps, adjacent cells of one colour are one shape
_MOST_SHAPES = 2000  # in one path


def heat_map(chart: HeatMap) -> Svg:
    """Draw a heat map.

    Raises
    ------
    ValueError
        If the shape of values or states does not match the numbers of labels.

    Examples
    --------
    >>> failed = CellState(name="failed", letter="F", pattern="rising")
    >>> made = heat_map(
    ...     HeatMap(
    ...         rows=["A"], columns=["V1", "IT"], values=[[0.5, float("nan")]], states=[["", "failed"]],
    ...         state_kinds={"failed": failed}, title="Scores",
    ...     )
    ... )  # fmt: skip
    >>> ".50" in made, ">failed<" in made
    (True, True)
    """
    return axes.figure_of(chart, draw_heat_map(chart), "heat")


def draw_heat_map(chart: HeatMap) -> axes.Drawing:
    """Draw the elements of a heat map."""
    values, states = np.asarray(chart.values, dtype=np.float64), np.asarray(chart.states)
    shape = (len(chart.rows), len(chart.columns))
    if values.shape != shape or states.shape != shape:
        raise ValueError(f"labels of {shape} cells, but values of {values.shape} and states of {states.shape}")
    n_rows, n_columns = shape
    named_rows, named_columns = n_rows <= _NAMED_ROWS, n_columns <= _NAMED_COLUMNS
    row_names = [axes.clipped(name, 220, 11.5) for name in chart.rows] if named_rows else []
    column_names = [axes.clipped(name, 260, 11.5) for name in chart.columns] if named_columns else []
    left = 12 + max((axes.text_width(name, 11.5) for name in row_names), default=14.0)
    above = 12 + max((axes.text_width(name, 11.5) for name in column_names), default=14.0)
    gaps = np.cumsum(np.isin(np.arange(n_columns), [column for column in chart.dividers if column > 0])) * _DIVIDER
    room = chart.width - left - 8 - (gaps[-1] if n_columns else 0.0)
    width = min(_CELL_WIDTH, room / max(n_columns, 1))
    height = min(_CELL_HEIGHT, (chart.height - above - _BELOW) / max(n_rows, 1))
    x = np.asarray(left + np.arange(n_columns) * width + gaps, dtype=np.float64)
    y = np.asarray(above + np.arange(n_rows) * height, dtype=np.float64)
    bottom = above + n_rows * height
    shapes = []
    for name, at in zip(row_names, y, strict=False):
        base = at + height / 2 + 4
        shapes.append(axes.element("text", name, class_="chart-row-label chart-end", x=left - 6, y=base))
    if not named_rows:
        turn = _upright(left - 9, (above + bottom) / 2)
        shapes.append(axes.element("text", chart.row_title, class_="chart-label chart-middle", transform=turn))
    for name, at in zip(column_names, x, strict=False):
        turn = _upright(at + width / 2 + 4, above - 6)
        shapes.append(axes.element("text", name, class_="chart-row-label", transform=turn))
    if not named_columns:
        middle = (left + x[-1] + width) / 2
        shapes.append(
            axes.element("text", chart.column_title, class_="chart-label chart-middle", x=middle, y=above - 9)
        )
    if values.size <= _MOST_PATTERNS:
        shapes.append(_cells(chart, values, states, x, y, (width, height)))
    else:
        shapes.append(_runs(chart, values, x, y, (width, height)))
    shapes.append(_legend(chart, values, states, bottom + 18))
    return axes.Drawing(axes.join(shapes), chart.width, bottom + _BELOW)


def _upright(x: float, y: float) -> str:
    return f"translate({axes.number(x)} {axes.number(y)}) rotate(-90)"


def _cells(
    chart: HeatMap,
    values: NDArray[np.float64],
    states: NDArray[np.str_],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    size: tuple[float, float],
) -> Svg:
    """Draw each cell with its tooltip, pattern and text."""
    width, height = size[0] - 0.8, size[1] - 0.8
    texts = size[0] >= _TEXT_WIDTH and size[1] >= _TEXT_HEIGHT
    cells = []
    for i, row in enumerate(chart.rows):
        for j, column in enumerate(chart.columns):
            value, ink = values[i, j], ""
            if np.isnan(value):
                state = chart.state_kinds[str(states[i, j])]
                shapes = [axes.tooltip(f"{row} × {column}: {state.name}")]
                shapes.append(_pattern(state, x[j], y[i], width, height))
                text = state.letter
            else:
                colour = HEAT[heat_class(value)]
                text = cell_text(value)
                shapes = [axes.tooltip(f"{row} × {column}: {text}")]
                shapes.append(axes.element("rect", fill=colour, x=x[j], y=y[i], width=width, height=height))
                ink = "" if dark_text(colour) else " chart-on-strong"
            if texts and text:
                class_ = f"chart-cell-text chart-middle{ink}"
                middle, base = x[j] + width / 2, y[i] + height / 2 + 3.5
                shapes.append(axes.element("text", text, class_=class_, x=middle, y=base))
            cells.append(axes.element("g", *shapes))
    return axes.element("g", *cells, class_="chart-cells")


def _pattern(state: CellState, x: float, y: float, width: float, height: float) -> Svg:
    """Draw the lines of a state across a cell."""
    ends = []
    if state.pattern == "vertical":
        ends = [(at, 0.0, at, height) for at in np.arange(_HATCH / 2, width, _HATCH)]
    elif state.pattern == "horizontal":
        ends = [(0.0, at, width, at) for at in np.arange(_HATCH / 2, height, _HATCH)]
    elif state.pattern == "dots":
        dots = ((a, b) for b in np.arange(_HATCH / 2, height, _HATCH) for a in np.arange(_HATCH / 2, width, _HATCH))
        ends = [(a - 0.7, b, a + 0.7, b) for a, b in dots]
    else:
        for at in np.arange(_HATCH, width + height, 1.4 * _HATCH):
            start, end = (min(at, width), max(0.0, at - width)), (max(0.0, at - height), min(at, height))
            ends.append((*start, *end))
        if state.pattern == "falling":
            ends = [(width - a, b, width - c, d) for a, b, c, d in ends]
        elif state.pattern == "crossed":
            ends += [(width - a, b, width - c, d) for a, b, c, d in ends]
    n = axes.number
    path = "".join(f"M{n(x + a)} {n(y + b)}L{n(x + c)} {n(y + d)}" for a, b, c, d in ends)
    return axes.element("path", fill="none", stroke=_PALE, d=path)


def _runs(
    chart: HeatMap,
    values: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    size: tuple[float, float],
) -> Svg:
    """Draw cells without patterns; adjacent ones of one colour are one shape."""
    width, height = size
    colours = np.floor(np.clip(np.nan_to_num(values), 0, 1) * len(HEAT)).clip(max=len(HEAT) - 1).astype(int)
    colours[np.isnan(values)] = -1
    starts_group = np.isin(np.arange(len(x)), chart.dividers)
    shapes: dict[int, list[str]] = {colour: [] for colour in range(len(HEAT))}
    for row, top in zip(colours, y, strict=True):
        starts = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]) | starts_group[1:]])
        for start, stop in zip(starts, [*starts[1:], len(row)], strict=True):
            if row[start] >= 0:
                length = x[stop - 1] + width - x[start]
                shapes[row[start]].append(f"M{x[start]:.2f} {top:.2f}h{length:.2f}v{height:.2f}h{-length:.2f}z")
    return axes.join(
        axes.element("path", fill=HEAT[colour], d="".join(rectangles[first : first + _MOST_SHAPES]))
        for colour, rectangles in shapes.items()
        for first in range(0, len(rectangles), _MOST_SHAPES)
    )


def _legend(chart: HeatMap, values: NDArray[np.float64], states: NDArray[np.str_], top: float) -> Svg:
    shapes = [axes.element("text", "0", class_="chart-tick chart-legend", x=6, y=top + 10)]
    shapes += [
        axes.element("rect", fill=colour, x=16 + 14 * step, y=top, width=14, height=12)
        for step, colour in enumerate(HEAT)
    ]
    end = 16 + 14 * len(HEAT)
    shapes.append(axes.element("text", "1", class_="chart-tick chart-legend", x=end + 4, y=top + 10))
    present = set(np.unique(states[np.isnan(values)]).tolist())
    entries = [
        (
            axes.join(
                [
                    _pattern(state, -10, -6, 16, 12),
                    axes.element("text", state.letter, class_="chart-cell-text chart-middle", x=-2, y=4),
                ]
            ),
            state.name,
        )
        for key, state in chart.state_kinds.items()
        if key in present
    ]
    entries += [
        (axes.element("text", sign, class_="chart-tick chart-legend", x=0, y=4), text) for sign, text in chart.notes
    ]
    drawn, _ = axes.legend(entries, left=end + 28, right=chart.width - 4, top=top)
    return axes.join([*shapes, drawn])


CELLS_WITH_TEXT = 40
"""Largest number of rows with a tooltip for each cell; in larger matrices, cells of one colour are one path."""

_LABELS = 90  # with more rows, names would be too small to read
_SIZES = ((8, 34.0), (16, 22.0), (CELLS_WITH_TEXT, 15.0), (_LABELS, 12.0), (200, 4.0), (math.inf, 3.0))
"""Largest number of rows → size of a cell."""

_STEPS = 20  # colours from 0 to 1
_STRONG = 14  # from this step on, texts have the colour of the page


class MatrixGroup(NamedTuple):
    """Rows from `start` up to, but without, `stop` that belong together."""

    title: str
    start: int
    stop: int


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Content of a matrix.

    Attributes
    ----------
    labels : sequence of str
        Labels of both rows and columns.
    values : array (labels, labels)
        From −1 to 1, or from 0 to 1; NaN is drawn as a blank with a dot.
    title, description : str
        Title and description for assistive technology; not drawn.
    hrefs : sequence of (str or None), optional
        Links of the labels.
    counts : array (labels, labels) of int, optional
        Counts, shown in the tooltip of each cell.
    groups : sequence of MatrixGroup
        Groups of rows, separated by lines; their names replace the labels if there are too many of these.
    symbol : str
        Symbol of the values, such as r.
    identifier : str
        Identifier of the element; needed if a page contains the same chart twice.
    """

    labels: Sequence[str]
    values: ArrayLike
    title: str
    description: str = ""
    hrefs: Sequence[str | None] = ()
    counts: ArrayLike | None = None
    groups: Sequence[MatrixGroup] = ()
    symbol: str = "r"
    identifier: str = ""


def matrix(chart: Matrix) -> Svg:
    """Draw a matrix.

    Raises
    ------
    ValueError
        If the shape of the values does not match the number of labels.

    Examples
    --------
    >>> made = matrix(Matrix(labels=["A", "B"], values=[[1, -0.5], [-0.5, 1]], title="Correlations"))
    >>> "A × B: r = −0.50" in made
    True
    """
    kind = "matrix" if len(chart.labels) <= CELLS_WITH_TEXT else "matrix chart-large"
    return axes.figure_of(chart, draw_matrix(chart), kind)


def draw_matrix(chart: Matrix) -> Drawing:
    """Draw the elements of a matrix."""
    values = np.asarray(chart.values, dtype=np.float64)
    n = len(chart.labels)
    if values.shape != (n, n):
        raise ValueError(f"{n} labels, but values of the shape {values.shape}")
    size = next(size for most, size in _SIZES if n <= most)
    named = n <= _LABELS
    names = list(chart.labels) if named else [group.title for group in chart.groups]
    room = min(max((text_width(name, 11.5) for name in names), default=0.0), 170.0) + 10
    side = n * size
    colours = colour_classes(values)
    shapes = [_labels(chart, size, room) if named else _group_names(chart.groups, size, room)]
    if n <= CELLS_WITH_TEXT:
        shapes.append(_coloured_cells(chart, values, colours, size, room))
    else:
        shapes.append(_coloured_rows(colours, size, room))
    for group in chart.groups[1:]:
        at = room + group.start * size
        shapes += [line(room, at, room + side, at, "chart-divide"), line(at, room, at, room + side, "chart-divide")]
    shapes.append(_colour_key(values, room, room + side + 12, max(side, 120.0)))
    links = named and any(chart.hrefs)
    return Drawing(join(shapes), max(room + side, room + 120) + 12, room + side + 46, links)


def colour_classes(values: NDArray[np.float64]) -> NDArray[np.int8]:
    """Convert values to twentieths, from −20 to 20; −128 for NaN.

    Examples
    --------
    >>> colour_classes(np.array([-1, -0.02, 0.26, 1, np.nan])).tolist()
    [-20, 0, 5, 20, -128]
    """
    steps = np.rint(np.clip(np.nan_to_num(values), -1, 1) * _STEPS)
    return np.where(np.isnan(values), -128, steps).astype(np.int8)


def _class(colour: int, shape: str = "cell") -> str:
    return f"chart-{shape}-" + ("none" if colour == -128 else f"{'m' if colour < 0 else ''}{abs(colour)}")


def _coloured_cells(
    chart: Matrix, values: NDArray[np.float64], colours: NDArray[np.int8], size: float, room: float
) -> Svg:
    counts = None if chart.counts is None else np.asarray(chart.counts)
    cells = []
    for i, row in enumerate(chart.labels):
        for j, column in enumerate(chart.labels):
            value = values[i, j]
            hint = f"{row} × {column}: " + ("none" if np.isnan(value) else f"{chart.symbol} = {value:.2f}")
            if counts is not None:
                hint += f", n = {int(counts[i, j])}"
            x, y = room + j * size, room + i * size
            shapes = [tooltip(hint.replace("-0.", "−0.").replace("-1.", "−1."))]
            shapes.append(element("rect", class_=_class(int(colours[i, j])), x=x, y=y, width=size - 1, height=size - 1))
            if size >= 30 and not np.isnan(value):
                strong = " chart-on-strong" if abs(colours[i, j]) >= _STRONG else ""
                text = f"{value:.2f}".replace("-", "−")
                shapes.append(
                    element(
                        "text", text, class_=f"chart-cell-text chart-middle{strong}", x=x + size / 2, y=y + size / 2 + 3
                    )
                )
            elif np.isnan(value):
                shapes.append(element("circle", class_="chart-dot-none", cx=x + size / 2, cy=y + size / 2, r=1.2))
            cells.append(element("g", *shapes))
    return element("g", *cells, class_="chart-cells")


def _coloured_rows(colours: NDArray[np.int8], size: float, room: float) -> Svg:
    """Draw one path per colour, in which adjacent cells are one stroke as thick as a cell."""
    paths: dict[int, list[str]] = {}
    for i, row in enumerate(colours):
        starts = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
        stops = np.r_[starts[1:], len(row)]
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            paths.setdefault(int(row[start]), []).append(f"M{start} {i}h{stop - start}")
    strokes = [element("path", class_=_class(colour, "run"), d="".join(paths[colour])) for colour in sorted(paths)]
    at = number(room)
    scale = f"translate({at} {number(room + size / 2)}) scale({number(size)})"
    return element("g", *strokes, class_="chart-cells", transform=scale, shape_rendering="crispEdges")


def _labels(chart: Matrix, size: float, room: float) -> Svg:
    shapes = []
    for index, label in enumerate(chart.labels):
        at = room + (index + 0.5) * size
        short = clipped(label, room - 8, 11.5)
        href = chart.hrefs[index] if chart.hrefs else None
        row, column = _row_and_column(short, at, room)
        shapes.append(element("a", tooltip(label), row, href=href) if href else element("g", tooltip(label), row))
        shapes.append(element("g", tooltip(label), column))
    return join(shapes)


def _row_and_column(text: str, at: float, room: float) -> tuple[Svg, Svg]:
    """Labels of a row and of the same column."""
    row = element("text", text, class_="chart-row-label chart-end", x=room - 6, y=at + 4)
    return row, element("text", text, class_="chart-row-label", transform=_upright(at + 4, room - 6))


def _group_names(groups: Sequence[MatrixGroup], size: float, room: float) -> Svg:
    shapes: list[Svg] = []
    free = -1e9
    for group in groups:
        at = room + (group.start + group.stop) / 2 * size
        if at - 7 < free:
            continue
        free = at + 7
        shapes += _row_and_column(clipped(group.title, room - 8, 11.5), at, room)
    return join(shapes)


def _colour_key(values: NDArray[np.float64], left: float, top: float, width: float) -> Svg:
    """Draw the colour scale with its numbers."""
    finite = values[np.isfinite(values)]
    first = -_STEPS if finite.size and finite.min() < -0.5 / _STEPS else 0
    steps = range(first, _STEPS + 1)
    each = min(width, 260.0) / len(steps)
    shapes = [
        element("rect", class_=_class(step), x=left + index * each, y=top, width=each, height=9)
        for index, step in enumerate(steps)
    ]
    for index, step in enumerate(steps):
        if step % (_STEPS // 2) == 0:
            text = f"{step / _STEPS:.1f}".replace("-", "−")
            shapes.append(
                element("text", text, class_="chart-tick chart-middle", x=left + (index + 0.5) * each, y=top + 22)
            )
    return join(shapes)
