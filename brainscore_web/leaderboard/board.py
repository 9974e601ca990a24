"""The leaderboard that a visitor asks for: filtered, averaged, ranked and ordered; a pure function of a snapshot."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.numerics.ranks_from_errors import ranks_from_errors
from brainscore_core.scoring.aggregates import averages
from brainscore_web.leaderboard import _notes
from brainscore_web.leaderboard._cache import Cache
from brainscore_web.leaderboard._filters import chosen_benchmarks, chosen_models
from brainscore_web.leaderboard._nodes import BoardNode, nodes_of, opened, start_of
from brainscore_web.leaderboard.snapshot import STATES, ModelRow, Snapshot, SnapshotKey
from brainscore_web.leaderboard.state import BoardState

__all__ = ["SHADES", "STATES", "Board", "BoardNode", "board_for", "board_of", "forget"]

SHADES = 10
"""Classes of colours."""

_SCORED, _MISSING = STATES.index("scored"), STATES.index("missing")
_WIDE = 1.959963984540054  # standard errors on either side that hold 95 %
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Board:
    """What the leaderboard shows; arrays cannot be written to.

    Attributes
    ----------
    state : BoardState
        What was asked for.
    snapshot : Snapshot
        Of what.
    models : tuple of ModelRow
        Those that pass the filters, in the order shown.
    rows : array (models,) of int
        Their places in the snapshot.
    nodes : tuple of BoardNode
        Depth first over the filtered tree, then headings with what stands apart.
    values, errors, low, high : array (models, nodes)
        Scores of benchmarks and means of them, with standard errors and limits of intervals; NaN where there is none.
        Limits of a mean are 1.96 standard errors away.
    states : array (models, nodes) of int8
        Places in :data:`STATES`. Of a mean: scored if it has a value, else that of all benchmarks below if it is the
        same, else missing.
    n_scored, n_all : array (models, nodes) of int
        Benchmarks here and below: scored ones, and all that passed the filters.
    shade : array (models, nodes) of int8
        Class of colour: where the value lies between the lowest (0) and the highest (9) of its column; -1 where there
        is no value, 5 if all are the same.
    rank, best, worst : array (models,) of int
        Rank by the mean of the first root and the limits of its interval; 0 where there is none.
    groups : tuple of str
        Letters of the groups of models that were not told apart; empty where there is no rank.
    node_best, node_median, node_ceiling : array (nodes,)
        Over the models shown that have a value. The ceiling is that of the benchmark, on the scale of raw scores, or,
        if raw values are shown, the mean of those below; NaN where there is none.
    notes : tuple of str
        Sentences on what is shown and what it rests on.
    """

    state: BoardState
    snapshot: Snapshot
    models: tuple[ModelRow, ...]
    rows: NDArray[np.intp]
    nodes: tuple[BoardNode, ...]
    values: Floats
    errors: Floats
    low: Floats
    high: Floats
    states: NDArray[np.int8]
    n_scored: NDArray[np.int64]
    n_all: NDArray[np.int64]
    shade: NDArray[np.int8]
    rank: NDArray[np.int64]
    best: NDArray[np.int64]
    worst: NDArray[np.int64]
    groups: tuple[str, ...]
    node_best: Floats
    node_median: Floats
    node_ceiling: Floats
    notes: tuple[str, ...]
    _places: dict[str, int] = field(default_factory=dict, repr=False)

    def place(self, identifier: str) -> int:
        """Place of a node; -1 if it is not on this board."""
        return self._places.get(identifier, -1)

    def rank_of(self, place: int) -> NDArray[np.int64]:
        """Ranks by any node, in the order of `models`; equal values share the best, 0 where there is no value."""
        return _ranked(self.values[:, place])

    def toggled(self, place: int) -> BoardState:
        """The state in which a node is open if it is not here, and the other way round."""
        names = {node.identifier for node in self.nodes if node.open} ^ {self.nodes[place].identifier}
        return self.state.changed(open=tuple(names), page=self.state.page)


_boards: Cache[tuple[SnapshotKey, str], Board] = Cache(most=24)


def board_for(snapshot: Snapshot, state: BoardState) -> Board:
    """:func:`board_of`, kept for who asks the same next."""
    plain = state.changed(open=None, page=1)
    board = _boards.get((snapshot.key, plain.query()), lambda: board_of(snapshot, plain))
    return board if state == plain else _shown(board, state)


def forget() -> None:
    """Empty the cache of this process."""
    _boards.clear()


def board_of(snapshot: Snapshot, state: BoardState) -> Board:
    """Filter, average, rank and order.

    Raises
    ------
    UserError
        If `state` names a benchmark or node that there is not.
    """
    rows = np.array(chosen_models(snapshot.models, state), dtype=np.intp)
    columns = chosen_benchmarks(snapshot, state)
    in_tree = [column for column in columns if snapshot.benchmarks[column].in_tree]
    apart = [column for column in columns if not snapshot.benchmarks[column].in_tree]
    tree = snapshot.tree.pruned(snapshot.benchmarks[column].identifier for column in in_tree)
    nodes = nodes_of(tree, [(column, snapshot.benchmarks[column]) for column in columns])
    place = {node.identifier: at for at, node in enumerate(nodes)}

    prefix = {"ceiled": ("value", "error", "low", "high"), "raw": ("raw", "raw_error", "raw_low", "raw_high")}
    of_leaf = [getattr(snapshot, name)[rows] for name in prefix[state.values]]
    shape = len(rows), len(nodes)
    values, errors, low, high = (np.full(shape, np.nan) for _ in range(4))
    states = np.full(shape, _MISSING, dtype=np.int8)
    n_scored, n_all = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)

    made = averages(tree, of_leaf[0][:, in_tree], of_leaf[1][:, in_tree], over=state.over)
    means = [place[name] for name in made.nodes]
    values[:, means], errors[:, means] = made.values, made.errors
    low[:, means], high[:, means] = made.values - _WIDE * made.errors, made.values + _WIDE * made.errors
    n_scored[:, means], n_all[:, means] = made.n_scored, made.n_all
    at = [place[snapshot.benchmarks[column].identifier] for column in columns]
    for array, found in zip((values, errors, low, high), of_leaf, strict=True):
        array[:, at] = found[:, columns]
    states[:, at] = snapshot.state[np.ix_(rows, columns)]
    n_all[:, at], n_scored[:, at] = 1, np.isfinite(values[:, at])
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if node.kind == "heading":
            below = [place[snapshot.benchmarks[column].identifier] for column in apart]
            below = [one for one in below if nodes[one].parent == number]
            n_all[:, number], n_scored[:, number] = len(below), n_scored[:, below].sum(axis=1)
        elif node.kind == "mean":
            below = [one for one in range(number + 1, len(nodes)) if nodes[one].parent == number]
            first = states[:, below[0]]
            same = (states[:, below] == first[:, None]).all(axis=1) & (first != _SCORED)
            states[:, number] = np.where(
                np.isfinite(values[:, number]), _SCORED, np.where(same, first, _MISSING)
            )

    root = next((at for at, node in enumerate(nodes) if node.kind == "mean"), None)
    absent = np.full(len(rows), np.nan)
    ranks = ranks_from_errors(*((absent, absent) if root is None else (values[:, root], errors[:, root])))
    rank, best, worst = (np.maximum(one, 0) for one in (ranks.rank, ranks.best, ranks.worst))
    letters = [_letters(one) for one in ranks.letters]
    order = _order(snapshot, state, rows, nodes, values, rank)

    with np.errstate(all="ignore"):
        ceilings = np.array([one.ceiling for one in snapshot.benchmarks])
        node_ceiling = np.full(len(nodes), np.nan)
        if state.values == "raw":
            node_ceiling[means] = averages(tree, ceilings[None, in_tree], ceilings[None, in_tree]).values[0]
        node_ceiling[at] = ceilings[columns]
    has = np.isfinite(values).any(axis=0)
    node_best, node_median = np.full(len(nodes), np.nan), np.full(len(nodes), np.nan)
    if has.any():
        node_best[has], node_median[has] = np.nanmax(values[:, has], axis=0), np.nanmedian(values[:, has], axis=0)
    board = Board(
        state=state,
        snapshot=snapshot,
        models=tuple(snapshot.models[row] for row in rows[order].tolist()),
        rows=rows[order],
        nodes=nodes,
        values=values[order],
        errors=errors[order],
        low=low[order],
        high=high[order],
        states=states[order],
        n_scored=n_scored[order],
        n_all=n_all,
        shade=_shades(values)[order],
        rank=rank[order],
        best=best[order],
        worst=worst[order],
        groups=tuple(letters[row] for row in order.tolist()),
        node_best=node_best,
        node_median=node_median,
        node_ceiling=node_ceiling,
        notes=_notes.notes(snapshot, state, rows, columns, root, values, errors, ranks.too_many_groups),
        _places=place,
    )
    for array in vars(board).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return _shown(board, state)


def _shown(board: Board, state: BoardState) -> Board:
    """The same board with what the state opens."""
    names = start_of(board.nodes) if state.open is None else frozenset(state.open)
    return replace(board, state=state, nodes=opened(board.nodes, names))


def _order(
    snapshot: Snapshot,
    state: BoardState,
    rows: NDArray[np.intp],
    nodes: tuple[BoardNode, ...],
    values: Floats,
    rank: NDArray[np.int64],
) -> NDArray[np.intp]:
    """Places of the models as they are shown: what has no value comes last, ties by name."""
    name, backwards = state.sort.removeprefix("-"), state.sort.startswith("-")
    if name == "model":
        order = np.arange(len(rows))
        return order[::-1] if backwards else order
    at = next((at for at, node in enumerate(nodes) if node.identifier == name and node.kind != "heading"), None)
    if name == "rank":
        key = np.where(rank > 0, rank, np.nan).astype(np.float64)
    elif at is not None:
        key = -values[:, at]
    elif name in snapshot.tree or name in snapshot.benchmark_index:
        key = np.where(rank > 0, rank, np.nan).astype(np.float64)
    else:
        raise UserError(f"sort: there is no benchmark or node {name[:80]!r}", remedy="sort by 'rank' or 'model'")
    return np.argsort(-key if backwards else key, kind="stable")  # NaN comes last


def _ranked(values: Floats) -> NDArray[np.int64]:
    known = np.isfinite(values)
    ranks = np.zeros(len(values), dtype=np.int64)
    ordered = np.sort(-values[known])
    ranks[known] = 1 + np.searchsorted(ordered, -values[known], side="left")
    return ranks


def _shades(values: Floats) -> NDArray[np.int8]:
    known = np.isfinite(values)
    lowest = np.min(values, axis=0, where=known, initial=np.inf)
    highest = np.max(values, axis=0, where=known, initial=-np.inf)
    with np.errstate(all="ignore"):
        share = (values - lowest) / (highest - lowest)
    share[:, highest == lowest] = 0.5
    return np.where(known, np.minimum(np.where(known, share, 0) * SHADES, SHADES - 1), -1).astype(np.int8)


def _letters(names: tuple[str, ...]) -> str:
    return ("" if all(len(name) == 1 for name in names) else " ").join(names)
