"""Lists of all benchmarks (as a tree) and of all models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.core.paginator import Paginator

from brainscore_core.formatting import count_text
from brainscore_web.leaderboard.board import Board, range_text
from brainscore_web.leaderboard.cards.formatting import estimate, megabytes, number
from brainscore_web.leaderboard.descriptions import data_access
from brainscore_web.leaderboard.filters import chosen_models
from brainscore_web.leaderboard.snapshot import BenchmarkRow, ModelRow, Snapshot
from brainscore_web.leaderboard.state import BoardState

PAGE = 50
"""Number of models on one page."""

_TEXTS = ("identifier", "title", "region", "species", "task", "stimuli", "metric")


def benchmark_lines(board: Board, text: str = "") -> tuple[dict[str, Any], ...]:
    """Return the benchmarks of a board that contain all words of a text, and the nodes above them."""
    words = text.casefold().split()
    below: Counter[int] = Counter()  # number of these benchmarks at and below each node
    for at, node in enumerate(board.nodes):
        if node.kind == "benchmark" and _contains(board.snapshot.benchmarks[node.column], words):
            place = at
            while place >= 0:
                below[place] += 1
                place = board.nodes[place].parent
    scored = np.isfinite(board.values).sum(axis=0).tolist()
    return tuple(
        {
            "identifier": node.identifier,
            "title": node.title,
            "kind": node.kind,
            "depth": node.depth,
            "n_benchmarks": below[at],
            "n_models": scored[at],
            "best": "" if node.kind == "heading" else number(float(board.node_best[at])),
            "condition": "" if node.kind == "heading" else board.condition(at),
            "median": "" if node.kind == "heading" else number(float(board.node_median[at])),
            "ceiling": ""
            if about is None
            else estimate(about.ceiling, about.ceiling_error, about.ceiling_low, about.ceiling_high),
            "about": about,
            "data": "" if about is None else data_access(about.access).word,
        }
        for at, node in enumerate(board.nodes)
        if at in below
        for about in (board.snapshot.benchmarks[node.column] if node.column >= 0 else None,)
    )


def model_list(board: Board, state: BoardState) -> dict[str, Any]:
    """Return the requested page of models, in the order of the board."""
    roots = [at for at, node in enumerate(board.nodes) if node.kind == "mean" and node.depth == 0]
    page = Paginator(range(len(board.models)), PAGE).get_page(state.page)
    models = [
        {
            "model": (model := board.models[row]),
            "parameters": count_text(model.parameters),
            "size": megabytes(model.size_mb),
            "rank": str(board.rank[row]) if board.rank[row] else "",
            "places": range_text(board.best[row], board.worst[row]) if board.best[row] != board.worst[row] else "",
            "scores": tuple(estimate(*board.numbers(row, at)) for at in roots),
            "coverage": f"{board.n_scored[row, roots[0]]} of {board.n_all[row, roots[0]]}" if roots else "",
        }
        for row in page
    ]
    return {
        "models": tuple(models),
        "columns": tuple((board.nodes[at].identifier, board.nodes[at].title) for at in roots),
        "total": len(board.models),
        "page": page.number,
        "pages": page.paginator.num_pages,
        "condition": board.condition(board.root) if board.root >= 0 else "",
    }


def unscored(models: Sequence[ModelRow], snapshot: Snapshot, state: BoardState) -> tuple[ModelRow, ...]:
    """Return models that pass the filters but have no receipt yet."""
    others = [model for model in models if model.identifier not in snapshot.model_index]
    return tuple(others[place] for place in chosen_models(others, state))


def sorts(state: BoardState, page: dict[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """Return the sortable columns: title, query that sorts by it or reverses the order, and its current order."""
    columns = []
    for key, title in (("model", "Model"), ("rank", "Rank"), *page["columns"]):
        now = {key: "ascending", f"-{key}": "descending"}.get(state.sort, "")
        if key != "model" and now:
            now = {"ascending": "descending", "descending": "ascending"}[now] if key != "rank" else now
        columns.append((title, state.changed(sort=f"-{key}" if state.sort == key else key).query(), now))
    return tuple(columns)


def _contains(benchmark: BenchmarkRow, words: Sequence[str]) -> bool:
    text = "\n".join(getattr(benchmark, name) for name in _TEXTS).casefold()
    return all(word in text for word in words)
