"""Layer profiles of models in the report."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from brainscore.report._formatting import number
from brainscore.report._plots import COLOURS, PALETTE, plot_style, printable, shortened
from brainscore.report._view import Scale
from brainscore_core.files import replacing
from brainscore_core.paths import layer_profiles_home

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile, LayerScore

__all__ = ["find_profiles", "layer_figure", "layer_rows", "save_layer_plot"]


def find_profiles(models: Collection[str], folder: Path | None = None) -> tuple[LayerProfile, ...]:
    """Read the profiles of some models.

    Parameters
    ----------
    models : collection of str
        Whose.
    folder : Path, optional
        Default: ``$BRAINSCORE_HOME/layers``.

    Returns
    -------
    tuple of LayerProfile
        One of each model and benchmark, sorted by both: of several the one with halves, then the one of most layers.
        Files that cannot be read are left out, as the selection itself leaves them out.
    """
    files = sorted((folder or layer_profiles_home()).glob("*/*.json"))
    if not files:
        return ()
    from brainscore_vision.model_helpers.brain_transformation.layer_profile import LayerProfile

    found: dict[tuple[str, str], LayerProfile] = {}
    for file in files:
        try:
            profile = LayerProfile.from_dict(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            continue
        if profile.model not in models or not profile.scores:
            continue
        pair = (profile.model, profile.benchmark)
        if pair not in found or _completeness(profile) > _completeness(found[pair]):
            found[pair] = profile
    return tuple(found[pair] for pair in sorted(found))


def _completeness(profile: LayerProfile) -> tuple[bool, int, str]:
    return (profile.held_out is not None, len(profile.scores), profile.version)


@dataclass(frozen=True)
class LayerRow:
    """One layer."""

    layer: str
    best: bool
    mark: Markup
    score: str
    interval: str
    chosen: str
    reason: str | None


@dataclass(frozen=True)
class LayerRows:
    """All layers of a profile."""

    axis: Markup
    ceiled: bool
    rows: tuple[LayerRow, ...]


def layer_rows(profile: LayerProfile) -> LayerRows:
    """Write and draw a profile's layers, in the network's order."""
    values = [0.0, 1.0]
    for score in profile.scores:
        values += [value for value in (score.score, *score.ci) if math.isfinite(value)]
    scale = Scale(max(min(values), -0.5), min(max(values), 1.5))
    ceiled = math.isfinite(profile.ceiling)
    held_out, best = profile.held_out, profile.best
    shares = held_out.chosen if held_out else {}
    return LayerRows(
        axis=scale.axis(),
        ceiled=ceiled,
        rows=tuple(
            LayerRow(
                layer=score.layer,
                best=score.layer == best,
                mark=_mark(scale, score, ceiled),
                score=number(_finite(score.score), _finite(score.error)),
                interval=f"{number(score.ci[0])} to {number(score.ci[1])}" if _has_interval(score) else "–",
                chosen=f"{shares.get(score.layer, 0):.0%}" if held_out else "–",
                reason=score.reason,
            )
            for score in profile.scores
        ),
    )


def _mark(scale: Scale, score: LayerScore, ceiled: bool) -> Markup:
    value = _finite(score.score)
    if value is None:
        return Markup()
    return scale.mark(value, score.ci if _has_interval(score) else None, filled=ceiled, ceiling=ceiled)


def _has_interval(score: LayerScore) -> bool:
    return math.isfinite(score.ci[0]) and math.isfinite(score.ci[1])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


_LAYER_HEIGHT = 0.23  # inches a layer


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
    inner = _LAYER_HEIGHT * len(profile.scores) + 0.1
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
