"""Figures as SVG, drawn without a plot library or a web framework."""

from brainscore_core.figures.axes import Svg, nice_range, nice_ticks, tick_texts
from brainscore_core.figures.dot_plot import Dots, DotsRow, Mark, dots_with_intervals
from brainscore_core.figures.line_plot import Lines, Series, lines
from brainscore_core.figures.matrix_plot import CELLS_WITH_TEXT, Matrix, MatrixGroup, matrix
from brainscore_core.figures.scatter_plot import Point, Scatter, scatter
from brainscore_core.figures.svg_file import standalone

__all__ = [
    "CELLS_WITH_TEXT",
    "Dots",
    "DotsRow",
    "Lines",
    "Mark",
    "Matrix",
    "MatrixGroup",
    "Point",
    "Scatter",
    "Series",
    "Svg",
    "dots_with_intervals",
    "lines",
    "matrix",
    "nice_range",
    "nice_ticks",
    "scatter",
    "standalone",
    "tick_texts",
]
