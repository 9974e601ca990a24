"""Charts as SVG: frozen dataclasses in, markup out; the same on a page and in a paper.

Colours are classes (``site/charts.css``, light and dark); nothing is styled inline. :func:`standalone` makes a file.
"""

from brainscore_web.charts._dots import Dots, DotsRow, Mark, dots_with_intervals
from brainscore_web.charts._lines import Lines, Series, lines
from brainscore_web.charts._matrix import CELLS_WITH_TEXT, Matrix, MatrixGroup, matrix
from brainscore_web.charts._scatter import Point, Scatter, scatter
from brainscore_web.charts._standalone import standalone
from brainscore_web.charts._ticks import nice_range, nice_ticks, tick_texts

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
    "dots_with_intervals",
    "lines",
    "matrix",
    "nice_range",
    "nice_ticks",
    "scatter",
    "standalone",
    "tick_texts",
]
