"""What is known of one cell, in words."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from brainscore_web.leaderboard.board import STATES, Board
from brainscore_web.leaderboard.models import Score, Visitor
from brainscore_web.leaderboard.withheld import withheld_reason

__all__ = ["Facts", "cell_facts"]

_FIELDS = ("receipt", "version", "created", "level", "state", "reason", "error_reason", "value", "error")


class Facts(NamedTuple):
    """What a cell shows, in words, and the receipt that says so, if there is one."""

    title: str
    texts: list[str]
    receipt: str | None = None


def cell_facts(board: Board, row: int, place: int, visitor: Visitor) -> Facts:
    """Say what is known of a model (its row on the board) at a node.

    Asks the database once, for the score of a benchmark.
    """
    node = board.nodes[place]
    title = f"{board.models[row].title} · {node.title}"
    if node.kind == "heading":
        return Facts(title, [])
    if node.kind == "mean":
        return Facts(title, _of_mean(board, row, place))
    score: dict[str, Any] = {}
    shown = int(board.snapshot.score[int(board.rows[row]), node.column])
    if shown >= 0:
        score = _score(shown, visitor)
    return Facts(title, _of_benchmark(board, row, place, score), score.get("receipt"))


def _score(key: int, visitor: Visitor) -> dict[str, Any]:
    rows = Score.objects.visible_to(visitor).with_shows_data(visitor).filter(pk=key)
    found: dict[str, Any] = rows.values(*_FIELDS, "shows_data").first() or {}
    if found and not found["shows_data"]:
        found["reason"] = withheld_reason(found["state"], found["reason"])
    return found


def _of_mean(board: Board, row: int, place: int) -> list[str]:
    n_scored, n_all = int(board.n_scored[row, place]), int(board.n_all[row, place])
    gaps = "count as 0" if board.state.over == "all" else "are left out"
    rest = "" if n_scored == n_all else f"; the others {gaps}"
    scored = f"mean of {n_all} benchmarks, {n_scored} of them scored{rest}" if n_all > 1 else f"{n_scored} of 1 scored"
    if not math.isfinite(board.values[row, place]):
        return ["no value", scored]
    error = [] if math.isfinite(board.errors[row, place]) else ["no standard error: a score below has none"]
    return [_value(board, row, place), *error, *_interval(board, row, place, 0.95), scored, *_rank(board, row, place)]


def _of_benchmark(board: Board, row: int, place: int, score: dict[str, Any]) -> list[str]:
    snapshot = board.snapshot
    at = int(board.rows[row]), board.nodes[place].column
    benchmark = snapshot.benchmarks[at[1]]
    state = STATES[board.states[row, place]]
    version = f" {score['version']}" if score.get("version") else " unknown"
    when = f"version{version} of the benchmark, {score['created']:%Y-%m-%d}" if score else ""
    counts = "" if not benchmark.in_tree or board.state.over == "scored" else "; counts as 0 in means"
    if state == "scored":
        found = [_value(board, row, place)]
        if math.isnan(board.errors[row, place]):
            found.append(f"no standard error: {score.get('error_reason') or 'not given'}")
        found += _interval(board, row, place, score.get("level"))
        raw, ceiled = snapshot.raw[at], snapshot.value[at]
        other, name = (raw, "raw") if board.state.values == "ceiled" else (ceiled, "ceiled")
        if math.isfinite(other):
            found.append(f"{name} {other:.4f}")
        if math.isfinite(benchmark.ceiling):
            meaning = f" ({benchmark.ceiling_meaning})" if benchmark.ceiling_meaning else ""
            found.append(f"ceiling {benchmark.ceiling:.3f}{meaning}")
        return [*found, *_rank(board, row, place), *filter(None, [when])]
    if state == "missing":
        return [f"missing: never scored{counts}"]
    if state == "outdated":
        number = score.get("value")
        what = "" if number is None else f", {number:.3f}" + (f" ± {score['error']:.3f}" if score["error"] else "")
        return [f"outdated: only {when or 'another version'}{what}; version {benchmark.version} counts{counts}"]
    reason = (score.get("reason") or "").strip().splitlines()
    return [f"{state}{counts}", *(line[:300] for line in reason[:1]), *filter(None, [when])]


def _value(board: Board, row: int, place: int) -> str:
    value, error = board.values[row, place], board.errors[row, place]
    kind = "raw" if board.state.values == "raw" else "ceiled"
    return f"{kind} {value:.4f}" + (f" ± {error:.4f} (standard error)" if math.isfinite(error) else "")


def _interval(board: Board, row: int, place: int, level: float | None) -> list[str]:
    low, high = board.low[row, place], board.high[row, place]
    if not (math.isfinite(low) and math.isfinite(high)):
        return []
    return [f"{f'{100 * level:g} % ' if level else ''}interval {low:.3f} to {high:.3f}"]


def _rank(board: Board, row: int, place: int) -> list[str]:
    ranks = board.rank_of(place)
    if not ranks[row]:
        return []
    return [f"rank {ranks[row]} of {int((ranks > 0).sum())} here"]
