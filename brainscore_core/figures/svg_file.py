"""A chart as a separate file, with its own colours, a size in millimetres and no links."""

from __future__ import annotations

import re

from brainscore_core.figures.axes import HOLLOW_KINDS

_MM = 85 / 400  # 400 units are one column of a paper; text then has 7 points

_INK, _QUIET, _GRID, _PAPER = "#1b1f24", "#57606a", "#e3e6ea", "#ffffff"
_KINDS = ("#0b57b0", "#b3470a", "#0b6e4f", "#7b3fa0", "#9a2257", "#5c5200", "#00697a", "#4b5563")
# from −1 to 1: blue, white, red, as even in lightness as in charts.css
_ZERO = "#f6f6f6"
_NEGATIVE = (
    "#e8f0fa",
    "#d2e2f5",
    "#b9d2ef",
    "#9dc0e8",
    "#80ade0",
    "#6ea2da",
    "#3b77bc",
    "#2f6cb3",
    "#1d559b",
    "#0e3f80",
)
_POSITIVE = (
    "#fbece6",
    "#f7d8cc",
    "#f2c1af",
    "#eba891",
    "#e69b84",
    "#e0866d",
    "#be4d38",
    "#af3c2d",
    "#94271f",
    "#771616",
)


def _cells() -> dict[str, str]:
    """Names and colours from −1 to 1 in twentieths; every second colour is interpolated."""
    cells = {"0": _ZERO}
    for sign, colours in (("m", _NEGATIVE), ("", _POSITIVE)):
        before = _ZERO
        for step, colour in enumerate(colours):
            between = zip(bytes.fromhex(before[1:]), bytes.fromhex(colour[1:]), strict=True)
            cells[f"{sign}{2 * step + 1}"] = "#" + bytes((lower + upper) // 2 for lower, upper in between).hex()
            cells[f"{sign}{2 * step + 2}"] = before = colour
    return cells


_CELLS = _cells()

STYLE = {
    "chart-paper": f"fill: {_PAPER}",
    "chart": f"font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: {_INK}",
    "chart-label": f"fill: {_INK}; font-size: 12px",
    "chart-tick": f"fill: {_QUIET}; font-size: 11px",
    "chart-row-label": f"fill: {_INK}; font-size: 11.5px",
    "chart-legend": f"fill: {_INK}",
    "chart-name": f"fill: {_INK}; font-size: 11px",
    "chart-strong": "font-weight: bold",
    "chart-heading": f"fill: {_INK}; font-size: 12px; font-weight: bold",
    "chart-cell-text": f"fill: {_INK}; font-size: 10px",
    "chart-on-strong": f"fill: {_PAPER}",
    "chart-middle": "text-anchor: middle",
    "chart-end": "text-anchor: end",
    "chart-grid": f"stroke: {_GRID}; stroke-width: 1; fill: none",
    "chart-axis": f"stroke: {_QUIET}; stroke-width: 1; fill: none",
    "chart-reference": f"stroke: {_INK}; stroke-width: 1.2; fill: none",
    "chart-identity": f"stroke: {_QUIET}; stroke-width: 1; stroke-dasharray: 5 4; fill: none",
    "chart-fit": f"stroke: {_INK}; stroke-width: 1.2; fill: none",
    "chart-error": f"stroke: {_QUIET}; stroke-width: 1; stroke-opacity: 0.55; fill: none",
    "chart-bar": "stroke-width: 1.6; stroke-opacity: 1",
    "chart-divide": f"stroke: {_INK}; stroke-width: 1; fill: none",
    "chart-mark": f"stroke: {_PAPER}; stroke-width: 0.6",
    **{
        f"chart-kind-{kind}": f"fill: {_PAPER}; stroke: {colour}; stroke-width: 1.5"
        if kind in HOLLOW_KINDS
        else f"fill: {colour}"
        for kind, colour in enumerate(_KINDS)
    },
    "chart-line": "fill: none; stroke-width: 1.5",
    **{f"chart-stroke-{kind}": f"stroke: {colour}" for kind, colour in enumerate(_KINDS)},
    "chart-ring": f"fill: none; stroke: {_INK}; stroke-width: 1.6",
    "chart-best": f"fill: {_INK}",
    "chart-median": f"stroke: {_INK}; stroke-width: 1.4; fill: none",
    "chart-ceiling": f"stroke: {_QUIET}; stroke-width: 1.4; fill: none",
    **{f"chart-cell-{name}": f"fill: {colour}" for name, colour in _CELLS.items()},
    **{f"chart-run-{name}": f"stroke: {colour}; stroke-width: 1; fill: none" for name, colour in _CELLS.items()},
    "chart-run-none": f"stroke: {_PAPER}; stroke-width: 1; fill: none",
    "chart-cell-none": f"fill: {_PAPER}",
    "chart-dot-none": f"fill: {_QUIET}",
}
"""Class → properties without variables, which drawing programs do not support."""

_VIEW_BOX = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_LINK = re.compile(r'<a href="[^"]*"')


def standalone(svg: str) -> str:
    """Convert a chart to a file with real text, colours for paper, and without links.

    Parameters
    ----------
    svg : str
        SVG that a function of this package returned.

    Returns
    -------
    str
        A document; 400 units are 85 mm, one column of a paper.

    Raises
    ------
    ValueError
        If it is not such a chart.

    Examples
    --------
    >>> from brainscore_core.figures import Point, Scatter, scatter
    >>> drawn = scatter(Scatter(points=[Point(x=0, y=1, label="A")], title="A and B", x_title="x", y_title="y"))
    >>> standalone(drawn).splitlines()[1][:75]
    '<svg width="85mm" height="80.75mm" xmlns="http://www.w3.org/2000/svg" class'
    """
    box = _VIEW_BOX.search(svg)
    if not svg.startswith("<svg ") or box is None:
        raise ValueError("no chart: it does not begin with an svg element that has a viewBox")
    width, height = (float(side) * _MM for side in box.groups())
    rules = "".join(f".{name}{{{properties}}}\n" for name, properties in STYLE.items())
    head, inner = svg.split(">", 1)
    head = head.replace("<svg", f'<svg width="{width:.4g}mm" height="{height:.4g}mm"', 1)
    inner = _LINK.sub("<g", inner).replace("</a>", "</g>")
    paper = '<rect class="chart-paper" width="100%" height="100%"/>'
    document = f"{head}><style>\n{rules}</style>{paper}{inner}</svg>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'.replace("</svg></svg>", "</svg>")
