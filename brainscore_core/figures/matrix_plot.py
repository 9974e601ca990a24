"""Matrix plots: a square table of numbers as colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.figures.axes import Drawing, Svg, clipped, element, figure, join, line, number, text_width, tooltip

CELLS_WITH_TEXT = 40
"""Largest number of rows with a tooltip for each cell; in larger matrices, cells of one colour are one path."""

_LABELS = 90  # with more rows, names would be too small to read
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
    return figure(
        draw_matrix(chart),
        title=chart.title,
        description=chart.description,
        kind="matrix" if len(chart.labels) <= CELLS_WITH_TEXT else "matrix chart-large",
        identifier=chart.identifier,
    )


def draw_matrix(chart: Matrix) -> Drawing:
    """Draw the elements of a matrix."""
    values = np.asarray(chart.values, dtype=np.float64)
    n = len(chart.labels)
    if values.shape != (n, n):
        raise ValueError(f"{n} labels, but values of the shape {values.shape}")
    size = (
        34.0
        if n <= 8
        else 22.0
        if n <= 16
        else 15.0
        if n <= CELLS_WITH_TEXT
        else 12.0
        if n <= _LABELS
        else 4.0
        if n <= 200
        else 3.0
    )
    named = n <= _LABELS
    names = list(chart.labels) if named else [group.title for group in chart.groups]
    room = min(max((text_width(name, 11.5) for name in names), default=0.0), 170.0) + 10
    side = n * size
    colours = colour_classes(values)
    shapes = [_labels(chart, size, room) if named else _group_names(chart.groups, size, room)]
    if n <= CELLS_WITH_TEXT:
        shapes.append(_cells(chart, values, colours, size, room))
    else:
        shapes.append(_runs(colours, size, room))
    for group in chart.groups[1:]:
        at = room + group.start * size
        shapes += [line(room, at, room + side, at, "chart-divide"), line(at, room, at, room + side, "chart-divide")]
    shapes.append(_key(values, room, room + side + 12, max(side, 120.0)))
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


def _cells(chart: Matrix, values: NDArray[np.float64], colours: NDArray[np.int8], size: float, room: float) -> Svg:
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


def _runs(colours: NDArray[np.int8], size: float, room: float) -> Svg:
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
        row = element("text", short, class_="chart-row-label chart-end", x=room - 6, y=at + 4)
        shapes.append(element("a", tooltip(label), row, href=href) if href else element("g", tooltip(label), row))
        turn = f"translate({number(at + 4)} {number(room - 6)}) rotate(-90)"
        shapes.append(element("g", tooltip(label), element("text", short, class_="chart-row-label", transform=turn)))
    return join(shapes)


def _group_names(groups: Sequence[MatrixGroup], size: float, room: float) -> Svg:
    shapes = []
    free = -1e9
    for group in groups:
        at = room + (group.start + group.stop) / 2 * size
        if at - 7 < free:
            continue
        free = at + 7
        short = clipped(group.title, room - 8, 11.5)
        shapes.append(element("text", short, class_="chart-row-label chart-end", x=room - 6, y=at + 4))
        turn = f"translate({number(at + 4)} {number(room - 6)}) rotate(-90)"
        shapes.append(element("text", short, class_="chart-row-label", transform=turn))
    return join(shapes)


def _key(values: NDArray[np.float64], left: float, top: float, width: float) -> Svg:
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
