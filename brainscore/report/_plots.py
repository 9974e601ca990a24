"""Plots of the report."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainscore.report._report import Report
from brainscore.report._view import HEAT, LETTERS, STATES, Group, Row, View, cell_text, dark_text, heat_class
from brainscore_core.files import replacing
from brainscore_core.numerics.correlation import Association, association

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "PALETTE",
    "heat_figure",
    "matrix_figure",
    "plot_style",
    "printable",
    "save_plot",
    "scatter_figure",
    "scores_figure",
    "shortened",
]


def association_text(found: Association) -> str:
    """Write correlations for a figure.

    Examples
    --------
    >>> print(association_text(Association(9, 0.8, (0.287, 0.956), 0.75, (0.1, 0.95))))
    r = 0.80 [0.29, 0.96], n = 9
    ρ = 0.75 [0.10, 0.95]
    """
    lines = []
    for name, value, ci in (("r", found.pearson, found.pearson_ci), ("ρ", found.spearman, found.spearman_ci)):
        if value is not None:
            lines.append(f"{name} = {value:.2f}" + (f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else ""))
    first = f"{lines[0]}, n = {found.n}" if lines else f"n = {found.n}"
    return "\n".join([first, *lines[1:]]).replace("-", "−")


# Okabe and Ito's palette, which colour-blind readers tell apart, darkened where it would vanish on white
COLOURS = ("#0072b2", "#c75100", "#00805c", "#b0468b", "#7a6a00", "#2a8fc4", "#8a4b2a", "#5a5ac0")
_MARKERS = "osD^vphX"
PALETTE = {"ink": "#1c1e21", "muted": "#5d646d", "grid": "#d8dce1", "paper": "#ffffff"}
_MOST_PLOT_MODELS = 12
_PLOT_LINE, _PLOT_HEADER, _PLOT_GAP = 0.21, 0.27, 0.1  # inches


@dataclass(frozen=True)
class _Panel:
    title: str
    axis: str
    groups: Sequence[Group]
    ceiled: bool


def save_plot(view: View, path: Path) -> None:
    """Write the plot; the ending of the name says whether as PNG, SVG or PDF.

    Raises
    ------
    ValueError
        If matplotlib knows no such format.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    ending = path.suffix.lstrip(".").lower() or "png"
    content = io.BytesIO()
    with plot_style(svg_text="path"):
        # dates would make two plots of the same scores differ
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
        _draw_plot(view, PALETTE, COLOURS).savefig(content, format=ending, dpi=170, metadata=dated)
    with replacing(path) as file:
        file.write(content.getvalue())


@contextmanager
def plot_style(*, svg_text: str, size: float = 8.5) -> Iterator[None]:
    """Settings for a drawing: text in SVG as ``'path'`` or as text (``'none'``), size of the letters in points."""
    from matplotlib import style

    # whatever the user's own settings are; the salt makes the ids in two SVGs of the same scores equal
    settings = {
        "svg.hashsalt": "brain-score",
        "svg.fonttype": svg_text,
        "font.family": ["sans-serif"],
        "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
        "font.size": size,
        "hatch.linewidth": 0.5,
    }
    with style.context(["default", settings]), warnings.catch_warnings():
        # names of models in scripts that the font lacks; a browser has them
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def _draw_plot(view: View, palette: dict[str, str], colours: Sequence[str]) -> Figure:
    from matplotlib.figure import Figure

    panels = [
        _Panel("Ceiled benchmarks", "score relative to the ceiling", view.ceiled, True),
        _Panel("Benchmarks without a ceiling", "score as measured", view.unceiled, False),
        _Panel(
            "Controls (simulated measurements, in no average)", "score relative to the ceiling", view.controls, True
        ),
    ]
    panels = [panel for panel in panels if panel.groups]
    heights = [_panel_height(panel) for panel in panels]
    above, below = 0.42, 0.5
    total = sum(heights) + len(panels) * (above + below) + 0.05
    figure = Figure(figsize=(6.8, max(total, 1.0)), facecolor=palette["paper"])
    names = max((len(row.model) for panel in panels for group in panel.groups for row in group.rows), default=1)
    left = min(0.3 + 0.075 * min(names, 34), 2.9) / 6.8
    ceiled = _panel_limits([panel for panel in panels if panel.ceiled])
    top = total
    for panel, height in zip(panels, heights, strict=True):
        top -= above + height
        axes = figure.add_axes((left, top / total, 0.98 - left, height / total))
        limits = ceiled if panel.ceiled else _panel_limits([panel])
        _draw_panel(axes, panel, limits, height, view.models, palette, colours)
        figure.text(0.012, (top + height + 0.17) / total, panel.title, weight="bold", size=10, color=palette["ink"])
        top -= below
    return figure


def _panel_height(panel: _Panel) -> float:
    return sum(_PLOT_HEADER + _PLOT_GAP + _PLOT_LINE * _panel_lines(group) for group in panel.groups)


def _panel_lines(group: Group) -> int:
    return min(len(group.rows), _MOST_PLOT_MODELS) + (len(group.rows) > _MOST_PLOT_MODELS)


def _draw_panel(
    axes: Any,
    panel: _Panel,
    limits: tuple[float, float],
    height: float,
    models: Sequence[str],
    palette: dict[str, str],
    colours: Sequence[str],
) -> None:
    axes.set(xlim=limits, ylim=(height, 0), yticks=[], facecolor="none")
    axes.set_xlabel(panel.axis, color=palette["muted"])
    axes.tick_params(axis="x", colors=palette["muted"], length=3)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(palette["grid"])
    axes.grid(axis="x", color=palette["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.axvline(0, color=palette["muted"], linewidth=0.8)
    if panel.ceiled:
        axes.axvline(1, color=palette["ink"], linewidth=1.2, linestyle=(0, (4, 2)))
        axes.annotate(
            "ceiling", (1, 0), (0, 3), textcoords="offset points", ha="center", va="bottom", color=palette["ink"]
        )
    margin = axes.get_yaxis_transform()
    y = 0.0
    for group in panel.groups:
        header = group.benchmark if not panel.ceiled or group.ceiled else f"{group.benchmark} (no ceiling)"
        y += _PLOT_HEADER
        axes.text(
            0.006, y - 0.08, printable(header), transform=margin, weight="bold", va="center", color=palette["ink"],
            parse_math=False, bbox={"facecolor": palette["paper"], "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
        for row in group.rows[:_MOST_PLOT_MODELS]:
            y += _PLOT_LINE
            axes.text(
                -0.012, y - 0.05, shortened(row.model), transform=margin, ha="right", va="center",
                color=palette["ink"], parse_math=False,
            )  # fmt: skip
            _draw_row(axes, row, y - 0.05, models.index(row.model), palette, colours, filled=group.ceiled)
        if len(group.rows) > _MOST_PLOT_MODELS:
            y += _PLOT_LINE
            text = f"and {len(group.rows) - _MOST_PLOT_MODELS} more in the table"
            axes.text(0.006, y - 0.05, text, transform=margin, va="center", color=palette["muted"], style="italic")
        y += _PLOT_GAP


def _draw_row(
    axes: Any, row: Row, y: float, model: int, palette: dict[str, str], colours: Sequence[str], *, filled: bool
) -> None:
    if row.value is None:
        axes.text(
            0.006, y, row.state, transform=axes.get_yaxis_transform(), va="center", color=palette["muted"],
            style="italic", bbox={"facecolor": palette["paper"], "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
        return
    colour = colours[model % len(colours)]
    if row.ci is not None:
        axes.plot(row.ci, [y, y], color=colour, linewidth=1.8, solid_capstyle="butt")
        for end in row.ci:
            axes.plot([end, end], [y - 0.045, y + 0.045], color=colour, linewidth=1.4)
    axes.plot(
        [row.value], [y], _MARKERS[(model // len(colours) + model) % len(_MARKERS)], color=colour, markersize=5.5,
        markerfacecolor=colour if filled else palette["paper"], markeredgewidth=1.3,
    )  # fmt: skip


def _panel_limits(panels: Sequence[_Panel]) -> tuple[float, float]:
    values = [0.0, 1.0] if all(panel.ceiled for panel in panels) else [0.0]
    for group in (group for panel in panels for group in panel.groups):
        for row in group.rows[:_MOST_PLOT_MODELS]:
            values += [row.value] if row.value is not None else []
            values += row.ci or ()
    low, high = min(values), max(values)
    room = 0.04 * ((high - low) or 1.0)
    return low - room, high + room


def shortened(name: str, most: int = 34) -> str:
    """Cut the middle out of a long name."""
    name = printable(name)
    end = most * 2 // 5
    return name if len(name) <= most else f"{name[: most - end - 1]}…{name[-end:]}"


def printable(name: str) -> str:
    """Replace what has no shape, such as control characters and those that turn the direction of writing."""
    return "".join(letter if letter.isprintable() else "�" for letter in name)


_MM = 1 / 25.4
_HEAT_WIDTH, _TALLEST = 180.0, 235.0  # mm: two columns, a page
_HEAT_ROW, _HEAT_COLUMN = 4.2, 13.0  # mm: highest and widest pair
_MOST_HEAT_ROWS, _MOST_HEAT_COLUMNS = 70, 55  # with names
_HATCHES = {"undefined": "||||", "not applicable": "----", "failed": "////", "outdated": "\\\\\\\\", "missing": "...."}


def heat_figure(report: Report) -> Figure:
    """Draw models × benchmarks, 180 mm wide, at most a page high.

    Names are left out where there are more than 70 models or 55 benchmarks.
    """
    from matplotlib.figure import Figure

    board = report.board
    names = [board.nodes[place].identifier for place in board.benchmarks]
    titles = [f"{shortened(group.benchmark, 40)}{'' if group.ceiled else ' °'}" for _, group in report.groups]
    named_rows, named_columns = len(board.models) <= _MOST_HEAT_ROWS, len(names) <= _MOST_HEAT_COLUMNS
    left = 2 + 1.42 * min(max(len(shortened(model)) for model in board.models), 34) if named_rows else 8
    above = 3 + 1.5 * max(len(title) for title in titles) if named_columns else 7
    column = min(_HEAT_COLUMN, (_HEAT_WIDTH - left - 2) / len(names))
    below = 11.0
    row = min(_HEAT_ROW, (_TALLEST - above - below) / len(board.models))
    height = above + row * len(board.models) + below
    figure = Figure(figsize=(_HEAT_WIDTH * _MM, height * _MM), facecolor=PALETTE["paper"])
    wide = column * len(names)
    axes: Any = figure.add_axes(
        (left / _HEAT_WIDTH, below / height, wide / _HEAT_WIDTH, row * len(board.models) / height)
    )
    axes.set(xlim=(0, len(names)), ylim=(len(board.models), 0), xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_visible(False)
    _draw_cells(axes, report, names, lettered=column >= 6 and row >= 2.6)
    roots = [board.nodes[place].root for place in board.benchmarks]
    for place in range(1, len(names)):
        if roots[place] != roots[place - 1]:
            axes.axvline(place, color=PALETTE["paper"], linewidth=4)
    if named_rows:
        for place, model in enumerate(board.models):
            axes.text(-0.7 / column, place + 0.5, shortened(model), ha="right", va="center", parse_math=False)
    else:
        axes.set_ylabel(f"{len(board.models):,} models, the best first")
    if named_columns:
        for place, title in enumerate(titles):
            axes.text(place + 0.5, -0.7 / row, title, ha="center", va="bottom", rotation=90, parse_math=False)
    else:
        axes.set_title(f"{len(names):,} benchmarks in the order of the tree", size=7)
    _draw_legend(figure, report, height)
    return figure


def _draw_cells(axes: Any, report: Report, names: list[str], *, lettered: bool) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    board = report.board
    classes = np.full((len(board.models), len(names)), np.nan)
    hatched = classes.size <= 10_000
    for row, model in enumerate(board.models):
        for column, name in enumerate(names):
            state = board.states.get((model, name), "missing")
            receipt = board.receipts.get((model, name))
            text, colour = LETTERS.get(state, ""), PALETTE["ink"]
            if state == "scored" and receipt is not None and receipt.score is not None:
                value = receipt.score.value or 0.0
                classes[row, column] = heat_class(value)
                text = cell_text(value)
                colour = "#000000" if dark_text(HEAT[heat_class(value)]) else "#ffffff"
            elif hatched:
                axes.add_patch(
                    Rectangle((column, row), 1, 1, fill=False, hatch=_HATCHES[state], edgecolor="#c3c8ce", linewidth=0)
                )
            if lettered:
                axes.text(column + 0.5, row + 0.53, text, ha="center", va="center", color=colour)
    # shapes where there are few, a picture where there would be too many
    options = {"edgecolors": PALETTE["paper"], "linewidth": 0.4} if hatched else {"rasterized": True}
    axes.pcolormesh(
        np.arange(len(names) + 1), np.arange(len(board.models) + 1), np.ma.masked_invalid(classes),
        cmap=ListedColormap(list(HEAT)), vmin=-0.5, vmax=len(HEAT) - 0.5, **options,
    )  # fmt: skip


def _draw_legend(figure: Figure, report: Report, height: float) -> None:
    from matplotlib.patches import Rectangle

    axes: Any = figure.add_axes((0, 0, 1, 9 / height))
    axes.set(xlim=(0, _HEAT_WIDTH), ylim=(0, 9))
    axes.axis("off")
    x = 4.0
    axes.text(x, 4.5, "0", ha="right", va="center")
    for number, colour in enumerate(HEAT):
        axes.add_patch(Rectangle((x + 1 + 3 * number, 3), 3, 3, facecolor=colour, edgecolor="none"))
    x += 2 + 3 * len(HEAT)
    axes.text(x, 4.5, "1", va="center")
    x += 6
    board = report.board
    names = [board.nodes[place].identifier for place in board.benchmarks]
    present = {board.states.get((model, name), "missing") for model in board.models for name in names}
    for state, hatch in _HATCHES.items():
        if state not in present:
            continue
        axes.add_patch(Rectangle((x, 3), 3.4, 3, fill=False, hatch=hatch, edgecolor="#c3c8ce", linewidth=0))
        axes.text(x + 1.7, 4.5, LETTERS[state], ha="center", va="center")
        label = STATES[state]
        axes.text(x + 4.4, 4.5, label, va="center")
        x += 8 + 1.35 * len(label)
    if any(not group.ceiled for group in report.view.groups):
        axes.text(x, 4.5, "° no ceiling", va="center")


_ONE_COLUMN, _TWO_COLUMNS = 85.0, 180.0  # mm: one column, two
_MOST_SCATTERS = 4
_MOST_SCATTER_NAMES = 25


def scatter_figure(report: Report, across: str, upward: str) -> Figure:
    """Draw two benchmarks against each other, 85 mm wide, with names of up to 25 models."""
    from matplotlib.figure import Figure

    groups = {group.benchmark: group for group in report.view.groups}
    figure = Figure(figsize=(_ONE_COLUMN * _MM, _ONE_COLUMN * _MM), facecolor=PALETTE["paper"])
    axes = figure.add_axes((0.145, 0.125, 0.835, 0.775))
    rows = _draw_scatter(axes, groups[across], groups[upward])
    axes.set_xlabel(_scatter_label(groups[across], 50), labelpad=1.5, parse_math=False)
    axes.set_ylabel(_scatter_label(groups[upward], 50), labelpad=1.5, parse_math=False)
    if len(rows) <= _MOST_SCATTER_NAMES:
        _draw_names(figure, axes, rows)
    return figure


def matrix_figure(report: Report) -> Figure:
    """Draw those four benchmarks on which most models were scored, each against each, 180 mm wide."""
    from matplotlib.figure import Figure

    groups = [group for _, group in report.groups]
    groups = [group for group in groups if not group.control] or groups
    groups.sort(key=lambda group: -sum(row.value is not None for row in group.rows))  # of equals the tree's order stays
    groups = groups[:_MOST_SCATTERS]
    size = len(groups) - 1
    if size < 1:
        groups = [group for _, group in report.groups][:2]
        size = 1
    width = _ONE_COLUMN if size == 1 else _TWO_COLUMNS
    figure = Figure(figsize=(width * _MM, width * _MM), facecolor=PALETTE["paper"])
    left, gap, above = 12 / width, 14 / width, 9 / width
    side = min(1 - left - 2 / width - gap * (size - 1), 1 - 11 / width - above - gap * (size - 1)) / size
    for line in range(size):
        for column in range(line + 1):
            across, upward = groups[column], groups[line + 1]
            bottom = 11 / width + (size - 1 - line) * (side + gap)
            axes = figure.add_axes((left + column * (side + gap), bottom, side, side))
            _draw_scatter(axes, across, upward)
            if line == size - 1:
                axes.set_xlabel(_scatter_label(across, 30), labelpad=1.5, parse_math=False)
            if column == 0:
                axes.set_ylabel(_scatter_label(upward, 30), labelpad=1.5, parse_math=False)
    return figure


def _draw_scatter(axes: Any, across: Group, upward: Group) -> list[tuple[Row, Row]]:
    _style_axes(axes)
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


def _scatter_label(group: Group, most: int) -> str:
    return shortened(group.benchmark, most) + ("" if group.ceiled else " (no ceiling)")


_SCORES_WIDTH = 85.0  # mm: one column
_SCORES_ROW = 3.6
_MOST_SCORES = 55


def scores_figure(group: Group) -> Figure:
    """Draw the models of a benchmark, the best first, 85 mm wide; of more than 55 the best."""
    from matplotlib.figure import Figure

    rows = group.rows[:_MOST_SCORES]
    left = 2 + 1.35 * max(len(shortened(row.model, 28)) for row in rows)
    above, below = 7.0, 9.5 if len(group.rows) <= _MOST_SCORES else 13.0
    inner = _SCORES_ROW * len(rows)
    height = above + inner + below
    figure = Figure(figsize=(_SCORES_WIDTH * _MM, height * _MM), facecolor=PALETTE["paper"])
    axes: Any = figure.add_axes(
        (left / _SCORES_WIDTH, below / height, (_SCORES_WIDTH - left - 2.5) / _SCORES_WIDTH, inner / height)
    )
    axes.set(ylim=(len(rows) - 0.5, -0.5), yticks=[])
    _style_axes(axes)
    axes.axvline(0, color=PALETTE["muted"], linewidth=0.6)
    if group.ceiled:
        axes.axvline(1, color=PALETTE["ink"], linewidth=0.8, linestyle=(0, (3, 2)))
    axes.set_xlabel("score relative to the ceiling" if group.ceiled else "score as measured", labelpad=1.5)
    side = axes.get_yaxis_transform()
    for place, row in enumerate(rows):
        axes.text(-0.02, place, shortened(row.model, 28), transform=side, ha="right", va="center", parse_math=False)
        if row.value is None:
            axes.text(
                0.01, place, STATES[row.state], transform=side, va="center", color=PALETTE["muted"], style="italic",
                bbox={"facecolor": PALETTE["paper"], "edgecolor": "none", "pad": 0.5},
            )  # fmt: skip
            continue
        if row.ci is not None:
            axes.plot(row.ci, [place, place], color=COLOURS[0], linewidth=1.0, solid_capstyle="butt")
        face = COLOURS[0] if group.ceiled else PALETTE["paper"]
        axes.plot(
            [row.value], [place], "o", color=COLOURS[0], markersize=3.6, markerfacecolor=face, markeredgewidth=0.9
        )
    title = shortened(group.benchmark, 46) + (" (control)" if group.control else "")
    figure.text(1.5 / _SCORES_WIDTH, 1 - 2 / height, title, weight="bold", size=8, va="top", parse_math=False)
    if len(group.rows) > _MOST_SCORES:
        figure.text(
            1.5 / _SCORES_WIDTH,
            1.2 / height,
            f"and {len(group.rows) - _MOST_SCORES} more models",
            color=PALETTE["muted"],
        )
    return figure


def _style_axes(axes: Any) -> None:
    """Leave of the axes what is needed to read a value."""
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(PALETTE["muted"])
        spine.set_linewidth(0.6)
    axes.tick_params(colors=PALETTE["ink"], length=2, width=0.6, pad=1.5)
    axes.grid(axis="x", color=PALETTE["grid"], linewidth=0.4)
    axes.set_axisbelow(True)
