"""Layer profiles of models in the report."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from brainscore.report._view import Scale
from brainscore_core.formatting import estimate_text
from brainscore_core.paths import layer_profiles_home

if TYPE_CHECKING:
    from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile, LayerScore


def find_profiles(models: Collection[str], folder: Path | None = None) -> tuple[LayerProfile, ...]:
    """Read the profiles of some models, by default from ``$BRAINSCORE_HOME/layers``.

    One of each model and benchmark, sorted by both: of several the one with halves, then the one of most layers. Files
    that cannot be read are left out, as the selection itself leaves them out.
    """
    files = sorted((folder or layer_profiles_home()).glob("*/*.json"))
    if not files:
        return ()
    from brainscore_vision.model_helpers.brain_transformation.layer_profile import LayerProfile

    profiles: dict[tuple[str, str], LayerProfile] = {}
    for file in files:
        try:
            profile = LayerProfile.from_dict(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            continue
        if profile.model not in models or not profile.scores:
            continue
        pair = (profile.model, profile.benchmark)
        if pair not in profiles or _completeness(profile) > _completeness(profiles[pair]):
            profiles[pair] = profile
    return tuple(profiles[pair] for pair in sorted(profiles))


def _completeness(profile: LayerProfile) -> tuple[bool, int, str]:
    return (profile.held_out is not None, len(profile.scores), profile.version)


def layer_rows(profile: LayerProfile) -> dict[str, Any]:
    """Write and draw a profile's layers, in the network's order."""
    values = [0.0, 1.0]
    for score in profile.scores:
        values += [value for value in (score.score, *score.ci) if math.isfinite(value)]
    scale = Scale(max(min(values), -0.5), min(max(values), 1.5))
    ceiled = math.isfinite(profile.ceiling)
    held_out, best = profile.held_out, profile.best
    shares = held_out.chosen if held_out else {}
    return {
        "axis": scale.axis(),
        "ceiled": ceiled,
        "rows": [
            {
                "layer": score.layer,
                "best": score.layer == best,
                "mark": _mark(scale, score, ceiled),
                "score": estimate_text(score.score, error=score.error, ci=score.ci, brief=True),
                "chosen": f"{shares.get(score.layer, 0):.0%}" if held_out else "–",
                "reason": score.reason,
            }
            for score in profile.scores
        ],
    }


def _mark(scale: Scale, score: LayerScore, ceiled: bool) -> Markup:
    value = _finite(score.score)
    if value is None:
        return Markup()
    return scale.mark(value, score.ci if _has_interval(score) else None, filled=ceiled, ceiling=ceiled)


def _has_interval(score: LayerScore) -> bool:
    return math.isfinite(score.ci[0]) and math.isfinite(score.ci[1])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
