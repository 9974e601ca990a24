"""The plot: a line a score, its dot and interval, grouped by benchmark."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore.report._view import Group, Row, View
from brainscore_core.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "PALETTE", "plot_style", "printable", "save_plot", "shortened"]

# Okabe and Ito's palette, which colour-blind readers tell apart, darkened where it would vanish on white
COLOURS = ("#0072b2", "#c75100", "#00805c", "#b0468b", "#7a6a00", "#2a8fc4", "#8a4b2a", "#5a5ac0")
_MARKERS = "osD^vphX"
PALETTE = {"ink": "#1c1e21", "muted": "#5d646d", "grid": "#d8dce1", "paper": "#ffffff"}
_MOST_MODELS = 12
_LINE, _HEADER, _GAP = 0.21, 0.27, 0.1  # inches


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
        _draw(view, PALETTE, COLOURS).savefig(content, format=ending, dpi=170, metadata=dated)
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


def _draw(view: View, palette: dict[str, str], colours: Sequence[str]) -> Figure:
    from matplotlib.figure import Figure

    panels = [
        _Panel("Ceiled benchmarks", "score relative to the ceiling", view.ceiled, True),
        _Panel("Benchmarks without a ceiling", "score as measured", view.unceiled, False),
        _Panel(
            "Controls (simulated measurements, in no average)", "score relative to the ceiling", view.controls, True
        ),
    ]
    panels = [panel for panel in panels if panel.groups]
    heights = [_height(panel) for panel in panels]
    above, below = 0.42, 0.5
    total = sum(heights) + len(panels) * (above + below) + 0.05
    figure = Figure(figsize=(6.8, max(total, 1.0)), facecolor=palette["paper"])
    names = max((len(row.model) for panel in panels for group in panel.groups for row in group.rows), default=1)
    left = min(0.3 + 0.075 * min(names, 34), 2.9) / 6.8
    ceiled = _limits([panel for panel in panels if panel.ceiled])
    top = total
    for panel, height in zip(panels, heights, strict=True):
        top -= above + height
        axes = figure.add_axes((left, top / total, 0.98 - left, height / total))
        limits = ceiled if panel.ceiled else _limits([panel])
        _draw_panel(axes, panel, limits, height, view.models, palette, colours)
        figure.text(0.012, (top + height + 0.17) / total, panel.title, weight="bold", size=10, color=palette["ink"])
        top -= below
    return figure


def _height(panel: _Panel) -> float:
    return sum(_HEADER + _GAP + _LINE * _lines(group) for group in panel.groups)


def _lines(group: Group) -> int:
    return min(len(group.rows), _MOST_MODELS) + (len(group.rows) > _MOST_MODELS)


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
        y += _HEADER
        axes.text(
            0.006, y - 0.08, printable(header), transform=margin, weight="bold", va="center", color=palette["ink"],
            parse_math=False, bbox={"facecolor": palette["paper"], "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
        for row in group.rows[:_MOST_MODELS]:
            y += _LINE
            axes.text(
                -0.012, y - 0.05, shortened(row.model), transform=margin, ha="right", va="center",
                color=palette["ink"], parse_math=False,
            )  # fmt: skip
            _draw_row(axes, row, y - 0.05, models.index(row.model), palette, colours, filled=group.ceiled)
        if len(group.rows) > _MOST_MODELS:
            y += _LINE
            text = f"and {len(group.rows) - _MOST_MODELS} more in the table"
            axes.text(0.006, y - 0.05, text, transform=margin, va="center", color=palette["muted"], style="italic")
        y += _GAP


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


def _limits(panels: Sequence[_Panel]) -> tuple[float, float]:
    values = [0.0, 1.0] if all(panel.ceiled for panel in panels) else [0.0]
    for group in (group for panel in panels for group in panel.groups):
        for row in group.rows[:_MOST_MODELS]:
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
