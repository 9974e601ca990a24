"""What the page's script needs, as JSON: every number once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from brainscore.report._board import OVERS, Board, coverage_text
from brainscore.report._report import Report

__all__ = ["payload_of", "widest_pair"]

CODES = {"scored": "s", "undefined": "u", "not applicable": "n", "failed": "f", "outdated": "o", "missing": "m"}
_MOST_COMPARED = 60  # benchmarks among which the first pair of the scatter plot is looked for


def payload_of(report: Report) -> str:
    """Write what the script needs; safe inside a script element."""
    board = report.board
    ceiled = {group.benchmark: group.ceiled for group in report.view.groups}
    texts: dict[str, int] = {}
    data: dict[str, Any] = {
        "over": board.over,
        "models": board.models,
        "nodes": [
            {
                "id": node.identifier,
                "title": node.title,
                "parent": node.parent,
                "kind": node.kind,
                "root": node.root,
                "all": node.n_all,
                "shown": node.n_shown,
                **({"ceiled": ceiled[node.identifier]} if node.kind == "benchmark" else {}),
            }
            for node in board.nodes
        ],
        "start": board.start,
        "means": {over: _means(board, over) for over in OVERS},
        "cover": _cover(board, texts),
        "texts": list(texts),
        "columns": [_column(board, place) for place in board.benchmarks],
        "pair": widest_pair(report),
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # nothing in a name can end the element or open a comment; a lone surrogate cannot be written
    return text.replace("<", "\\u003c").encode("utf-8", "replace").decode()


def widest_pair(report: Report) -> tuple[int, int] | None:
    """The two benchmarks to compare first, as places among the benchmarks; None if there are no two.

    Those that most models are scored on; controls only where there is nothing else. Of equals ceiled ones, those of
    different means, then the first.
    """
    board = report.board
    places = board.benchmarks
    scored = {
        number: {
            model for model in board.models if board.states.get((model, board.nodes[place].identifier)) == "scored"
        }
        for number, place in enumerate(places)
    }
    numbers = sorted(scored, key=lambda number: (-len(scored[number]), number))[:_MOST_COMPARED]
    groups = {group.benchmark: group for group in report.view.groups}

    def worth(pair: tuple[int, int]) -> tuple[int | bool, ...]:
        one, other = (board.nodes[places[number]] for number in pair)
        both = [groups[one.identifier], groups[other.identifier]]
        controls, ceiled = sum(group.control for group in both), sum(group.ceiled for group in both)
        models = len(scored[pair[0]] & scored[pair[1]])
        return (models > 2, -controls, models, ceiled, one.parent != other.parent, -pair[0], -pair[1])

    return max(combinations(sorted(numbers), 2), key=worth, default=None)


def _means(board: Board, over: str) -> dict[str, dict[str, list[float | None]]]:
    found = {}
    for place, node in enumerate(board.nodes):
        if node.kind == "mean":
            its = [board.means[over][model][place] for model in board.models]  # type: ignore[index] # board is narrowed above
            found[str(place)] = {"v": _rounded(mean.value for mean in its), "e": _rounded(mean.error for mean in its)}
    return found


def _cover(board: Board, texts: dict[str, int]) -> dict[str, list[int]]:
    found = {}
    for place, node in enumerate(board.nodes):
        if node.kind == "mean":
            its = (coverage_text(board.means["all"][model][place].coverage) for model in board.models)
            found[str(place)] = [texts.setdefault(text, len(texts)) for text in its]
    return found


def _column(board: Board, place: int) -> dict[str, Any]:
    name = board.nodes[place].identifier
    codes, scores = [], []
    for model in board.models:
        state = board.states.get((model, name), "missing")
        codes.append(CODES[state])
        if state == "scored":
            scores.append(board.receipts[model, name].score)
    return {
        "node": place,
        "s": "".join(codes),
        "v": _rounded(score.value for score in scores if score),
        "e": _rounded(score.error for score in scores if score),
        "l": _rounded(score.ci[0] if score.ci else None for score in scores if score),
        "h": _rounded(score.ci[1] if score.ci else None for score in scores if score),
    }


def _rounded(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else float(f"{value:.5g}") for value in values]
