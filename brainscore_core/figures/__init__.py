"""Figures as SVG, drawn without a plot library or a web framework; several charts in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainscore_core.figures.axes import (
    COLUMN_WIDTHS,
    Drawing,
    Svg,
    clipped,
    column_width,
    element,
    figure,
    join,
    nice_range,
    nice_ticks,
    number,
    tick_texts,
)
from brainscore_core.figures.colour_tables import (
    CELLS_WITH_TEXT,
    HEAT,
    CellState,
    HeatMap,
    Matrix,
    MatrixGroup,
    draw_heat_map,
    draw_matrix,
    heat_map,
    matrix,
)
from brainscore_core.figures.export import Plot, standalone
from brainscore_core.figures.line_plot import (
    Lines,
    Series,
    Specification,
    StateScore,
    lines,
    specification,
    training_plot,
)
from brainscore_core.figures.picture_plot import Picture, Pictures, draw_pictures, pictures
from brainscore_core.figures.point_plots import (
    Dots,
    DotsRow,
    Mark,
    Point,
    Scatter,
    dots_with_intervals,
    draw_dots,
    draw_scatter,
    scatter,
)

__all__ = [
    "CELLS_WITH_TEXT",
    "COLUMN_WIDTHS",
    "HEAT",
    "CellState",
    "Dots",
    "DotsRow",
    "HeatMap",
    "Lines",
    "Mark",
    "Matrix",
    "MatrixGroup",
    "Panel",
    "Picture",
    "Pictures",
    "Plot",
    "Point",
    "Scatter",
    "Series",
    "Specification",
    "StateScore",
    "Svg",
    "column_width",
    "dots_with_intervals",
    "heat_map",
    "lines",
    "matrix",
    "nice_range",
    "nice_ticks",
    "panels",
    "pictures",
    "scatter",
    "specification",
    "standalone",
    "tick_texts",
    "training_plot",
]

_HEADING, _NOTE, _GAP = 20.0, 15.0, 10.0


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A chart in a figure.

    Attributes
    ----------
    chart : Dots, HeatMap, Matrix, Pictures or Scatter
        Content; its title is not drawn.
    heading : str
        Line above the chart.
    notes : sequence of str
        Smaller lines between heading and chart.
    """

    chart: Dots | HeatMap | Matrix | Pictures | Scatter
    heading: str = ""
    notes: Sequence[str] = ()


def panels(rows: Sequence[Sequence[Panel]], *, title: str, description: str = "", identifier: str = "") -> Svg:
    """Draw charts in rows, aligned in columns.

    Parameters
    ----------
    rows : sequence of sequences of Panel
        Rows from top to bottom; they may differ in length.
    title, description : str
        Title and description for assistive technology; not drawn.
    identifier : str
        Identifier of the element; needed if a page contains the same figure twice.

    Examples
    --------
    >>> from brainscore_core.figures import DotsRow
    >>> dots = Dots(rows=[DotsRow(label="A", value=0.5)], title="Scores", x_title="score")
    >>> made = panels([[Panel(chart=dots, heading="V1")], [Panel(chart=dots, heading="IT")]], title="Two regions")
    >>> made.count("chart-heading")
    2
    """
    drawn = [[_draw(panel) for panel in row] for row in rows]
    columns = max((len(row) for row in drawn), default=0)
    widths = [max(row[column].width for row in drawn if column < len(row)) for column in range(columns)]
    shapes, top = [], -_GAP
    for row in drawn:
        left, top = 0.0, top + _GAP
        for drawing, width in zip(row, widths, strict=False):
            shapes.append(element("g", drawing.content, transform=f"translate({number(left)} {number(top)})"))
            left += width
        top += max((drawing.height for drawing in row), default=0.0)
    links = any(drawing.links for row in drawn for drawing in row)
    whole = Drawing(join(shapes), sum(widths), top, links)
    return figure(whole, title=title, description=description, kind="panels", identifier=identifier)


def _draw(panel: Panel) -> Drawing:
    """Draw a chart below its heading and notes."""
    chart = panel.chart
    if isinstance(chart, Dots):
        drawing = draw_dots(chart)
    elif isinstance(chart, Scatter):
        drawing = draw_scatter(chart)
    elif isinstance(chart, Pictures):
        drawing = draw_pictures(chart)
    elif isinstance(chart, Matrix):
        drawing = draw_matrix(chart)
    else:
        drawing = draw_heat_map(chart)
    shapes, y = [], 0.0
    if panel.heading:
        y += _HEADING
        heading = clipped(panel.heading, drawing.width - 8, 13)  # bold type is wider
        shapes.append(element("text", heading, class_="chart-heading", x=4, y=y - 5))
    for note in panel.notes:
        y += _NOTE
        shapes.append(element("text", note, class_="chart-tick", x=4, y=y - 4))
    shapes.append(element("g", drawing.content, transform=f"translate(0 {number(y)})"))
    return Drawing(join(shapes), drawing.width, y + drawing.height, drawing.links)
