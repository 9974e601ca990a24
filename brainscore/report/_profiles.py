"""Layer profiles that `brainscore layers` and the selection of layers left on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile

__all__ = ["find_profiles"]


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
    home = Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser()
    files = sorted((folder or home / "layers").glob("*/*.json"))
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
        if pair not in found or _worth(profile) > _worth(found[pair]):
            found[pair] = profile
    return tuple(found[pair] for pair in sorted(found))


def _worth(profile: LayerProfile) -> tuple[bool, int, str]:
    return (profile.held_out is not None, len(profile.scores), profile.version)
