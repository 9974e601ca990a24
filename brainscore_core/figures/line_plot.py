"""Lines: values over numbers, dates or names, scores over epochs of a training, and ranks over many analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import nan

from brainscore_core.figures import axes
from brainscore_core.figures.axes import Svg
from brainscore_core.identifiers import series_point


@dataclass(frozen=True, kw_only=True)
class Series:
    """A line.

    Attributes
    ----------
    name : str
        Name in the legend.
    x : sequence of float, date or str
        Positions on the x axis, of the same type in all series of a chart; names are positions in `Lines.categories`.
    y : sequence of float
        Values; a value that is not finite interrupts the line.
    low, high : sequence of float, optional
        Limits of intervals.
    labels : sequence of str, optional
        Tooltips of the points.
    hrefs : sequence of (str or None), optional
        Links of the points.
    """

    name: str
    x: Sequence[float] | Sequence[date] | Sequence[str]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    labels: Sequence[str] = ()
    hrefs: Sequence[str | None] = ()


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Content of a line plot.

    Attributes
    ----------
    series : sequence of Series
        The lines, each with its own marks and strokes.
    title, description : str
        Title and description for assistive technology; not drawn.
    x_title, y_title : str
        Titles of the axes.
    highlight : (int, int), optional
        Series and point that are circled and labelled.
    rings : sequence of (int, int)
        Series and points that are circled, as `rings_name` explains in the legend.
    rings_name : str
        What circles mean.
    reference : (float, str), optional
        A horizontal line and its label, such as the ceiling.
    width, height : float
        Size in units; text is 11–12 units high.
    identifier : str
        Identifier of the element; needed if a page contains the same chart twice.
    """

    series: Sequence[Series]
    title: str
    x_title: str
    y_title: str
    description: str = ""
    highlight: tuple[int, int] | None = None
    rings: Sequence[tuple[int, int]] = ()
    rings_name: str = ""
    reference: tuple[float, str] | None = None
    width: float = 400
    height: float = 280
    identifier: str = ""


def lines(chart: Lines) -> Svg:
    """Draw a line plot.

    Raises
    ------
    ValueError
        If the numbers of values and positions of a series differ, or positions have different types.

    Examples
    --------
    >>> one = Series(name="IT", x=["layer1", "layer2"], y=[0.2, 0.4])
    >>> made = lines(Lines(series=[one], title="Layers", x_title="layer", y_title="score"))
    >>> made.count("<circle"), "layer2" in made
    (2, True)
    """
    for series in chart.series:
        if len(series.x) != len(series.y):
            raise ValueError(f"{series.name!r} has {len(series.x)} places, but {len(series.y)} values")
    categories = _categories(chart)
    positions = [[_place(x, categories) for x in series.x] for series in chart.series]
    values = [value for series in chart.series for value in (*series.y, *series.low, *series.high)]
    y_range = axes.nice_range([*values, *([chart.reference[0]] if chart.reference else [])], share=0.06)
    entries = (
        [(_sample(kind), series.name) for kind, series in enumerate(chart.series)] if len(chart.series) > 1 else []
    )
    if chart.reference:
        entries.append((axes.line(-6, 0, 6, 0, "chart-reference"), chart.reference[1]))
    if chart.rings:
        entries.append((axes.element("circle", class_="chart-ring", cx=0, cy=0, r=5), chart.rings_name))
    left = 28 + max(
        axes.text_width(tick.text, axes.TICK_FONT_SIZE) for tick in axes.axis_ticks(axes.Scale(*y_range, 1, 0))
    )
    drawn_legend, legend_height = axes.legend(entries, left=left, right=chart.width - 16, top=4)
    names_room = _names_room(categories, chart.width - 16 - left)
    frame = axes.Frame(left, chart.width - 16, 12 + legend_height, chart.height - 40 - names_room)
    x, y = (
        axes.Scale(*_x_range(positions, categories), frame.left, frame.right),
        axes.Scale(*y_range, frame.bottom, frame.top),
    )
    shapes = [
        drawn_legend,
        _x_axis(chart, positions, categories, x, bool(names_room), frame),
        axes.vertical_axis(axes.axis_ticks(y), frame, chart.y_title),
    ]
    if chart.reference and y.low <= chart.reference[0] <= y.high:
        at_y = y(chart.reference[0])
        shapes.append(axes.line(frame.left, at_y, frame.right, at_y, "chart-reference"))
    for kind, (series, at) in enumerate(zip(chart.series, positions, strict=True)):
        shapes.append(_series(series, at, kind, x, y))
    for row, point in chart.rings:
        shapes.append(_ring(x(positions[row][point]), y.clip(chart.series[row].y[point])))
    if chart.highlight is not None:
        shapes.append(_highlight(chart, positions, x, y))
    links = any(any(series.hrefs) for series in chart.series)
    return axes.figure_of(chart, axes.Drawing(axes.join(shapes), chart.width, chart.height, links), "lines")


def _categories(chart: Lines) -> tuple[str, ...]:
    """Names on the x axis, if x are names, in order of first occurrence."""
    kinds = {
        str if isinstance(x, str) else date if isinstance(x, date) else float
        for series in chart.series
        for x in series.x
    }
    if len(kinds) > 1:
        raise ValueError("places along the axis are of different types; numbers, dates or names are needed")
    return tuple(dict.fromkeys(x for series in chart.series for x in series.x if isinstance(x, str)))


def _place(x: float | date | str, categories: Sequence[str]) -> float:
    if isinstance(x, str):
        return float(categories.index(x))
    return float(x.toordinal()) if isinstance(x, date) else float(x)


def _x_range(positions: Sequence[Sequence[float]], categories: Sequence[str]) -> tuple[float, float]:
    if categories:
        return -0.5, len(categories) - 0.5
    low, high = axes.nice_range([position for each in positions for position in each], share=0.03)
    return low, high


def _names_room(categories: Sequence[str], width: float) -> float:
    """Height of names that must be rotated; 0 if they fit side by side."""
    longest = max((axes.text_width(name, axes.TICK_FONT_SIZE) for name in categories), default=0.0)
    if longest * len(categories) <= 0.9 * width:
        return 0.0
    return min(longest, 120.0) * 0.72


def _x_axis(
    chart: Lines,
    positions: Sequence[Sequence[float]],
    categories: Sequence[str],
    x: axes.Scale,
    turned: bool,
    frame: axes.Frame,
) -> Svg:
    if categories and turned:
        every = -(-len(categories) * 13 // int(x.end - x.start))  # at least 13 units between names
        shapes = []
        for index, name in enumerate(categories):
            if index % every:
                continue
            turn = f"translate({axes.number(x(index) + 3)} {axes.number(frame.bottom + 13)}) rotate(-45)"
            short = axes.clipped(name, 120, axes.TICK_FONT_SIZE)
            shapes.append(
                axes.element("text", axes.tooltip(name), short, class_="chart-tick chart-end", transform=turn)
            )
        middle = (frame.left + frame.right) / 2
        title = axes.element("text", chart.x_title, class_="chart-label chart-middle", x=middle, y=chart.height - 6)
        shapes.append(axes.line(frame.left, frame.bottom, frame.right, frame.bottom, "chart-axis"))
        return axes.join([*shapes, title])
    if categories:
        ticks = [axes.AxisTick(x(index), name) for index, name in enumerate(categories)]
    elif any(isinstance(x_value, date) for series in chart.series for x_value in series.x):
        days = [day for each in positions for day in each]
        date_texts = axes.date_ticks(date.fromordinal(int(min(days))), date.fromordinal(int(max(days))))
        ticks = [axes.AxisTick(x(day.toordinal()), text) for day, text in date_texts]
    else:
        ticks = axes.axis_ticks(x)
    return axes.horizontal_axis(ticks, frame, chart.x_title)


def _sample(kind: int) -> Svg:
    return axes.join(
        [axes.line(-6, 0, 6, 0, f"chart-line chart-stroke-{kind % axes.MARKER_KINDS}"), axes.marker(kind, 0, 0, 3)]
    )


def _series(series: Series, positions: Sequence[float], kind: int, x: axes.Scale, y: axes.Scale) -> Svg:
    order = sorted(range(len(positions)), key=positions.__getitem__)
    path, pen_down = [], False
    for i in order:
        if axes.finite(series.y[i]):
            path.append(f"{'L' if pen_down else 'M'}{axes.number(x(positions[i]))} {axes.number(y.clip(series.y[i]))}")
        pen_down = axes.finite(series.y[i])
    shapes = []
    for i in order:
        low, high = (series.low[i], series.high[i]) if series.low and series.high else (nan, nan)
        if axes.finite(series.y[i], low, high):
            shapes.append(axes.line(x(positions[i]), y.clip(low), x(positions[i]), y.clip(high), "chart-error"))
    shapes.append(axes.element("path", class_=f"chart-line chart-stroke-{kind % axes.MARKER_KINDS}", d="".join(path)))
    for i in order:
        if not axes.finite(series.y[i]):
            continue
        hint = series.labels[i] if series.labels else f"{series.name}, {series.x[i]}: {series.y[i]:.3g}"
        inner = axes.tooltip(hint), axes.marker(kind, x(positions[i]), y.clip(series.y[i]), 3)
        href = series.hrefs[i] if series.hrefs else None
        shapes.append(axes.element("a", *inner, href=href) if href else axes.element("g", *inner))
    return axes.element("g", *shapes, class_="chart-series")


def _ring(x: float, y: float) -> Svg:
    return axes.element("circle", class_="chart-ring", cx=x, cy=y, r=7) if axes.finite(x, y) else Svg("")


def _highlight(chart: Lines, positions: Sequence[Sequence[float]], x: axes.Scale, y: axes.Scale) -> Svg:
    series, point = chart.highlight or (0, 0)
    drawn = chart.series[series]
    if not axes.finite(drawn.y[point]):
        return Svg("")
    px, py = x(positions[series][point]), y.clip(drawn.y[point])
    label = drawn.labels[point] if drawn.labels else str(drawn.x[point])
    width = axes.text_width(label, axes.TICK_FONT_SIZE)
    left = min(max(px - width / 2, x.start + 2), x.end - width)
    base = py - 11 if py - 24 > y.end else py + 20
    return axes.join([_ring(px, py), axes.element("text", label, class_="chart-name chart-strong", x=left, y=base)])


_SHIFT = 0.2  # of the smallest distance between epochs, for all lines


@dataclass(frozen=True)
class StateScore:
    """Score of one state of a model on a benchmark."""

    benchmark: str
    identifier: str
    value: float
    low: float | None = None
    high: float | None = None
    href: str | None = None


def training_plot(scores: Sequence[StateScore], *, title: str = "", identifier: str = "") -> Svg | None:
    """Draw scores over epochs with their intervals: a line for each benchmark and seed.

    States without an epoch are left out, unless there are no others: then scores are drawn over seeds. None if there is
    nothing to draw.

    Parameters
    ----------
    scores : sequence of StateScore
        Scores of one model.
    title, identifier : str
        Of the figure; for assistive technology, and if a page contains several figures.

    Examples
    --------
    >>> scores = [StateScore("A-x", "net@epoch0", 0.1, 0.0, 0.2), StateScore("A-x", "net@epoch5", 0.3, 0.2, 0.4)]
    >>> training_plot(scores).count("<circle")
    2
    """
    points = [(series_point(score.identifier), score) for score in scores]
    over_epochs = any(point.epoch is not None for point, _ in points)
    drawn = [(point, score) for point, score in points if (point.epoch if over_epochs else point.seed) is not None]
    if not drawn:
        return None
    groups: dict[tuple[str, int | None], list[tuple[int, StateScore]]] = {}
    for point, score in drawn:
        x_value = point.epoch if over_epochs else point.seed
        groups.setdefault((score.benchmark, point.seed if over_epochs else None), []).append((x_value or 0, score))
    x_values = sorted({x_value for states in groups.values() for x_value, _ in states})
    # lines are moved apart a little, so that intervals at the same epoch are beside each other
    step = _SHIFT * min((right - left for left, right in pairwise(x_values)), default=1) / len(groups)
    several = len({benchmark for benchmark, _ in groups}) > 1
    series = []
    ordered_groups = sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    for number, ((benchmark, seed), states) in enumerate(ordered_groups):
        shift = step * (number - (len(groups) - 1) / 2)
        ordered = sorted(states, key=lambda item: item[0])
        named = [benchmark] if several or seed is None else []
        series.append(
            Series(
                name=", ".join([*named, *([] if seed is None else [f"seed {seed}"])]),
                x=[x_value + shift for x_value, _ in ordered],
                y=[score.value for _, score in ordered],
                low=[nan if score.low is None else score.low for _, score in ordered],
                high=[nan if score.high is None else score.high for _, score in ordered],
                labels=[score.identifier for _, score in ordered],
                hrefs=[score.href for _, score in ordered],
            )
        )
    model = drawn[0][0].model
    return lines(
        Lines(
            series=series,
            title=title or f"Scores of {model} during training",
            x_title="epoch" if over_epochs else "seed",
            y_title="score",
            identifier=identifier,
        )
    )


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
    width: float = axes.COLUMN_WIDTHS[174]
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
    return axes.figure_of(chart, axes.Drawing(axes.join(shapes), chart.width, bottom + 10), "specification")
