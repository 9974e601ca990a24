"""Benchmarks against each other as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainscore.report._association import association_text
from brainscore.report._figure_scores import quiet
from brainscore.report._plot import COLOURS, PALETTE, shortened
from brainscore.report._report import Report
from brainscore.report._view import Group, Row
from brainscore_core.numerics.correlation import association

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["matrix_figure", "scatter_figure"]

_MM = 1 / 25.4
_ONE, _TWO = 85.0, 180.0  # mm: one column, two
_MOST = 4
_MOST_NAMES = 25


def scatter_figure(report: Report, across: str, upward: str) -> Figure:
    """Draw two benchmarks against each other, 85 mm wide, with names of up to 25 models."""
    from matplotlib.figure import Figure

    groups = {group.benchmark: group for group in report.view.groups}
    figure = Figure(figsize=(_ONE * _MM, _ONE * _MM), facecolor=PALETTE["paper"])
    axes = figure.add_axes((0.145, 0.125, 0.835, 0.775))
    rows = _draw(axes, groups[across], groups[upward])
    axes.set_xlabel(_label(groups[across], 50), labelpad=1.5, parse_math=False)
    axes.set_ylabel(_label(groups[upward], 50), labelpad=1.5, parse_math=False)
    if len(rows) <= _MOST_NAMES:
        _draw_names(figure, axes, rows)
    return figure


def matrix_figure(report: Report) -> Figure:
    """Draw those four benchmarks on which most models were scored, each against each, 180 mm wide."""
    from matplotlib.figure import Figure

    groups = [group for _, group in report.groups]
    groups = [group for group in groups if not group.control] or groups
    groups.sort(key=lambda group: -sum(row.value is not None for row in group.rows))  # of equals the tree's order stays
    groups = groups[:_MOST]
    size = len(groups) - 1
    if size < 1:
        groups = [group for _, group in report.groups][:2]
        size = 1
    width = _ONE if size == 1 else _TWO
    figure = Figure(figsize=(width * _MM, width * _MM), facecolor=PALETTE["paper"])
    left, gap, above = 12 / width, 14 / width, 9 / width
    side = min(1 - left - 2 / width - gap * (size - 1), 1 - 11 / width - above - gap * (size - 1)) / size
    for line in range(size):
        for column in range(line + 1):
            across, upward = groups[column], groups[line + 1]
            bottom = 11 / width + (size - 1 - line) * (side + gap)
            axes = figure.add_axes((left + column * (side + gap), bottom, side, side))
            _draw(axes, across, upward)
            if line == size - 1:
                axes.set_xlabel(_label(across, 30), labelpad=1.5, parse_math=False)
            if column == 0:
                axes.set_ylabel(_label(upward, 30), labelpad=1.5, parse_math=False)
    return figure


def _draw(axes: Any, across: Group, upward: Group) -> list[tuple[Row, Row]]:
    quiet(axes)
    axes.locator_params(nbins=5)
    axes.spines["left"].set_visible(True)
    axes.grid(axis="both", color=PALETTE["grid"], linewidth=0.4)
    other = {row.model: row for row in upward.rows if row.value is not None}
    rows = [(row, other[row.model]) for row in across.rows if row.value is not None and row.model in other]
    for x, y in rows:
        if x.ci is not None:
            axes.plot(x.ci, [y.value, y.value], color=COLOURS[0], linewidth=0.6, alpha=0.5)
        if y.ci is not None:
            axes.plot([x.value, x.value], y.ci, color=COLOURS[0], linewidth=0.6, alpha=0.5)
        axes.plot(
            [x.value], [y.value], "o", color=COLOURS[0], markersize=3.4, markeredgecolor="white", markeredgewidth=0.4
        )
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    if across.ceiled == upward.ceiled and rows:
        ends = [max(left, low), min(right, high)]
        if ends[0] < ends[1]:
            axes.plot(ends, ends, color=PALETTE["muted"], linewidth=0.7, linestyle=(0, (3, 2)), zorder=0)
    axes.set(xlim=(left, right), ylim=(low, high))
    found = association([x.value or 0.0 for x, _ in rows], [y.value or 0.0 for _, y in rows])
    axes.set_title(association_text(found), loc="left", size=7, linespacing=1.2, pad=3)
    return rows


def _draw_names(figure: Figure, axes: Any, rows: list[tuple[Row, Row]]) -> None:
    """Write names beside the dots, where they hide no other."""
    pixels = figure.dpi / 72  # of a point
    letter, line = 4.0 * pixels, 7.5 * pixels
    inside = axes.get_window_extent()
    taken = []
    for x, y in rows:
        at = axes.transData.transform((x.value, y.value))
        taken.append((at[0] - 2 * pixels, at[1] - 2 * pixels, at[0] + 2 * pixels, at[1] + 2 * pixels))
    for x, y in rows:
        at = axes.transData.transform((x.value, y.value))
        text = shortened(x.model, 24)
        length = letter * len(text)
        for right, upper in ((True, True), (False, True), (True, False), (False, False)):
            start = at[0] + 3 * pixels if right else at[0] - 3 * pixels - length
            base = at[1] + 1.5 * pixels if upper else at[1] - 1.5 * pixels - line
            box = (start, base, start + length, base + line)
            if box[0] < inside.x0 or box[2] > inside.x1 or box[1] < inside.y0 or box[3] > inside.y1:
                continue
            if any(box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in taken):
                continue
            taken.append(box)
            offset = (3 if right else -3, 1.5 if upper else -1.5)
            axes.annotate(
                text, (x.value, y.value), offset, textcoords="offset points", ha="left" if right else "right",
                va="bottom" if upper else "top", color=PALETTE["muted"], parse_math=False,
            )  # fmt: skip
            break


def _label(group: Group, most: int) -> str:
    return shortened(group.benchmark, most) + ("" if group.ceiled else " (no ceiling)")
