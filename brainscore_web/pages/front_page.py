"""What the home page shows of the leaderboard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from brainscore_web.leaderboard.board import Board

__all__ = ["Front", "Leader", "front_of"]


@dataclass(frozen=True)
class Leader:
    """One of the first models.

    Attributes
    ----------
    identifier, title : str
        Of the model.
    rank, best, worst : int
        Its rank, and the ranks that it may have.
    value : float
        Mean over all.
    error : float or None
        Its standard error.
    """

    identifier: str
    title: str
    rank: int
    best: int
    worst: int
    value: float
    error: float | None


@dataclass(frozen=True)
class Front:
    """Counts and the first models."""

    models: int
    benchmarks: int
    scores: int
    simulated: bool
    leaders: tuple[Leader, ...]


def front_of(board: Board, *, leaders: int = 5) -> Front:
    """Count, and take the first models by the mean of the first root.

    Parameters
    ----------
    board : Board
        As the visitor sees it, without filters.
    leaders : int
        How many models, at most.
    """
    snapshot = board.snapshot
    first = next((place for place, node in enumerate(board.nodes) if node.kind == "mean"), None)
    ranked = [] if first is None else [place for place in np.argsort(board.rank, kind="stable") if board.rank[place]]
    return Front(
        models=len(snapshot.models),
        benchmarks=len(snapshot.benchmarks),
        scores=int(np.count_nonzero(snapshot.state == 0)),
        simulated=bool(snapshot.models) and all(one.identifier.startswith("simulated-") for one in snapshot.models),
        leaders=tuple(_leader(board, place, first) for place in ranked[:leaders] if first is not None),
    )


def _leader(board: Board, place: int, node: int) -> Leader:
    model, error = board.models[place], float(board.errors[place, node])
    return Leader(
        identifier=model.identifier,
        title=model.title or model.identifier,
        rank=int(board.rank[place]),
        best=int(board.best[place]),
        worst=int(board.worst[place]),
        value=float(board.values[place, node]),
        error=error if np.isfinite(error) else None,
    )
