"""The plot of a network's layers: score and interval of each, and how often it is chosen."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainscore.report._plot import COLOURS, PALETTE, plot_style, printable, shortened
from brainscore_core.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile

__all__ = ["layer_figure", "save_layer_plot"]

_LINE = 0.23  # inches a layer


def save_layer_plot(profile: LayerProfile, path: Path) -> None:
    """Draw a profile; the ending of the name says whether as PNG, SVG or PDF.

    Parameters
    ----------
    profile : LayerProfile
        Scores of all layers on one benchmark.
    path : Path
        File to write.

    Raises
    ------
    ValueError
        If matplotlib knows no such format.
    """
    ending = path.suffix.lstrip(".").lower() or "png"
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    content = io.BytesIO()
    with plot_style(svg_text="path"):
        layer_figure(profile).savefig(content, format=ending, dpi=170, metadata=dated)
    with replacing(path) as file:
        file.write(content.getvalue())


def layer_figure(profile: LayerProfile) -> Figure:
    """Draw a profile, 173 mm wide."""
    from matplotlib.figure import Figure

    above, below = 0.62, 0.5
    inner = _LINE * len(profile.scores) + 0.1
    total = above + inner + below
    figure = Figure(figsize=(6.8, total), facecolor=PALETTE["paper"])
    left = min(0.35 + 0.075 * min(max(len(score.layer) for score in profile.scores), 34), 2.9) / 6.8
    held_out = profile.held_out
    width = 0.97 - left - (0.2 if held_out else 0)
    axes = _axes(figure, (left, below / total, width, inner / total), len(profile.scores))
    axes.set_xlabel("score relative to the ceiling" if np.isfinite(profile.ceiling) else "score as measured")
    for row, score in enumerate(profile.scores):
        colour = COLOURS[1] if score.layer == profile.best else COLOURS[0]
        axes.text(
            -0.015, row, shortened(score.layer), transform=axes.get_yaxis_transform(), ha="right", va="center",
            color=PALETTE["ink"], weight="bold" if score.layer == profile.best else "normal", parse_math=False,
        )  # fmt: skip
        if np.isfinite(score.ci).all():
            axes.plot(score.ci, [row, row], color=colour, linewidth=1.8, solid_capstyle="butt")
        axes.plot([score.score], [row], "o", color=colour, markersize=5)
    if np.isfinite(profile.ceiling):
        axes.axvline(1, color=PALETTE["ink"], linewidth=1.2, linestyle=(0, (4, 2)))
    axes.axvline(0, color=PALETTE["muted"], linewidth=0.8)
    if held_out is not None:
        shares = _axes(figure, (left + width + 0.03, below / total, 0.16, inner / total), len(profile.scores))
        shares.set_xlim(0, 1)
        shares.set_xticks([0, 1], ["0", "1"])
        shares.set_xlabel("share of choices")
        for row, score in enumerate(profile.scores):
            colour = COLOURS[1] if score.layer == profile.best else COLOURS[0]
            shares.barh([row], [held_out.chosen.get(score.layer, 0.0)], height=0.6, color=colour)
    title = f"{profile.model} on {profile.benchmark}" + (" (control)" if profile.control else "")
    figure.text(
        0.012, 1 - 0.24 / total, printable(title), weight="bold", size=10, color=PALETTE["ink"], parse_math=False
    )
    if held_out is not None:
        text = f"chosen on one half of the stimuli, scored on the other: {held_out.value:.3f} ± {held_out.sd:.3f} raw"
        figure.text(0.012, 1 - 0.46 / total, text, color=PALETTE["muted"])
    return figure


def _axes(figure: Figure, place: tuple[float, float, float, float], rows: int) -> Any:
    axes: Any = figure.add_axes(place)
    axes.set(ylim=(rows - 0.5, -0.5), yticks=[], facecolor="none")
    axes.tick_params(axis="x", colors=PALETTE["muted"], length=3)
    axes.xaxis.label.set_color(PALETTE["muted"])
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(PALETTE["grid"])
    axes.grid(axis="x", color=PALETTE["grid"], linewidth=0.6)
    axes.set_axisbelow(True)
    return axes
