"""The board as JSON for the browser's script, and explanations of empty boards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.formatting import number_text, range_text
from brainscore_core.plurals import counted
from brainscore_web.leaderboard.board import SHADES, STATES, Board, BoardNode
from brainscore_web.leaderboard.descriptions import Badge, badge_of, plain_name
from brainscore_web.leaderboard.filters import Link, chips, chosen_benchmarks, chosen_models
from brainscore_web.leaderboard.state import COVERAGE, DEFAULTS, PARAMETERS, BoardState, parameters_of


def counts_text(board: Board) -> str:
    """Return a text with the numbers of models and benchmarks that pass the filters."""
    listed = "" if board.n_listed == board.n_benchmarks else f", {board.n_listed} with scores"
    day = f", as of {board.state.at}" if board.state.at else ""
    if any(board.unranked):
        n = int((board.rank > 0).sum())
        day += f"; {n} ranked, from a coverage of {board.state.coverage:g} %"
    return (
        f"{len(board.models)} of {counted(len(board.snapshot.models), 'model')}, "
        f"{board.n_benchmarks} of {counted(len(board.snapshot.benchmarks), 'benchmark')}{listed}{day}"
    )


def n_filters(state: BoardState) -> int:
    """Return the number of active filters, not counting the search."""
    return sum(len(_active(state, subject).keys() - {"q"}) for subject in ("models", "benchmarks", "scores"))


def why_empty(board: Board) -> list[str]:
    """Explain why a board has no rows, columns or ranks, and how to change that; empty if it has all of them."""
    state, snapshot = board.state, board.snapshot
    texts = []
    if not snapshot.models:
        when = f"had been scored by {state.at}" if state.at else "has been scored yet"
        return [f"No model {when}." + (" Choose a later day." if state.at else "")]
    if state.common and not board.nodes:
        return ["No benchmark was scored for all of these models."]
    if not board.models and board.nodes and chosen_models(snapshot.models, state):
        return ["No model that passes the filters has a score on one of these benchmarks."]
    if not board.models:
        n_models = {
            text: len(chosen_models(snapshot.models, other)) for text, other in _active(state, "models").values()
        }
        texts.append(f"No model passes.{_suggestion(n_models, 'model')}")
    if not board.nodes:
        if not snapshot.benchmarks:
            return [*texts, "There are no benchmarks."]
        if state.exposure and (n := len(chosen_benchmarks(snapshot, state))):
            return [*texts, f"No score passes.{_suggestion({PARAMETERS['exposure'].phrase: n}, 'benchmark')}"]
        n_benchmarks = {
            text: len(chosen_benchmarks(snapshot, other)) for text, other in _active(state, "benchmarks").values()
        }
        texts.append(f"No benchmark passes.{_suggestion(n_benchmarks, 'benchmark')}")
    if board.models and board.nodes and board.root >= 0 and not board.rank.any():
        texts.append(
            "No model was scored on enough benchmarks for a rank. Open a column with + to see its scores, or set in "
            "Filters that models are ranked from 0 % of the benchmarks."
        )
    return texts


def shortcuts(board: Board) -> list[Link]:
    """Return links to other columns, to the benchmarks that models have in common, and to the ranks of all models."""
    state, links = board.state, []
    if board.n_listed < board.n_benchmarks:
        text = f"Show all {board.n_benchmarks} benchmarks, also those without a score"
        links.append(Link(text, state.changed(empty=True).query()))
    elif state.empty:
        links.append(Link("Show only benchmarks with scores", state.changed(empty=False).query()))
    if state.common or state.coverage != COVERAGE:
        links.append(Link("Back to the default coverage", state.changed(common="", coverage=COVERAGE).query()))
        return links
    if board.root < 0 or (board.n_scored[:, 0] == board.n_all[:, 0]).all():
        return links
    everyone, most = board.common
    if everyone.n_benchmarks and everyone.n_models > 1:
        number = counted(everyone.n_benchmarks, "benchmark")
        text = f"Compare on what all have: {number}"
        links.append(Link(text, state.changed(common="all", coverage=100.0).query()))
    if 1 < most.n_models < everyone.n_models:
        number = counted(most.n_benchmarks, "benchmark")
        text = f"Compare the {most.n_models} most complete models on what they have in common: {number}"
        links.append(Link(text, state.changed(common="most", coverage=100.0).query()))
    if any(board.unranked):
        links.append(Link("Rank all models", state.changed(coverage=0.0).query()))
    return links


class Preset(NamedTuple):
    """A tab of the leaderboard, which selects benchmarks or models."""

    title: str
    changes: str  # query of the selection alone
    query: str  # query of the state with this selection, starting with ``?``
    current: bool  # whether this selection is shown


_sources: list[Callable[[str], Iterable[tuple[str, Iterable[str]]]]] = []


def register_selections(source: Callable[[str], Iterable[tuple[str, Iterable[str]]]]) -> None:
    """Add a function that returns further tabs of a domain: titles with names of benchmarks."""
    _sources.append(source)


def presets(board: Board, *, signed_in: bool) -> list[Preset]:
    """Return tabs: all benchmarks, those below the means of the upper levels, those of other apps, own models.

    A mean of the second level has a tab if all its siblings are means, such as regions. Other filters stay.
    """
    tree, state = board.snapshot.tree, board.state
    means = {name for name in tree if not tree[name].benchmark}
    upper = [name for root in tree.roots[:1] for name in tree.children(root) if name in means]
    lower = [name for parent in upper if means.issuperset(tree.children(parent)) for name in tree.children(parent)]
    selections: list[tuple[str, dict[str, Any]]] = [("All", {})]
    selections += [(tree[name].title or name, {"include": (name,)}) for name in (*upper, *tree.roots[1:], *lower)]
    for title, names in (tab for source in _sources for tab in source(board.snapshot.domain)):
        if known := tuple(sorted(set(names) & board.snapshot.benchmark_index.keys())):
            selections.append((title, {"include": known}))
    if signed_in:
        selections.append(("My models", {"mine": True}))
    defaults: dict[str, Any] = {"include": (), "exclude": (), "mine": False}
    return [
        Preset(
            title,
            BoardState(**changes).query(),
            f"?{state.changed(**defaults | changes, open=None, sort='rank').query()}",
            all(getattr(state, name) == (defaults | changes)[name] for name in defaults),
        )
        for title, changes in selections
    ]


def _active(state: BoardState, subject: str) -> dict[str, tuple[str, BoardState]]:
    """Return the active filters of models, benchmarks or scores: what they are in words, and the state without them."""
    names = [name for name in parameters_of(subject) if getattr(state, name) != DEFAULTS[name]]
    return {name: (PARAMETERS[name].phrase, state.changed(**{name: DEFAULTS[name]})) for name in names}


def _suggestion(without: dict[str, int], noun: str) -> str:
    matching = [f"without {text}, {counted(count, noun)}" for text, count in without.items() if count]
    if matching:
        return f" {'; '.join(matching).capitalize()} would."
    return " Remove several filters: no single one is the reason." if len(without) > 1 else ""


SCALE = 1000
"""Values are sent and shown in multiples of 1/SCALE."""

_LARGEST = 1e12  # larger numbers are inexact as multiples of 1/SCALE, in 64-bit integers and in browsers
_SCORED = STATES.index("scored")


def rounded(value: float) -> str:
    """Format a value as shown, such as ``'0.512'``; empty for NaN. The browser's script does the same.

    >>> [rounded(value) for value in (0.5119, -0.02, 1.0, -0.0001, float("nan"))]
    ['0.512', '−0.020', '1.000', '0.000', '']
    """
    return number_text(_multiple(value)) if math.isfinite(value) else ""


def rounded_limits(low: float, high: float) -> str:
    """Format the limits of an interval as shown; ``'≥'`` and ``'≤'`` if there is one limit, empty without an interval.

    >>> rounded_limits(0.43, 0.561), rounded_limits(-0.02, 0.1), rounded_limits(0.3, float("nan"))
    ('0.430–0.561', '−0.020 to 0.100', '≥ 0.300')
    """
    if math.isfinite(low) and math.isfinite(high):
        return range_text(_multiple(low), _multiple(high))
    return f"≥ {rounded(low)}" if math.isfinite(low) else f"≤ {rounded(high)}" if math.isfinite(high) else ""


def _multiple(value: float) -> float:
    """Return the nearest number that is sent."""
    return round(min(max(value, -_LARGEST), _LARGEST) * SCALE) / SCALE + 0.0


def board_data(board: Board, today: date | None = None) -> dict[str, Any]:
    """Return the board with counts, models, nodes, and the columns that are shown.

    `today` is the day by which benchmarks are new, unless the board is that of a day; without either, none is. Models
    are sorted by name; the displayed order follows from `sort`.
    """
    by_name = np.argsort(board.rows, kind="stable")
    models = [board.models[row] for row in by_name.tolist()]
    shown = {at for at, node in enumerate(board.nodes) if node.shown}
    shown.add(board.place(board.state.sort.removeprefix("-")))
    plain = board.state.changed(page=1)
    listed = [at for at, node in enumerate(board.nodes) if node.listed]
    places = {at: place for place, at in enumerate(listed)}
    new = new_benchmarks(board, today)
    return {
        "revision": board.snapshot.digest,
        "query": plain.query(),
        "sort": board.state.sort,
        "counts": counts_text(board),
        "chosen": n_filters(board.state),
        "notes": list(board.notes),
        "empty": why_empty(board),
        "shortcuts": shortcuts(board),
        "chips": chips(board.state),
        "models": {
            "id": [model.identifier for model in models],
            "title": [None if model.title == model.identifier else model.title for model in models],
            "private": [row for row, model in enumerate(models) if model.private],
            "mine": [row for row, model in enumerate(models) if model.mine],
            "rank": board.rank[by_name].tolist(),
            "best": board.best[by_name].tolist(),
            "worst": board.worst[by_name].tolist(),
            "tested": _digits(board.tested[by_name]),
            "unranked": [board.unranked[row] for row in by_name.tolist()],
            "scored": [int(n) for n in board.n_scored[by_name, 0]] if board.root >= 0 else [],
            "of": int(board.n_all[:, 0].max()) if board.root >= 0 and len(models) else 0,
            **{
                name: [getattr(model, name) for model in models]
                for name in ("parameters", "published")
                if name in board.state.facts or name == board.state.sort.removeprefix("-")
            },
            "group": [board.groups[row] for row in by_name.tolist()],
        },
        "nodes": [
            {
                "id": node.identifier,
                **({"title": node.title} if node.title != node.identifier else {}),
                "parent": places.get(node.parent, -1),
                "kind": node.kind,
                "n": node.n_benchmarks,
                **({"open": 1} if node.open else {}),
                **({"bare": 1} if node.bare else {}),
                **({"words": words} if (words := _words(board, node)) else {}),
                **({"new": 1} if node.identifier in new else {}),
                **({"badge": list(badge)} if (badge := badge_on(board, at)).signs else {}),
            }
            for at, node in ((at, board.nodes[at]) for at in listed)
        ],
        "columns": _columns(board, shown, by_name),
    }


def _words(board: Board, node: BoardNode) -> str:
    """Return what a benchmark measures in a few words; empty for a mean."""
    return plain_name(board.snapshot.benchmarks[node.column]) if node.column >= 0 else ""


def badge_on(board: Board, place: int) -> Badge:
    """Return the badge of a node: what its audit and its recovery found; without signs for means."""
    column = board.nodes[place].column
    if column < 0:
        return badge_of("", "")
    benchmark = board.snapshot.benchmarks[column]
    return badge_of(benchmark.audit, benchmark.recovery)


NEW_DAYS = 90
"""A benchmark is new for this number of days after its version was first seen."""


def new_benchmarks(board: Board, today: date | None) -> frozenset[str]:
    """Return the benchmarks of the site that are new on the day of the board, otherwise today; none if all are."""
    day, rows = board.snapshot.at or today, board.snapshot.benchmarks
    if day is None:
        return frozenset()
    new = {row.identifier for row in rows if row.since and 0 <= (day - row.since).days < NEW_DAYS}
    return frozenset(new) if len(new) < len(rows) else frozenset()


def columns_below(board: Board, identifiers: Iterable[str]) -> dict[str, Any]:
    """Return the columns of the children of some nodes; an empty identifier stands for the roots."""
    parents = set()
    for identifier in identifiers:
        if identifier and board.place(identifier) < 0:
            raise UserError(f"node: {identifier[:80]!r} is not on this board", remedy="reload the page")
        parents.add(board.place(identifier) if identifier else -1)
    by_name = np.argsort(board.rows, kind="stable")
    below = {at for at, node in enumerate(board.nodes) if node.parent in parents and node.listed}
    return {
        "revision": board.snapshot.digest,
        "models": len(board.models),
        "columns": _columns(board, below, by_name),
    }


def _columns(board: Board, places: set[int], by_name: NDArray[np.intp]) -> dict[str, Any]:
    return {
        board.nodes[at].identifier: {
            **column_data(
                board.values[by_name, at],
                board.low[by_name, at],
                board.high[by_name, at],
                board.states[by_name, at],
                board.shade[by_name, at],
            ),
            "e": _codes(board.values[by_name, at], board.exposure[by_name, at]),
            "u": _codes(board.values[by_name, at], board.verification[by_name, at]),
            "best": rounded(board.node_best[at]),
            "median": rounded(board.node_median[at]),
            "ceiling": rounded(board.node_ceiling[at]),
        }
        for at in sorted(places)
        if at >= 0 and board.nodes[at].kind != "heading"
    }


def column_data(
    values: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    states: NDArray[np.int8],
    shades: NDArray[np.int8],
) -> dict[str, Any]:
    """Encode one column; fractions of the numbers tell values apart that are rounded to the same number.

    Examples
    --------
    >>> nan = np.nan
    >>> column = column_data(np.array([0.2, nan, 0.5001, 0.5002]), np.array([0.1, nan, nan, 0.15]),
    ...                      np.array([0.3, nan, nan, 0.25]),
    ...                      np.array([0, 3, 0, 0], dtype=np.int8), np.array([0, -1, 9, 9], dtype=np.int8))
    >>> column["v"], column["s"], column["c"]
    ([200, 500, 500.1], '0300', [2, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    >>> column["l"], column["h"]
    ([100, None, 150], [300, None, 250])
    """
    known = np.isfinite(values)
    distinct, places = np.unique(values[known], return_inverse=True)
    integers = np.rint(np.clip(distinct, -_LARGEST, _LARGEST) * SCALE)
    steps = np.arange(len(distinct)) - np.searchsorted(integers, integers)  # 0 for the lowest that rounds to an integer
    unit = 10 ** len(str(steps.max(initial=0)))
    numbers = [
        int(number) if not step else (number * unit + step) / unit
        for number, step in zip(integers.tolist(), steps.tolist(), strict=True)
    ]
    colours = shades[known]
    is_coloured = colours.size and colours.min() >= 0
    return {
        "scale": SCALE,
        "v": [numbers[place] for place in places.tolist()],
        "l": _scaled(low[known]),
        "h": _scaled(high[known]),
        "c": np.bincount(colours, minlength=SHADES)[::-1].tolist() if is_coloured else [],
        "s": _digits(states),
    }


def _codes(values: NDArray[np.float64], matrix: NDArray[np.int8]) -> str:
    """Return the exposure or verification of models with a value, in row order; empty if no score has a mark."""
    codes = matrix[np.isfinite(values)]
    return _digits(np.maximum(codes, 0)) if (codes > 0).any() else ""


def _digits(codes: NDArray[Any]) -> str:
    """Return codes from 0 to 9 as a text."""
    return (codes + ord("0")).astype(np.uint8).tobytes().decode("ascii")


def _scaled(numbers: NDArray[np.float64]) -> list[int | None]:
    """Return limits as they are sent; empty if no interval has one."""
    if not np.isfinite(numbers).any():
        return []
    return [
        round(min(max(number, -_LARGEST), _LARGEST) * SCALE) if math.isfinite(number) else None
        for number in numbers.tolist()
    ]
