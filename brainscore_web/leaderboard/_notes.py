"""Sentences on what a board shows and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from brainscore_web.leaderboard.snapshot import Snapshot
from brainscore_web.leaderboard.state import BoardState

__all__ = ["notes"]


def notes(
    snapshot: Snapshot,
    state: BoardState,
    rows: NDArray[np.intp],
    columns: Sequence[int],
    root: int | None,
    values: NDArray[np.float64],
    errors: NDArray[np.float64],
    too_many_groups: bool,
) -> tuple[str, ...]:
    """Everything that should be said."""
    found = []
    if len(rows) < len(snapshot.models) or len(columns) < len(snapshot.benchmarks):
        found.append(
            f"{len(rows)} of {len(snapshot.models)} models and {len(columns)} of {len(snapshot.benchmarks)} benchmarks "
            "pass the filters; means, ranks and colours are over these."
        )
    return tuple(found)
