"""Figures as SVG, drawn without a plot library or a web framework."""

from brainscore_core.figures.axes import Svg, nice_range, nice_ticks, tick_texts
from brainscore_core.figures.dot_plot import Dots, DotsRow, Mark, dots_with_intervals
from brainscore_core.figures.export import Plot, standalone
from brainscore_core.figures.heat_plot import HEAT, CellState, HeatMap, heat_map
from brainscore_core.figures.layout import Panel, panels
from brainscore_core.figures.line_plot import (
    Lines,
    Series,
    Specification,
    StateScore,
    lines,
    specification,
    training_plot,
)
from brainscore_core.figures.matrix_plot import CELLS_WITH_TEXT, Matrix, MatrixGroup, matrix
from brainscore_core.figures.scatter_plot import Point, Scatter, scatter

__all__ = [
    "CELLS_WITH_TEXT",
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
    "Plot",
    "Point",
    "Scatter",
    "Series",
    "Specification",
    "StateScore",
    "Svg",
    "dots_with_intervals",
    "heat_map",
    "lines",
    "matrix",
    "nice_range",
    "nice_ticks",
    "panels",
    "scatter",
    "specification",
    "standalone",
    "tick_texts",
    "training_plot",
]
