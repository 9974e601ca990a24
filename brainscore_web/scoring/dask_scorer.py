"""Scores one pair on a Dask worker with a given set of plugin folders; does not need Django."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainscore_core.scoring import Receipt

_VARIABLE, _REPLACE = "BRAINSCORE_PLUGINS", "BRAINSCORE_PLUGINS_REPLACE"


def score_pair(model: str, benchmark: str, *, plugins: str, **how: Any) -> Receipt:
    """Score a pair with some folders of plugins."""
    os.environ[_VARIABLE] = plugins  # a process scores for one run, which has one set of plugins
    os.environ[_REPLACE] = "0"  # submitted plugins take the place of no built-in one
    from brainscore_core.runner.scoring import score_pair as score

    return score(model, benchmark, **how)
