"""The heat map as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainscore.report._marks import HEAT, LETTERS, cell_text, dark_text, heat_class
from brainscore.report._plot import PALETTE, shortened
from brainscore.report._report import Report
from brainscore.report._view import STATES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["heat_figure"]

_MM = 1 / 25.4
_WIDTH, _TALLEST = 180.0, 235.0  # mm: two columns, a page
_ROW, _COLUMN = 4.2, 13.0  # mm: highest and widest pair
_MOST_ROWS, _MOST_COLUMNS = 70, 55  # with names
_HATCHES = {"undefined": "||||", "not applicable": "----", "failed": "////", "outdated": "\\\\\\\\", "missing": "...."}


def heat_figure(report: Report) -> Figure:
    """Draw models × benchmarks, 180 mm wide, at most a page high.

    Names are left out where there are more than 70 models or 55 benchmarks.
    """
    from matplotlib.figure import Figure

    board = report.board
    names = [board.nodes[place].identifier for place in board.benchmarks]
    titles = [f"{shortened(group.benchmark, 40)}{'' if group.ceiled else ' °'}" for _, group in report.groups]
    named_rows, named_columns = len(board.models) <= _MOST_ROWS, len(names) <= _MOST_COLUMNS
    left = 2 + 1.42 * min(max(len(shortened(model)) for model in board.models), 34) if named_rows else 8
    above = 3 + 1.5 * max(len(title) for title in titles) if named_columns else 7
    column = min(_COLUMN, (_WIDTH - left - 2) / len(names))
    below = 11.0
    row = min(_ROW, (_TALLEST - above - below) / len(board.models))
    height = above + row * len(board.models) + below
    figure = Figure(figsize=(_WIDTH * _MM, height * _MM), facecolor=PALETTE["paper"])
    wide = column * len(names)
    axes: Any = figure.add_axes((left / _WIDTH, below / height, wide / _WIDTH, row * len(board.models) / height))
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
    axes.set(xlim=(0, _WIDTH), ylim=(0, 9))
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
