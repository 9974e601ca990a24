"""Scores on the cards, and the standing of a model among others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import numpy as np
from django.db.models import Q
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from brainscore_core.metrics import ABOVE_CEILING
from brainscore_core.numerics.ranks import Ranks
from brainscore_core.provenance import NOT_REPEATABLE
from brainscore_core.training_data import compare
from brainscore_web.leaderboard.board import Board, BoardNode, group_texts, range_text
from brainscore_web.leaderboard.cards.formatting import (
    STATES,
    Axis,
    axis_of,
    bar,
    estimate,
    number,
)
from brainscore_web.leaderboard.clean import finite
from brainscore_web.leaderboard.exposure import mark_html, verification_mark
from brainscore_web.leaderboard.models import ScoreQuerySet, Visitor
from brainscore_web.leaderboard.reasons import withheld_reason
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import STATES as NAMES
from brainscore_web.leaderboard.snapshot import SnapshotKey


class Standing(NamedTuple):
    """Standing of a model at one node."""

    rank: int  # 1 for the highest value, 0 without a value. Equal values share a rank
    among: int  # number of models that have a value
    ties: int  # number of other models with exactly the same value

    @property
    def text(self) -> str:
        """The rank, with ``=`` for a tie.

        Examples
        --------
        >>> Standing(rank=2, among=9, ties=1).text
        '2='
        """
        return f"{self.rank}{'=' if self.ties else ''}" if self.rank else ""


def standings(values: NDArray[np.float64], model: int) -> tuple[Standing, ...]:
    """Return the standing of one model at all nodes.

    Examples
    --------
    >>> standings(np.array([[0.5], [0.7], [0.49], [np.nan]]), 0)
    (Standing(rank=2, among=3, ties=0),)
    """
    mine = values[model]
    with np.errstate(invalid="ignore"):
        above, equal = values > mine, values == mine
    columns = zip(
        np.isfinite(mine).tolist(),
        (1 + above.sum(axis=0)).tolist(),
        np.isfinite(values).sum(axis=0).tolist(),
        (equal.sum(axis=0) - 1).tolist(),
        strict=True,
    )
    return tuple(
        Standing(rank=rank, among=n, ties=ties) if exists else Standing(rank=0, among=n, ties=0)
        for exists, rank, n, ties in columns
    )


class NodeRanks(NamedTuple):
    """Ranks of all models at one node, with their group letters."""

    ranks: Ranks
    groups: tuple[str, ...]

    def places(self, row: int) -> str:
        """Return the range of ranks of a model as text; empty without a rank, and if no two models were tested."""
        best, worst = int(self.ranks.best[row]), int(self.ranks.worst[row])
        return range_text(max(best, 0), worst) if self.ranks.tested.any() else ""


_ranks: Cache[tuple[SnapshotKey, str], NodeRanks] = Cache(most=64)


def node_ranks(board: Board, place: int) -> NodeRanks:
    """Return ranks of all models at one node with intervals and groups, in the order of `board.models`; cached.

    The board must contain all models and benchmarks.
    """

    def make() -> NodeRanks:
        ranks = board.tested_ranks(place)
        return NodeRanks(ranks, tuple(group_texts(ranks)))

    return _ranks.get((board.snapshot.key, board.nodes[place].identifier), make)


def has_ceiling(board: Board) -> tuple[bool, ...]:
    """Return for each node whether all benchmarks at or below it have a ceiling, which then is 1 on their scale."""
    ceiled = [True] * len(board.nodes)
    for at in range(len(board.nodes) - 1, -1, -1):
        node = board.nodes[at]
        if node.kind == "benchmark":
            ceiled[at] = bool(np.isfinite(board.snapshot.benchmarks[node.column].ceiling))
        if node.parent >= 0 and not ceiled[at]:
            ceiled[node.parent] = False
    return tuple(ceiled)


class ScoreLine(NamedTuple):
    """Details of a score that the snapshot does not contain; what the visitor may not read is withheld."""

    # model, benchmark: their identifiers
    model: str
    benchmark: str
    receipt: str
    version: str
    created: datetime
    state: str
    reason: str
    error_reason: str
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    undetermined: str
    unrepeatable: bool  # whether responses are random or depend on the other stimuli of a batch
    has_outcomes: bool  # whether outcomes are stored for each stimulus

    @property
    def estimate(self) -> tuple[float | None, float | None, float | None, float | None]:
        """Value, standard error, and limits of the interval."""
        return self.value, self.error, self.low, self.high


def load_lines(scores: ScoreQuerySet, visitor: Visitor) -> dict[int, ScoreLine]:
    """Return the details of scores that the visitor may see, oldest first, by primary key."""
    names = ("model__identifier", "benchmark__identifier", *ScoreLine._fields[2:])
    rows = scores.with_shows_data(visitor).annotate(
        unrepeatable=Q(document__notes__icontains=NOT_REPEATABLE), has_outcomes=Q(outcomes__stimuli__isnull=False)
    )
    lines = {}
    for pk, shows_data, *values in rows.order_by("created", "receipt").values_list("pk", "shows_data", *names):
        line = ScoreLine._make(values)
        if not shows_data:
            line = line._replace(reason=withheld_reason(line.state, line.reason), has_outcomes=False)
        lines[pk] = line
    return lines


def upper(nodes: Sequence[BoardNode]) -> tuple[int, ...]:
    """Return the indices of the upper nodes: the roots, and the means directly below the first root."""
    return tuple(
        at
        for at, node in enumerate(nodes)
        if node.kind == "mean" and (node.depth == 0 or (node.depth, node.parent) == (1, 0))
    )


def line_of(board: Board, row: int, place: int, lines: Mapping[int, ScoreLine]) -> ScoreLine | None:
    """Return the details of the score of a model on a benchmark; None for means, and without a score."""
    column = board.nodes[place].column
    return lines.get(int(board.snapshot.score[board.rows[row], column])) if column >= 0 else None


def score_cell(
    board: Board, row: int, place: int, line: ScoreLine | None, axis: Axis, **marks: float | None
) -> dict[str, Any]:
    """Return what cards show of the score of a model at a node, with a bar that has these marks."""
    node, snapshot = board.nodes[place], board.snapshot
    leaf, name = node.column >= 0, NAMES[board.states[row, place]] if node.column >= 0 else "scored"
    value, error, low, high = map(finite, board.numbers(row, place))
    at = board.rows[row], node.column
    raw = (float(part[at]) for part in (snapshot.raw, snapshot.raw_error, snapshot.raw_low, snapshot.raw_high))
    drawn = node.kind != "heading"
    return {
        "state_name": name,
        "score": score_text(line, value, error, low, high) if drawn else "",
        "exposure": exposure_mark(board, row, place)
        + verification_mark(board.verification[row, place], of_mean=node.kind == "mean"),
        "raw": estimate(*raw, none="") if leaf else "",
        "reason": reason_of(name, line, value, error),
        "coverage": "" if leaf else f"{board.n_scored[row, place]} of {board.n_all[row, place]}",
        "bar": bar(axis, value, low, high, **marks) if drawn else SafeString(""),
        "version": line.version if line else "",
        "created": f"{line.created:%Y-%m-%d}" if line else "",
        "receipt": line.receipt if line else "",
        "has_outcomes": bool(line and line.has_outcomes),
        "value": value,
        "low": low,
        "high": high,
    }


def score_rows(
    board: Board, model: str, scores: Mapping[int, ScoreLine], opened: Collection[str]
) -> tuple[dict[str, Any], ...]:
    """Return the rows of a model.

    Parameters
    ----------
    board : Board
        A board of all models and benchmarks.
    model : str
        Identifier of the model.
    scores : mapping
        Details of the scores in the snapshot, by primary key.
    opened : collection of str
        Nodes whose children are shown.
    """
    row = board.row_of(model)
    axis, standing, ceiled = score_axis(board, model), standings(board.ranked_by, row), has_ceiling(board)
    listed = tried(board, model)
    missing = _missing_below(board.nodes, listed)
    tested = {at: node_ranks(board, at) for at in upper(board.nodes)}
    shown: list[bool] = []
    rows = []
    for at, node in enumerate(board.nodes):
        above_open = node.parent < 0 or (shown[node.parent] and board.nodes[node.parent].identifier in opened)
        shown.append(listed[at] and above_open)
        leaf, drawn = node.kind == "benchmark", node.kind != "heading"
        best, median = finite(float(board.node_best[at])), finite(float(board.node_median[at]))
        marks = {"best": best, "median": median, "ceiling": 1.0 if ceiled[at] else None}
        cell = score_cell(board, row, at, line_of(board, row, at, scores), axis, **marks)
        rows.append(
            {
                **cell,
                "identifier": node.identifier,
                "title": node.title,
                "kind": node.kind,
                "depth": node.depth,
                "state": STATES[cell["state_name"]],
                "best": number(best) if drawn else "",
                "median": number(median) if drawn else "",
                "standing": standing[at],
                "places": tested[at].places(row) if at in tested else "",
                "group": tested[at].groups[row] if at in tested else "",
                "condition": board.condition(at) if leaf or at in tested else "",
                "upper": at in tested,
                "marks": marks,
                "private": leaf and board.snapshot.benchmarks[node.column].access != "public",
                "open": node.identifier in opened,
                "shown": shown[at],
                "listed": listed[at],
                "missing": missing[at] if node.identifier in opened else 0,
                "toggle": "" if leaf else _toggled(opened, node.identifier),
            }
        )
    return tuple(rows)


def by_state(rows: Iterable[tuple[str, tuple[str, str, str]]]) -> list[dict[str, Any]]:
    """Group rows of an identifier, a title and a reason by the names of their states, in the order of `STATES`."""
    groups: dict[str, list[tuple[str, str, str]]] = {name: [] for name in STATES}
    for name, row in rows:
        groups[name].append(row)
    return [{"state": STATES[name], "rows": members} for name, members in groups.items() if members]


def tried(board: Board, model: str) -> tuple[bool, ...]:
    """Return for each node whether the model was run on it or on a benchmark below it; roots always count."""
    states = board.states[board.row_of(model)].tolist()
    listed = [node.parent < 0 for node in board.nodes]
    for at in range(len(board.nodes) - 1, -1, -1):
        node = board.nodes[at]
        if node.kind == "benchmark" and NAMES[states[at]] != "missing":
            listed[at] = True
        if listed[at] and node.parent >= 0:
            listed[node.parent] = True
    return tuple(listed)


def _missing_below(nodes: Sequence[BoardNode], listed: Sequence[bool]) -> list[int]:
    """Return for each node how many benchmarks directly below it, or in means directly below it, are not listed."""
    missing = [0] * len(nodes)
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if node.parent >= 0 and not listed[at]:
            missing[node.parent] += 1 if node.kind == "benchmark" else missing[at]
    return missing


def exposure_mark(board: Board, row: int, place: int) -> SafeString:
    """Return the mark of a score whose stimuli the model was, or may have been, trained on; empty for means."""
    node = board.nodes[place]
    if node.kind != "benchmark" or board.exposure[row, place] <= 0:
        return SafeString("")
    finding = compare(board.models[row].training, board.snapshot.benchmarks[node.column].taken_from)
    return mark_html(finding.state, finding.reason)


def score_axis(board: Board, model: str) -> Axis:
    """Return the common axis of the bars in a model's rows."""
    row = board.row_of(model)
    return axis_of(board.node_best, board.values[row], board.high[row], board.low[row])


def _toggled(opened: Collection[str], identifier: str) -> str:
    names = sorted(set(opened) ^ {identifier})
    return urlencode([("open", name) for name in names or [""]], quote_via=quote, safe="")


def score_text(
    line: ScoreLine | None, value: float | None, error: float | None, low: float | None, high: float | None
) -> str:
    """Write a score with its interval; alone if it is above the ceiling, which `reason_of` says in place of both."""
    above = low is None and line is not None and line.error_reason.startswith(ABOVE_CEILING)
    return estimate(value, None if above else error, low, high)


def reason_of(name: str, line: ScoreLine | None, value: float | None, error: float | None) -> str:
    """Return why there is no score, error or interval, or how the score is limited; otherwise empty."""
    if line is None:
        return ""
    if name == "outdated":
        was = line.state
        if line.state == "scored":
            was = estimate(*line.estimate, reason=line.error_reason)
        return f"version {line.version or 'unknown'}: {was}"
    if name == "undetermined":
        return line.undetermined
    if name != "scored":
        return line.reason
    if line.unrepeatable:
        return f"responses are {NOT_REPEATABLE}"
    interval = line.low is not None and line.high is not None
    return "" if value is None or (error is not None and interval) else line.error_reason
