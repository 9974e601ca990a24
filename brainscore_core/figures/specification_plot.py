"""Specification curves: ranks of models over many analyses, and the choices of each analysis below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brainscore_core.figures import axes
from brainscore_core.figures.axes import Svg


@dataclass(frozen=True, kw_only=True)
class Specification:
    """Content of a specification curve.

    Attributes
    ----------
    ranks : mapping of str to sequence of float
        Model → its rank in each analysis, from 1; NaN if there is none. Analyses are drawn from left to right.
    choices : mapping of str to sequence of str
        Choice → its value in each analysis.
    title, description : str
        Title and description for assistive technology; not drawn.
    divide : int
        A vertical line after this number of analyses; none before the first and after the last.
    width : float
        Width in units; text is 11–12 units high.
    identifier : str
        Identifier of the element; needed if a page contains the same chart twice.
    """

    ranks: Mapping[str, Sequence[float]]
    choices: Mapping[str, Sequence[str]]
    title: str
    description: str = ""
    divide: int = 0
    width: float = 847
    identifier: str = ""


_LINE, _RANK, _BAR = 15.0, 13.0, 8.0
_STROKE = "chart-line chart-stroke-0"


def specification(chart: Specification) -> Svg:
    """Draw a specification curve.

    Raises
    ------
    ValueError
        If there are no analyses, or models and choices do not have the same number.

    Examples
    --------
    >>> made = specification(Specification(ranks={"A": [1, 1, 2], "B": [2, 2, 1]}, title="Ranks",
    ...                                    choices={"metric": ["pls", "ridge", "rdm"]}, divide=2))
    >>> made.count("<circle"), "ridge" in made
    (4, True)
    """
    numbers = {len(values) for values in (*chart.ranks.values(), *chart.choices.values())}
    if len(numbers) != 1 or 0 in numbers:
        raise ValueError(f"models and choices have {sorted(numbers)} analyses; one number above 0 is needed")
    number, models = numbers.pop(), len(chart.ranks)
    values = {name: list(dict.fromkeys(used)) for name, used in chart.choices.items()}
    labels = [label for options in values.values() for label in options]
    left = 24 + min(0.4 * chart.width, max((axes.text_width(label) for label in labels), default=16.0))
    entries = [(axes.marker(kind, 0, 0), model) for kind, model in enumerate(chart.ranks)]
    legend, height = axes.legend(entries, left=4, right=chart.width - 4, top=5)
    frame = axes.Frame(left, chart.width - 10, 14 + height, 14 + height + max(60.0, _RANK * (models + 1)))
    x = axes.Scale(-0.5, number - 0.5, frame.left, frame.right)
    y = axes.Scale(0.5, models + 0.5, frame.top, frame.bottom)
    ticks = [axes.AxisTick(y(rank), str(rank)) for rank in range(1, models + 1)]
    shapes = [legend, axes.vertical_axis(ticks, frame, "rank")]
    step = x(1) - x(0)
    for kind, ranks in enumerate(chart.ranks.values()):
        points = [(x(position), y(rank)) for position, rank in enumerate(ranks) if axes.finite(rank)]
        shapes += [axes.marker(kind, *point, min(4.0, max(1.2, 0.4 * step))) for point in points]
    if 0 < chart.divide < number:
        divide = x(chart.divide - 0.5)
        shapes.append(axes.line(divide, frame.top, divide, frame.bottom, "chart-reference"))
    bottom = frame.bottom + 6
    for name, options in values.items():
        bottom += _LINE + 4
        shapes.append(axes.element("text", name, class_="chart-heading", x=4, y=bottom))
        for option in options:
            bottom += _LINE
            label = axes.clipped(option, left - 22)
            shapes.append(axes.element("text", label, class_="chart-row-label", x=14, y=bottom))
            positions = [x(position) for position, used in enumerate(chart.choices[name]) if used == option]
            bars = "".join(
                f"M{axes.number(position)} {axes.number(bottom - 8)}v{axes.number(_BAR)}" for position in positions
            )
            shapes.append(axes.element("path", class_=_STROKE, d=bars))
    drawing = axes.Drawing(axes.join(shapes), chart.width, bottom + 10)
    return axes.figure(
        drawing, title=chart.title, description=chart.description, kind="specification", identifier=chart.identifier
    )
