"""One benchmark's scores as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainscore.report._plot import COLOURS, PALETTE, shortened
from brainscore.report._view import STATES, Group

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["quiet", "scores_figure"]

_MM = 1 / 25.4
_WIDTH = 85.0  # mm: one column
_ROW = 3.6
_MOST = 55


def scores_figure(group: Group) -> Figure:
    """Draw the models of a benchmark, the best first, 85 mm wide; of more than 55 the best."""
    from matplotlib.figure import Figure

    rows = group.rows[:_MOST]
    left = 2 + 1.35 * max(len(shortened(row.model, 28)) for row in rows)
    above, below = 7.0, 9.5 if len(group.rows) <= _MOST else 13.0
    inner = _ROW * len(rows)
    height = above + inner + below
    figure = Figure(figsize=(_WIDTH * _MM, height * _MM), facecolor=PALETTE["paper"])
    axes: Any = figure.add_axes((left / _WIDTH, below / height, (_WIDTH - left - 2.5) / _WIDTH, inner / height))
    axes.set(ylim=(len(rows) - 0.5, -0.5), yticks=[])
    quiet(axes)
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
    figure.text(1.5 / _WIDTH, 1 - 2 / height, title, weight="bold", size=8, va="top", parse_math=False)
    if len(group.rows) > _MOST:
        figure.text(1.5 / _WIDTH, 1.2 / height, f"and {len(group.rows) - _MOST} more models", color=PALETTE["muted"])
    return figure


def quiet(axes: Any) -> None:
    """Leave of the axes what is needed to read a value."""
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(PALETTE["muted"])
        spine.set_linewidth(0.6)
    axes.tick_params(colors=PALETTE["ink"], length=2, width=0.6, pad=1.5)
    axes.grid(axis="x", color=PALETTE["grid"], linewidth=0.4)
    axes.set_axisbelow(True)
