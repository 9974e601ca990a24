"""The leaderboard as one JSON document: what models and nodes are, and matrices of models × nodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UnknownIdentifier
from brainscore_web.leaderboard.board import STATES, Board

__all__ = ["content", "places"]


def places(board: Board, wanted: Sequence[str], *, shown: bool) -> list[int]:
    """Places of the nodes that are asked for, in the board's order.

    Raises
    ------
    UnknownIdentifier
        If one is not on this board.
    """
    here = {node.identifier: place for place, node in enumerate(board.nodes) if node.kind != "heading"}
    for name in wanted:
        if name not in here:
            raise UnknownIdentifier(f"node: {name[:80]!r} is not on this leaderboard", remedy="see /api/v1/benchmarks")
    kept = {here[name] for name in wanted} if wanted else set(here.values())
    return sorted(place for place in kept if board.nodes[place].shown or not shown)


def content(board: Board, nodes: Sequence[int], limit: int, offset: int) -> bytes:
    """Write the part of a board that has these nodes, and `limit` models after the first `offset`."""
    some = slice(offset, offset + limit)
    total = len(board.models)
    document = {
        "query": board.state.query(),
        "total": total,
        "limit": limit,
        "offset": offset,
        "state_names": list(STATES),
        "models": [_model(board, place) for place in range(total)[some]],
        "nodes": [_node(board, place) for place in nodes],
        "value": _numbers(board.values[some][:, nodes]),
        "error": _numbers(board.errors[some][:, nodes]),
        "low": _numbers(board.low[some][:, nodes]),
        "high": _numbers(board.high[some][:, nodes]),
        "state": board.states[some][:, nodes].tolist(),
        "n_scored": board.n_scored[some][:, nodes].tolist(),
        "notes": list(board.notes),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def _model(board: Board, place: int) -> dict[str, Any]:
    model = board.models[place]
    names = ("identifier", "title", "private", "architecture", "family", "parameters", "training_data", "runnable")
    return {
        **{name: getattr(model, name) for name in names},
        "size_mb": _number(model.size_mb),
        "rank": int(board.rank[place]) or None,
        "best": int(board.best[place]) or None,
        "worst": int(board.worst[place]) or None,
        "groups": board.groups[place],
    }


def _node(board: Board, place: int) -> dict[str, Any]:
    node = board.nodes[place]
    above = board.nodes[node.parent] if node.parent >= 0 else None
    return {
        "identifier": node.identifier,
        "title": node.title,
        "parent": above.identifier if above is not None and above.kind != "heading" else None,
        "depth": node.depth,
        "kind": node.kind,
        "n_benchmarks": node.n_benchmarks,
        "version": board.snapshot.benchmarks[node.column].version if node.column >= 0 else None,
        "shown": node.shown,
        "best": _number(board.node_best[place]),
        "median": _number(board.node_median[place]),
        "ceiling": _number(board.node_ceiling[place]),
    }


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


def _numbers(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    known = np.isfinite(matrix)
    if known.all():
        return matrix.tolist()
    values = matrix.astype(object)
    values[~known] = None
    return values.tolist()
