"""Figures of layer profiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from brainscore_core.display import printable
from brainscore_core.figures import Dots, DotsRow, Panel, Svg, panels
from brainscore_core.formatting import estimate_text

if TYPE_CHECKING:
    from brainscore_vision.model_helpers.brain_transformation.layer_profile import LayerProfile

__all__ = ["layer_figure"]

_WIDTH = 847.0  # two columns of a paper


def layer_figure(profile: LayerProfile) -> Svg:
    """Draw a profile, 180 mm wide."""
    ceiled = math.isfinite(profile.ceiling)
    held_out = profile.held_out
    rows = [
        DotsRow(
            label=printable(score.layer),
            value=score.score,
            low=score.ci[0],
            high=score.ci[1],
            state=score.reason or "" if not math.isfinite(score.score) else "",
            hint=f"{printable(score.layer)}: {estimate_text(score.score, error=score.error, ci=score.ci, brief=True)}",
            kind=int(score.layer == profile.best),
            share=held_out.chosen.get(score.layer, 0.0) if held_out else math.nan,
        )
        for score in profile.scores
    ]
    title = printable(f"{profile.model} on {profile.benchmark}") + (" (control)" if profile.control else "")
    chart = Dots(
        rows=rows,
        title=title,
        x_title="score relative to the ceiling" if ceiled else "score as measured",
        kinds=("layer", "best layer"),
        reference=0.0,
        ceiling=1.0 if ceiled else None,
        share_title="share of choices",
        width=_WIDTH,
    )
    notes = (
        [
            f"chosen on one half of the stimuli, scored on the other: {held_out.value:.3f} raw "
            f"(standard deviation over choices {held_out.sd:.3f})"
        ]
        if held_out
        else []
    )
    return panels([[Panel(chart=chart, heading=title, notes=notes)]], title=f"Scores of the layers of {title}")
