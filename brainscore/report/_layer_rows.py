"""Layer profiles as rows of the page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from brainscore.report._marks import Scale
from brainscore.report._numbers import number

if TYPE_CHECKING:
    from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile, LayerScore

__all__ = ["LayerRow", "LayerRows", "layer_rows"]


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
