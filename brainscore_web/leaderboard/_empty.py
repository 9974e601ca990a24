"""How much passes the filters, and why nothing does."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from brainscore_web.leaderboard._filters import chosen_benchmarks, chosen_models
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.state import BoardState

__all__ = ["counts_text", "n_filters", "why_empty"]

_OF_MODELS = {
    "q": "the search",
    "family": "the family",
    "architecture": "the architecture",
    "training": "the training data",
    "parameters_min": "the least number of parameters",
    "parameters_max": "the greatest number of parameters",
    "size_min": "the least size",
    "size_max": "the greatest size",
    "runnable": "“can be run”",
}
_OF_BENCHMARKS = {
    "include": "“only”",
    "exclude": "“without”",
    "region": "the region",
    "species": "the species",
    "task": "the task",
    "stimuli": "the stimuli",
    "metric": "the metric",
    "ceiling_min": "the least ceiling",
    "access": "“public data”",
}
_USUAL: dict[str, Any] = {field.name: field.default for field in fields(BoardState)}


def counts_text(board: Board) -> str:
    """How many models and benchmarks pass."""
    n_benchmarks = sum(node.kind == "benchmark" for node in board.nodes)
    day = f", as of {board.state.at}" if board.state.at else ""
    return (
        f"{len(board.models)} of {_number(len(board.snapshot.models), 'model')}, "
        f"{n_benchmarks} of {_number(len(board.snapshot.benchmarks), 'benchmark')}{day}"
    )


def n_filters(state: BoardState) -> int:
    """How many filters there are, the search not counted."""
    return len(_set(state, {**_OF_MODELS, **_OF_BENCHMARKS}).keys() - {"q"})


def why_empty(board: Board) -> list[str]:
    """Why there is no row, or no column, and how to mend it; nothing if there are both."""
    state, snapshot = board.state, board.snapshot
    said = []
    if not snapshot.models:
        when = f"had been scored by {state.at}" if state.at else "has been scored yet"
        return [f"No model {when}." + (" Choose a later day." if state.at else "")]
    if not board.models:
        without = {
            text: len(chosen_models(snapshot.models, state.changed(**{name: _USUAL[name]})))
            for name, text in _set(state, _OF_MODELS).items()
        }
        said.append(f"No model passes.{_mended(without, 'model')}")
    if not board.nodes:
        if not snapshot.benchmarks:
            return [*said, "There are no benchmarks."]
        without = {
            text: len(chosen_benchmarks(snapshot, state.changed(**{name: _USUAL[name]})))
            for name, text in _set(state, _OF_BENCHMARKS).items()
        }
        said.append(f"No benchmark passes.{_mended(without, 'benchmark')}")
    return said


def _set(state: BoardState, among: dict[str, Any]) -> dict[str, str]:
    return {name: text for name, text in among.items() if getattr(state, name) != _USUAL[name]}


def _mended(without: dict[str, int], noun: str) -> str:
    some = [f"without {text} {_number(count, noun)}" for text, count in without.items() if count]
    if some:
        return f" {'; '.join(some).capitalize()} would."
    return " Several filters together keep everything out: leave some of them out." if len(without) > 1 else ""


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
