"""The leaderboard as requested: filtered, averaged, ranked and sorted, with notes; a pure function of a snapshot."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.numerics.means import ASSUMPTION, NOT_TESTED, rank_means
from brainscore_core.numerics.ranks import Ranks, group_letters
from brainscore_core.plurals import counted
from brainscore_core.populations import condition_of_all
from brainscore_core.results.board import (
    Node,
    benchmarks_below,
    covered,
    fewest_scores,
    nodes_of,
    open_at_first,
    order_of_models,
)
from brainscore_core.results.tree import Tree
from brainscore_web.accounts.models import owned_by
from brainscore_web.leaderboard import search
from brainscore_web.leaderboard.exposure import averages_of_kept, exposure_of_nodes, kept
from brainscore_web.leaderboard.filters import (
    Common,
    chosen_benchmarks,
    chosen_models,
    common_benchmarks,
    counting_benchmarks,
    reason_unranked,
    suggestion,
    without_model_filters,
)
from brainscore_web.leaderboard.models import VisionModel, Visitor
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import STATES, BenchmarkRow, ModelRow, Snapshot, SnapshotKey, clear_snapshots
from brainscore_web.leaderboard.state import FACTS, BoardState

__all__ = [
    "SHADES",
    "STATES",
    "Board",
    "BoardNode",
    "board_for",
    "board_of",
    "clear_caches",
    "counted",
    "group_texts",
    "influences_on",
    "mean_parts",
    "owned_models",
    "range_text",
    "ranking_parts",
    "why_untested",
]

SHADES = 10
"""Number of colour classes."""

_SCORED, _UNDEFINED, _MISSING, _UNDETERMINED, _LEFT_OUT, _TOO_FEW = (
    STATES.index(state) for state in ("scored", "undefined", "missing", "undetermined", "left out", "too few scores")
)
_LEAST_TELLING_FIRST = tuple(
    STATES.index(state) for state in ("outdated", "not applicable", "undefined", "undetermined", "failed")
)
"""States of benchmarks below a mean without a value; the last one that occurs is that of the mean."""
_OTHER_SORTS = ("rank", "model", *FACTS)
_NAMES = {"ceiled": ("value", "error", "low", "high"), "raw": ("raw", "raw_error", "raw_low", "raw_high")}
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class BoardNode(Node):
    """A column of the site's leaderboard; `n_benchmarks` are those that pass the filters."""

    column: int  # column of a benchmark in the snapshot; otherwise -1
    open: bool = False  # whether its children are shown, if the node itself is
    shown: bool = True  # whether all nodes above are open
    # whether it is a column of the table: by default, if a model of the board has a score at or below it
    listed: bool = True
    # whether the mean has no column of its own while it is open, since no model of the board has a value, or since
    # it is the mean of one mean alone
    bare: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Board:
    """What the leaderboard shows; its arrays are read-only."""

    state: BoardState  # the requested state: filters, sorting, open nodes
    snapshot: Snapshot  # the data that the board shows
    models: tuple[ModelRow, ...]  # models that pass the filters, in the order shown
    rows: NDArray[np.intp]  # their rows in the snapshot
    nodes: tuple[BoardNode, ...]  # the filtered tree depth first, then headings with the benchmarks outside the tree
    # values, errors, low, high: scores of benchmarks and their means, with standard errors and confidence limits; NaN
    # if not available. Errors and limits (95 %) of a mean of several scores are computed from the influences of the
    # units that the scores share, if these are stored of all of them
    values: Floats
    errors: Floats
    low: Floats
    high: Floats
    # indices into :data:`STATES`. A mean is scored if it has a value; otherwise it has the first of the states failed,
    # undetermined, undefined, not applicable and outdated that a benchmark below has, or is missing if all are. A mean
    # of fewer scores than the coverage of the state requires has no value and too few scores. Headings are missing
    states: NDArray[np.int8]
    # n_scored, n_all: number of benchmarks at or below a node: scored ones, and all that pass the filters
    n_scored: Counts
    n_all: Counts
    # whether the model was trained on the stimuli: indices into `exposure.EXPOSURES`, -1 without a score. For a mean,
    # the most exposed of its scores
    exposure: NDArray[np.int8]
    # whether a score was computed by a remote worker and is in doubt: indices into `exposure.VERIFICATIONS`. For a
    # mean, the most doubtful of its scores
    verification: NDArray[np.int8]
    # colour class: position of the value between the lowest (0) and the highest (9) of its column; -1 without a value,
    # 5 if all values are equal
    shade: NDArray[np.int8]
    # values that ranks at a node are by: means over the benchmarks that count in ranks; NaN for models below the
    # coverage of the state (:mod:`~brainscore_web.leaderboard.filters`)
    ranked_by: Floats
    # rank, best, worst: rank by the mean of the first root among the models of the board, whether or not filters on
    # models show them, and the limits of its range; 0 if the model has no rank, limits also if no two models were
    # tested
    rank: Counts
    best: Counts
    worst: Counts
    tested: NDArray[np.bool_]  # whether the model was tested against any other; otherwise its range contains all ranks
    unranked: tuple[str, ...]  # why a model has no rank; empty if it has one, and without a mean
    rank_nodes: tuple[BoardNode, ...]  # the nodes of the benchmarks that count in ranks; empty if all do
    not_counting: tuple[str, ...]  # identifiers of the benchmarks that do not count in ranks
    n_unlisted: int  # number of models that are not listed, since they have no score on any of the benchmarks
    # benchmarks that all listed models have, and those that the most complete models have in common
    common: tuple[Common, Common]
    # letters of the groups of models that do not differ significantly, such as ``'ab'`` or ``'c–h'``; empty without a
    # test, and for all models if there are too many groups
    groups: tuple[str, ...]
    # node_best, node_median: over the shown models that have a value
    node_best: Floats
    node_median: Floats
    # ceilings of benchmarks, on their own scale even if ceiled values are shown; NaN without a ceiling
    node_ceiling: Floats
    notes: tuple[str, ...]  # sentences that explain what is shown
    # the same board with all models, among which these are ranked; None if no filter leaves a model out
    unfiltered: Board | None
    places: dict[str, int]

    def __repr__(self) -> str:
        return f"<Board {self.state.query()!r}: {len(self.models)} × {len(self.nodes)} of {self.snapshot!r}>"

    @property
    def root(self) -> int:
        """Index of the mean that models are ranked by; -1 if there is no mean."""
        return 0 if self.nodes and self.nodes[0].kind == "mean" else -1

    @property
    def n_benchmarks(self) -> int:
        """Number of benchmarks, listed or not."""
        return sum(node.kind == "benchmark" for node in self.nodes)

    @property
    def n_listed(self) -> int:
        """Number of benchmarks that are columns of the table."""
        return sum(node.kind == "benchmark" and node.listed for node in self.nodes)

    def place(self, identifier: str) -> int:
        """Return the index of a node; -1 if it is not on this board."""
        return self.places.get(identifier, -1)

    def row_of(self, identifier: str) -> int:
        """Return the index of a model; -1 if it is not on this board."""
        return next((row for row, model in enumerate(self.models) if model.identifier == identifier), -1)

    def numbers(self, row: int, place: int) -> tuple[float, float, float, float]:
        """Return the value of a model at a node, its standard error, and the limits of its interval."""
        at = row, place
        return float(self.values[at]), float(self.errors[at]), float(self.low[at]), float(self.high[at])

    def condition(self, place: int) -> str:
        """Return for which few subjects or groups alone values, differences and ranks at a node hold; empty if none."""
        node, benchmarks = self.nodes[place], self.snapshot.benchmarks
        columns = [node.column] if node.kind == "benchmark" else mean_parts(self.nodes, place)[0].tolist()
        return condition_of_all(benchmarks[column].condition for column in columns)

    def rank_of(self, place: int) -> tuple[Counts, int]:
        """Return the ranks by a node, in the order of `models`, and the number of ranked models of the board.

        Equal values share a rank; models without one have 0.
        """
        values = self.ranked_by[:, place]
        among = (self.unfiltered or self).ranked_by[:, place]
        among = np.sort(-among[np.isfinite(among)])
        known = np.isfinite(values)
        ranks = np.zeros(len(values), dtype=np.int64)
        ranks[known] = 1 + np.searchsorted(among, -values[known], side="left")
        return ranks, len(among)

    def tested_ranks(self, place: int) -> Ranks:
        """Return ranks at a node with intervals and groups, in the order of `models`, among these models."""
        columns, weights = ranking_parts(self.nodes, self.rank_nodes, place)
        values, snapshot = self.ranked_by[:, place], self.snapshot
        return _ranks_of(
            snapshot, self.state, self.rows, columns, weights, values,
            lambda: influences_on(snapshot, self.state, self.rows, columns),
        )  # fmt: skip

    def toggled(self, place: int) -> BoardState:
        """Return the state in which this node is open if it is closed here, and closed if it is open here."""
        names = {node.identifier for node in self.nodes if node.open} ^ {self.nodes[place].identifier}
        return self.state.changed(open=tuple(names), page=self.state.page)

    def fact(self, name: str) -> Floats:
        """Return a column about models (a key of `FACTS`); NaN if it is not known."""
        if name == "scored":
            return self.n_scored[:, self.root].astype(np.float64) if self.root >= 0 else np.full(len(self.rows), np.nan)
        numbers = [getattr(model, name) for model in self.models]
        return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


_boards: Cache[tuple[SnapshotKey, BoardState], Board] = Cache(most=16)
_ranks: Cache[bytes, Ranks] = Cache(most=64)  # by content: most changes of the site leave the public scores as they are


def _ranks_of(
    snapshot: Snapshot,
    state: BoardState,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    weights: Floats,
    values: Floats,
    influences: Callable[[], Sequence[Sequence[ScoreInfluence | None]]],
) -> Ranks:
    """Return the ranks of models by a mean of benchmarks, from the cache if all scores are the same."""
    at, names = np.ix_(rows, columns), snapshot.names(columns)
    comparable = snapshot.comparable[at]
    if _own_benchmarks(state) or not comparable.any():  # no pair is tested
        return rank_means(values, [[None] * len(names) for _ in values], weights, names)
    key = hashlib.blake2b(repr((names, state.values)).encode())
    for array in (snapshot.score[at], comparable, snapshot.value[at], weights, values):
        key.update(np.ascontiguousarray(array).tobytes())
    return _ranks.get(key.digest(), lambda: rank_means(values, influences(), weights, names))


def _own_benchmarks(state: BoardState) -> bool:
    """Whether the mean of each model is over benchmarks of its own, so that no two means are tested."""
    return state.over == "scored" or bool(state.exposure)


def owned_models(visitor: Visitor, state: BoardState) -> tuple[str, ...]:
    """Return the models of a visitor if the state asks for them, otherwise nothing."""
    if not state.mine:
        return ()
    if not visitor.is_authenticated:
        raise UserError("mine: you are not logged in", remedy="log in to see your models")
    owned = VisionModel.objects.filter(owned_by(visitor)).order_by("identifier")
    return tuple(owned.values_list("identifier", flat=True))


def board_for(snapshot: Snapshot, state: BoardState, owned: Sequence[str] = ()) -> Board:
    """Return :func:`board_of` from the cache, or compute and cache it; `owned` are the models of `state.mine`."""
    content = state.content
    if state.unscored:  # the same board if there are no models without a score
        listed = board_for(snapshot, replace(state, unscored=False), owned)
        if listed.n_unlisted == 0:
            return _with_state(listed, state)
    if state.mine:
        chosen = tuple(name for name in owned if not state.models or name in state.models)
        content = replace(content, mine=False, models=chosen or ("\x00",))  # no model has this name

    if content.sort != "rank":  # another order of the same board
        ranked = _with_state(board_for(snapshot, replace(content, sort="rank")), state)
        if _sort_node(ranked) >= 0 or state.sort.removeprefix("-") in _OTHER_SORTS:
            return _sorted(ranked)

    whole = without_model_filters(snapshot.models, content)
    if whole != content and not content.common:
        return _with_state(_with_models(board_for(snapshot, whole), content), state)

    def make() -> Board:
        _boards.drop(lambda key: key[0].revision < snapshot.revision)
        return board_of(snapshot, content)

    return _with_state(_boards.get((snapshot.key, content), make), state)


_OF_CELLS = ("values", "errors", "low", "high", "states", "n_scored", "n_all", "ranked_by")
_BY_MODEL = ("rows", *_OF_CELLS, "exposure", "verification", "shade", "rank", "best", "worst", "tested")


def _with_rows(board: Board, at: NDArray[np.intp], **others: Any) -> Board:
    """Return a board with the models at these indices, in this order."""
    changes: dict[str, Any] = {name: getattr(board, name)[at] for name in _BY_MODEL} | others
    for name in ("models", "unranked", "groups"):
        whole = getattr(board, name)
        changes[name] = tuple(whole[row] for row in at.tolist())
    changed = replace(board, **changes)
    for array in vars(changed).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return changed


def _with_models(board: Board, state: BoardState) -> Board:
    """Return a board with the models that pass the filters, and their ranks among all models of the board."""
    passing = np.array(chosen_models(board.snapshot.models, state), dtype=np.intp)
    shown = np.flatnonzero(np.isin(board.rows, passing))
    if len(shown) < len(board.rows):
        best, median = _best_and_median(board.values[shown])
        board = _with_rows(
            board,
            shown,
            unfiltered=board,
            shade=_shades(board.values[shown]),
            common=_common(board.snapshot, board.rows[shown], _columns(board)),
            node_best=best,
            node_median=median,
        )
    return replace(board, notes=notes(board, state, passing), n_unlisted=len(passing) - len(shown))


def _best_and_median(values: Floats) -> tuple[Floats, Floats]:
    """Return the highest and the median value of each node; NaN for nodes without a value."""
    has = np.isfinite(values).any(axis=0)
    best, median = (np.full(values.shape[1], np.nan) for _ in range(2))
    if has.any():
        best[has], median[has] = np.nanmax(values[:, has], axis=0), np.nanmedian(values[:, has], axis=0)
    return best, median


def clear_caches() -> None:
    """Clear the cached boards and snapshots of this process."""
    _boards.clear()
    _ranks.clear()
    clear_snapshots()


def board_of(snapshot: Snapshot, state: BoardState) -> Board:
    """Filter, average, rank and sort."""
    whole = without_model_filters(snapshot.models, state)
    rows = np.array(chosen_models(snapshot.models, whole), dtype=np.intp)
    columns = np.array(chosen_benchmarks(snapshot, state), dtype=np.intp)
    passing = kept(snapshot.exposure[np.ix_(rows, columns)], state.exposure)
    if passing is not None:
        columns = columns[passing.any(axis=0)]  # a benchmark passes if one of its scores does
    shown = rows if whole == state else np.array(chosen_models(snapshot.models, state), dtype=np.intp)
    common = _common(snapshot, shown, columns)
    if state.common:
        columns = columns[(common[0] if state.common == "all" else common[1]).benchmarks]
    if not state.unscored and len(columns):
        scored = snapshot.state[np.ix_(rows, columns)] == _SCORED
        passing = kept(snapshot.exposure[np.ix_(rows, columns)], state.exposure)
        rows = rows[(scored if passing is None else scored & passing).any(axis=1)]
    arrays = _Arrays(snapshot, state, rows, columns)
    ranks = arrays.ranks()
    node_best, node_median = _best_and_median(arrays.values)
    board = Board(
        state=state,
        snapshot=snapshot,
        models=tuple(snapshot.models[row] for row in rows.tolist()),
        rows=rows,
        **{name: getattr(arrays, name) for name in _OF_CELLS},
        nodes=arrays.nodes,
        exposure=arrays.of_nodes(snapshot.exposure),
        verification=np.maximum(arrays.of_nodes(snapshot.verification), 0),
        shade=_shades(arrays.values),
        rank=np.maximum(ranks.rank, 0),
        best=np.maximum(ranks.best, 0) * ranks.tested.any(),
        worst=np.maximum(ranks.worst, 0) * ranks.tested.any(),
        tested=ranks.tested,
        unranked=tuple(arrays.reasons(ranks.rank)),
        rank_nodes=arrays.rank_nodes,
        not_counting=arrays.not_counting,
        n_unlisted=0,
        common=common,
        groups=tuple(group_texts(ranks)),
        node_best=node_best,
        node_median=node_median,
        node_ceiling=arrays.ceilings(),
        notes=(),
        unfiltered=None,
        places=arrays.place,
    )
    ordered = _with_rows(board, arrays.order(ranks.rank))
    return _sorted(_with_state(_with_models(ordered, state), state))


def _common(snapshot: Snapshot, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> tuple[Common, Common]:
    """Return what models have in common, over the benchmarks that means include; flags are of all `columns`."""
    in_tree = np.array([snapshot.benchmarks[column].in_tree for column in columns.tolist()], dtype=bool)
    if not in_tree.any():
        in_tree[:] = True
    everyone, most = common_benchmarks(snapshot.state[np.ix_(rows, columns[in_tree])])

    def on_columns(common: Common) -> Common:
        flags = np.zeros(len(columns), dtype=bool)
        flags[in_tree] = common.benchmarks
        return Common(common.n_models, flags)

    return on_columns(everyone), on_columns(most)


class _Arrays:
    """Arrays of models × nodes, before the models are sorted."""

    def __init__(
        self, snapshot: Snapshot, state: BoardState, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> None:
        self._snapshot, self._state, self._rows, self._columns = snapshot, state, rows, columns
        block = np.ix_(rows, columns)
        self.benchmarks = benchmarks = [snapshot.benchmarks[column] for column in columns.tolist()]
        tree = snapshot.tree.pruned(row.identifier for row in benchmarks if row.in_tree)
        self.nodes = board_nodes(tree, list(zip(columns.tolist(), benchmarks, strict=True)), snapshot.tree)
        self.place = {node.identifier: place for place, node in enumerate(self.nodes) if node.kind != "heading"}
        self.has_mean = bool(len(tree))

        self.at = [self.place[row.identifier] for row in benchmarks]
        arrays = [getattr(snapshot, name)[block] for name in _NAMES[state.values]]
        leaf_states = snapshot.state[block]
        leaf_states[(leaf_states == _SCORED) & ~np.isfinite(arrays[0])] = _UNDEFINED
        passing = self._passing = kept(snapshot.exposure[block], state.exposure)
        if passing is not None:
            leaf_states[~passing] = _LEFT_OUT
            arrays = [np.where(passing, array, np.nan) for array in arrays]

        shape = len(rows), len(self.nodes)
        self.values, self.errors, self.low, self.high = (np.full(shape, np.nan) for _ in range(4))
        self.states = np.full(shape, _MISSING, dtype=np.int8)
        self.n_scored, self.n_all = (np.zeros(shape, dtype=np.int64) for _ in range(2))
        self.states[:, self.at] = leaf_states
        self.n_scored[:, self.at], self.n_all[:, self.at] = leaf_states == _SCORED, leaf_states != _LEFT_OUT
        if self.has_mean:
            in_tree = [number for number, row in enumerate(benchmarks) if row.in_tree]  # in the tree's order
            self._in_tree = columns[in_tree].tolist()
            self._influences = influences_on(snapshot, state, rows, columns[in_tree])
            if passing is not None:
                passing = passing[:, in_tree]
                self._influences = [
                    [score if passes else None for score, passes in zip(*row, strict=True)]
                    for row in zip(self._influences, passing.tolist(), strict=True)
                ]
            means = averages_of_kept(
                tree,
                arrays[0][:, in_tree],
                arrays[1][:, in_tree],
                passing,
                influences=self._influences,
                over=state.over,
            )
            at = [self.place[identifier] for identifier in means.nodes]
            self.values[:, at], self.errors[:, at] = means.values, means.errors
            self.n_scored[:, at], self.n_all[:, at] = means.n_scored, means.n_all
            one = (means.n_scored == 1) & np.isfinite(means.errors)  # a mean of one score has its interval
            for array, limit, side in zip((self.low, self.high), means.limits(), arrays[2:], strict=True):
                of_one = averages_of_kept(
                    tree, side[:, in_tree], arrays[1][:, in_tree], passing, over=state.over
                ).values
                array[:, at] = np.where(one, of_one, limit)
        for array, of_leaves in zip((self.values, self.errors, self.low, self.high), arrays, strict=True):
            array[:, self.at] = of_leaves
        self._fill_means()
        self._first_mean = self.values[:, 0].copy() if self.has_mean else np.full(len(rows), np.nan)
        self._rank_by(tree, arrays)
        if state.values == "ceiled":
            self._hide(snapshot.undetermined[block])

    def _fill_means(self) -> None:
        below = children_of(self.nodes)
        for place in range(len(self.nodes) - 1, -1, -1):  # children before their parents
            node = self.nodes[place]
            if node.kind == "mean":
                value = self.values[:, place]
                states = self.states[:, below[place]]
                without = np.full(len(states), _MISSING, dtype=np.int8)
                for code in _LEAST_TELLING_FIRST:
                    without[(states == code).any(axis=1)] = code
                self.states[:, place] = np.where(np.isfinite(value), _SCORED, without)
            elif node.kind == "heading":
                self.n_scored[:, place] = self.n_scored[:, below[place]].sum(axis=1)
                self.n_all[:, place] = self.n_all[:, below[place]].sum(axis=1)

    def _rank_by(self, tree: Tree, arrays: Sequence[Floats]) -> None:
        """Set the values that ranks are by, and the nodes of the benchmarks that count in ranks."""
        state, columns = self._state, self._columns
        self.ranked_by = self.values.copy()
        self.rank_nodes: tuple[BoardNode, ...] = ()
        means = [place for place, node in enumerate(self.nodes) if node.kind == "mean"]
        counts = np.ones(len(self.benchmarks), dtype=bool)
        for root in (place for place in means if self.nodes[place].parent < 0):
            of_root = np.isin(columns, mean_parts(self.nodes, root)[0])
            ranked = covered(self.n_scored[:, root], self.n_all[:, root], state.coverage)
            states = self.states[:, np.array(self.at, dtype=np.intp)[of_root]]
            counts[of_root] = counting_benchmarks(states, ranked, state.coverage)
        self.not_counting = tuple(self.benchmarks[number].identifier for number in np.flatnonzero(~counts))
        if self.not_counting:
            counting = [number for number, row in enumerate(self.benchmarks) if row.in_tree and counts[number]]
            pairs = [(int(columns[number]), self.benchmarks[number]) for number in counting]
            rest = tree.pruned(row.identifier for _, row in pairs)
            self.rank_nodes = board_nodes(rest, pairs)
            passing = None if self._passing is None else self._passing[:, counting]
            averaged = averages_of_kept(rest, arrays[0][:, counting], arrays[1][:, counting], passing, over=state.over)
            self.ranked_by[:, means] = np.nan
            for number, identifier in enumerate(averaged.nodes):
                if (place := self.place[identifier]) in means:
                    self.ranked_by[:, place] = averaged.values[:, number]
        for place in means:
            too_few = ~covered(self.n_scored[:, place], self.n_all[:, place], state.coverage)
            for array in (self.values, self.errors, self.low, self.high, self.ranked_by):
                array[too_few, place] = np.nan
            self.states[too_few & (self.n_scored[:, place] > 0), place] = _TOO_FEW

    def reasons(self, rank: Counts) -> list[str]:
        """Return for each model why it has no rank."""
        if not self.has_mean:
            return [""] * len(rank)
        columns, coverage = mean_parts(self.nodes, 0)[0], self._state.coverage
        leaves = [place for place, node in enumerate(self.nodes) if node.column in columns]
        enough = covered(self.n_scored[:, 0], self.n_all[:, 0], coverage)

        def reason(row: int) -> str:
            if enough[row]:
                return "scored only on benchmarks that do not count in ranks yet"
            states = [STATES[code] for code in self.states[row, leaves]]
            return reason_unranked(int(self.n_scored[row, 0]), int(self.n_all[row, 0]), coverage, states)

        return ["" if place > 0 else reason(row) for row, place in enumerate(rank.tolist())]

    def _hide(self, undetermined: NDArray[np.bool_]) -> None:
        """Take away the values of scores that say nothing; means contain them as computed."""
        model, column = np.nonzero(undetermined)
        at = model, np.array(self.at, dtype=np.intp)[column]
        self.states[at] = _UNDETERMINED
        for array in (self.values, self.errors, self.low, self.high, self.ranked_by):
            array[at] = np.nan

    def of_nodes(self, of_scores: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return codes of all nodes from those of a snapshot: of a mean, the largest; -1 without a value."""
        scored = self.n_scored[:, self.at] > 0
        codes = np.where(scored, of_scores[np.ix_(self._rows, self._columns)], -1).astype(np.int8)
        leaves = {at: codes[:, number] for number, at in enumerate(self.at)}
        of_nodes = exposure_of_nodes([node.parent for node in self.nodes], leaves, len(self.values))
        of_nodes[~np.isfinite(self.values)] = -1
        return of_nodes

    def ranks(self) -> Ranks:
        if not self.has_mean:
            return rank_means(np.full(len(self.values), np.nan), [[] for _ in self.values], [], [])
        columns, weights = ranking_parts(self.nodes, self.rank_nodes, 0)
        places = [self._in_tree.index(column) for column in columns.tolist()]
        return _ranks_of(
            self._snapshot, self._state, self._rows, columns, weights, self.ranked_by[:, 0],
            lambda: [[of[place] for place in places] for of in self._influences],
        )  # fmt: skip

    def order(self, rank: Counts) -> NDArray[np.intp]:
        """Return the order of the models by rank; models without one by their scores."""
        scores = self.values[:, self.at]
        n = np.isfinite(scores).sum(axis=1)
        of_all = np.divide(np.nansum(scores, axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
        return order_of_models(
            rank, self.n_scored[:, 0] if self.has_mean else np.zeros(len(n)), self._first_mean, of_all
        )

    def ceilings(self) -> Floats:
        ceilings = np.full(len(self.nodes), np.nan)
        ceilings[self.at] = [row.ceiling for row in self.benchmarks]
        return ceilings


def _with_state(board: Board, state: BoardState) -> Board:
    """Return the same board with the columns that the state lists, and the nodes that it opens."""
    scored: list[bool] = np.any(board.n_scored, axis=0).tolist()
    valued: list[bool] = np.any(np.isfinite(board.values), axis=0).tolist()
    every = state.empty or not any(scored)  # of a board without scores, all columns are listed
    below = {place: [board.nodes[at].kind for at in children] for place, children in children_of(board.nodes).items()}
    nodes = tuple(
        replace(
            node,
            listed=every or has_score,
            bare=node.kind == "mean" and (below[place] == ["mean"] or not (every or has_value)),
        )
        for place, (node, has_score, has_value) in enumerate(zip(board.nodes, scored, valued, strict=True))
    )
    opened = open_at_first(nodes, [node.listed for node in nodes]) if state.open is None else frozenset(state.open)
    return replace(board, state=state, nodes=with_open_nodes(nodes, opened))


def _sort_node(board: Board) -> int:
    """Return the index of the node to sort by; -1 to sort by rank or model, or if the filters exclude the node."""
    name, snapshot = board.state.sort.removeprefix("-"), board.snapshot
    if name in _OTHER_SORTS:
        return -1
    if name not in snapshot.tree and name not in snapshot.benchmark_index:
        raise UserError(
            f"sort: there is no benchmark or node {name[:80]!r}",
            remedy=suggestion(name, snapshot) or "sort by 'rank' or 'model'",
        )
    return board.place(name)


def _sorted(board: Board) -> Board:
    """Return a board that is sorted by rank in the order of its state."""
    backwards, name = board.state.sort.startswith("-"), board.state.sort.removeprefix("-")
    node = _sort_node(board)
    by_name = np.argsort(board.rows, kind="stable")
    if node >= 0 or name in FACTS:
        values = (board.values[:, node] if node >= 0 else board.fact(name))[by_name]
        order = by_name[np.argsort(values if backwards else -values, kind="stable")]  # NaN comes last
    elif name == "model":
        order = by_name[::-1] if backwards else by_name
    elif board.state.sort == "-rank":  # models without a rank keep their order
        ranked = by_name[board.rank[by_name] > 0]
        order = np.concatenate(
            [ranked[np.argsort(-board.rank[ranked], kind="stable")], np.flatnonzero(board.rank <= 0)]
        )
    else:
        return board
    return _with_rows(board, order)


def _shades(values: Floats) -> NDArray[np.int8]:
    known = np.isfinite(values)
    lowest = np.min(values, axis=0, where=known, initial=np.inf)
    highest = np.max(values, axis=0, where=known, initial=-np.inf)
    with np.errstate(all="ignore"):
        span = highest / 2 - lowest / 2  # halves, since the difference may overflow
        share = np.where(span > 0, (values / 2 - lowest / 2) / span, 0.5)
    return np.where(known, np.minimum(np.where(known, share, 0) * SHADES, SHADES - 1), -1).astype(np.int8)


def group_texts(ranks: Ranks) -> list[str]:
    """Return the group letters for each model in one text; three or more in a row become a range."""
    place = {group_letters(number): number for number in range(len(ranks.groups))}
    between = "" if len(place) <= 26 else " "
    texts = []
    for names in ranks.letters:
        runs: list[list[str]] = []
        for name in names:
            if runs and place[name] == place[runs[-1][-1]] + 1:
                runs[-1].append(name)
            else:
                runs.append([name])
        texts.append(between.join(part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else run)))
    return texts


def board_nodes(
    tree: Tree, benchmarks: Sequence[tuple[int, BenchmarkRow]], whole: Tree | None = None
) -> tuple[BoardNode, ...]:
    """Return the nodes of a filtered tree depth first, then headings with the benchmarks outside it; all closed.

    A benchmark is called by its identifier. A mean over some of its benchmarks is not called like that over all.
    """
    columns = {row.identifier: column for column, row in benchmarks}
    of_all = None if whole is None else benchmarks_below(whole, whole.benchmarks)
    nodes: list[BoardNode] = []
    for node in nodes_of(tree, {row.identifier: row.control for _, row in benchmarks if not row.in_tree}):
        title = node.identifier if node.kind == "benchmark" else node.title
        if node.kind == "mean" and of_all is not None:
            title = _mean_title(title, node.n_benchmarks, of_all[node.identifier], root=node.parent < 0)
        fields = {**vars(node), "title": title}
        nodes.append(BoardNode(**fields, column=columns[node.identifier] if node.kind == "benchmark" else -1))
    return tuple(nodes)


def _mean_title(title: str, n: int, n_all: int, *, root: bool) -> str:
    """Return the title of a mean over `n` of its `n_all` benchmarks.

    Examples
    --------
    >>> _mean_title("Global Score", 213, 213, root=True), _mean_title("Global Score", 50, 213, root=True)
    ('Global Score', 'Mean of 50 benchmarks')
    >>> _mean_title("V4", 3, 20, root=False)
    'V4 (3 of 20)'
    """
    if n == n_all:
        return title
    return f"Mean of {counted(n, 'benchmark')}" if root else f"{title} ({n} of {n_all})"


def with_open_nodes(nodes: Sequence[BoardNode], names: frozenset[str]) -> tuple[BoardNode, ...]:
    """Return the same nodes, with those of these identifiers open."""
    result: list[BoardNode] = []
    for node in nodes:
        above = result[node.parent] if node.parent >= 0 else None
        shown = node.listed and (above is None or (above.shown and above.open))
        result.append(replace(node, open=node.identifier in names and node.kind != "benchmark", shown=shown))
    return tuple(result)


def children_of(nodes: Sequence[Node]) -> dict[int, list[int]]:
    """Return the indices of the children of nodes, by the index of the parent; of roots, by -1."""
    children: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(place)
    return children


def mean_parts(nodes: Sequence[BoardNode], place: int) -> tuple[NDArray[np.intp], Floats]:
    """Return the columns of the benchmarks at or below a node, and their weights in its mean over all of them."""
    below = children_of(nodes)
    columns: list[int] = []
    weights: list[float] = []
    waiting = [(place, 1.0)]
    while waiting:
        at, weight = waiting.pop()
        if nodes[at].kind == "benchmark":
            columns.append(nodes[at].column)
            weights.append(weight)
        waiting += [(child, weight / len(below[at])) for child in below.get(at, ())]
    return np.array(columns, dtype=np.intp), np.array(weights)


def ranking_parts(
    nodes: Sequence[BoardNode], rank_nodes: Sequence[BoardNode], place: int
) -> tuple[NDArray[np.intp], Floats]:
    """Return :func:`mean_parts` of a node over the benchmarks that count in ranks: all if `rank_nodes` is empty."""
    if not rank_nodes or nodes[place].kind == "benchmark":
        return mean_parts(nodes, place)
    same = [at for at, node in enumerate(rank_nodes) if node.identifier == nodes[place].identifier]
    return mean_parts(rank_nodes, same[0]) if same else (np.zeros(0, dtype=np.intp), np.zeros(0))


def influences_on(
    snapshot: Snapshot, state: BoardState, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> list[list[ScoreInfluence | None]]:
    """Return how units influence the shown scores; none are known on raw values."""
    if state.values == "raw":
        return [[None] * len(columns) for _ in rows]
    return snapshot.influences(rows, columns)


def notes(board: Board, state: BoardState, passing: NDArray[np.intp]) -> tuple[str, ...]:
    """Return all notes on a board; `passing` are the rows of the models that pass the filters, listed or not."""
    return (
        *_on_coverage(board, state, passing),
        *_on_filters(board, state, passing),
        *_on_means(board, state),
        *_on_ranks(board, state),
        *_on_day(board.snapshot, state),
    )


def _columns(board: Board) -> NDArray[np.intp]:
    """Return the columns of the benchmarks of a board in the snapshot."""
    return np.array([node.column for node in board.nodes if node.column >= 0], dtype=np.intp)


def _on_coverage(board: Board, state: BoardState, passing: NDArray[np.intp]) -> Iterator[str]:
    if n := len(chosen_models(board.snapshot.models, state.changed(states=True))) - len(passing):
        yield f"{counted(n, 'other state')} of models during training {_is(n)} not listed; a filter shows all states."
    if n := len(passing) - len(board.rows):
        yield f"{counted(n, 'model')} without a score on any of these benchmarks {_is(n)} not listed."
    if board.root < 0 or not len(board.rows):
        return
    n_all = int(board.n_all[:, 0].max(initial=0))
    fewest = fewest_scores(n_all, state.coverage)
    rule = f"scored on at least {state.coverage:g} % of the benchmarks ({fewest} of {n_all})"
    n = int((board.rank == 0).sum())
    if n == len(board.rows):
        subject = "No model" if board.unfiltered is None else "None of these models"
        yield f"{subject} was {rule}, so all are listed without a rank."
    elif n:
        yield f"{counted(n, 'model')} not {rule} {_is(n)} listed below the others, without a rank."
    if board.not_counting:
        names = ", ".join(board.not_counting[:5]) + (" and others" if len(board.not_counting) > 5 else "")
        number = counted(len(board.not_counting), "benchmark")
        yield (
            f"Ranks leave out {number} on which fewer than {state.coverage:g} % of the ranked models have a result, so "
            f"that no model rises by being scored first: {names}."
        )


def _on_filters(board: Board, state: BoardState, passing: NDArray[np.intp]) -> Iterator[str]:
    snapshot = board.snapshot
    if board.unfiltered is not None:
        yield (
            f"{len(board.rows)} of {counted(len(board.unfiltered.rows), 'model')} of this board {_is(len(board.rows))} "
            f"shown. Ranks are among all {len(board.unfiltered.rows)}; colours are by the models shown."
        )
    n, n_benchmarks = len(_columns(board)), len(snapshot.benchmarks)
    if n < n_benchmarks:
        yield (
            f"{n} of {counted(n_benchmarks, 'benchmark')} {'passes' if n == 1 else 'pass'} the filters; means, ranks "
            "and colours are computed over these."
        )
    for name, limits, text in (
        ("parameters", (state.parameters_min, state.parameters_max), "number of parameters"),
        ("size_mb", (state.size_min, state.size_max), "size"),
    ):
        unknown = sum(getattr(model, name) is None for model in snapshot.models)
        if unknown and limits != (None, None):
            yield f"{counted(unknown, 'model')} whose {text} is not known {_is(unknown)} excluded."
    if operators := [word for word in search.parse(state.q).words if word in ("and", "or", "not")]:
        yield f"“{operators[0]}” is searched as a word; write operators in capitals: AND, OR, NOT."
    if state.exposure:
        at = np.ix_(passing, np.array(chosen_benchmarks(snapshot, state), dtype=np.intp))
        left_out = kept(snapshot.exposure[at], state.exposure)
        n = 0 if left_out is None else int((~left_out & (snapshot.state[at] == _SCORED)).sum())
        yield (
            f"{counted(n, 'score')} {_is(n)} left out by the filter on training; each mean is over what is left of the "
            "model, so that means over different benchmarks are not comparable."
        )
    name = state.sort.removeprefix("-")
    if name not in _OTHER_SORTS and board.place(name) < 0:
        yield f"{name} does not pass the filters: models are sorted by rank."


def _on_means(board: Board, state: BoardState) -> Iterator[str]:
    if board.root >= 0 and state.over == "all":
        yield "In means, a benchmark without a score counts as 0, whatever the reason."
    elif board.root >= 0:
        yield (
            "Means are over the benchmarks that each model was scored on. Means over different benchmarks are not "
            "comparable, nor are ranks by them."
        )
    if state.values != "raw":
        return
    yield (
        "Raw values are not normalised by ceilings. They are correlations, accuracies and other quantities that "
        "are not comparable; means mix them."
    )
    leaves = [place for place, node in enumerate(board.nodes) if node.column >= 0]
    scored = board.snapshot.state[np.ix_(board.rows, _columns(board))] == _SCORED
    if n := int((scored & (board.states[:, leaves] == _UNDEFINED)).sum()):
        yield f"{counted(n, 'score')} without a raw value {_is(n)} shown as undefined."


def _on_ranks(board: Board, state: BoardState) -> Iterator[str]:
    n_ranked, n_tested = int((board.rank > 0).sum()), int(board.tested.sum())
    if board.root < 0 and board.nodes and len(board.rows):
        yield "These benchmarks are outside of the averages: models are not ranked by them."
    if board.root >= 0 and (condition := board.condition(board.root)):
        yield f"Intervals, differences and ranks hold for {condition}."
    if not n_ranked:
        return
    title = board.nodes[board.root].title
    if not n_tested:
        yield f"Ranks are by {title}; {why_untested(board, board.root)}."
        return
    yield (
        f"Ranks are by {title}. Models are tested in pairs on the benchmarks that both have, on the stimuli, neuroids "
        "and subjects that both scores share. The range of a rank goes from 1 + the number of models that are "
        "significantly better to the number of ranked models minus those that are significantly worse. With 95 % "
        f"confidence, none of these findings is an error. {ASSUMPTION} Pairs that share too little are not "
        "distinguished."
    )
    if n_tested < n_ranked:
        n = n_ranked - n_tested
        yield (
            f"{n} of {n_ranked} ranked models {_is(n)} not tested, since {'it shares' if n == 1 else 'they share'} too "
            f"little with each of the others: {'its range contains' if n == 1 else 'their ranges contain'} all ranks."
        )
    if not any(board.groups):
        yield "There are too many groups of ties to show their letters."


def why_untested(board: Board, place: int) -> str:
    """Return why no two models are tested at a node."""
    if np.isfinite(board.ranked_by[:, place]).sum() == 1:
        return "not tested: there is one ranked model"
    if _own_benchmarks(board.state):
        return "not tested: the mean of each model is over the scores that it has here"
    columns = mean_parts(board.nodes, place)[0]
    if board.state.values != "raw" and board.snapshot.comparable[np.ix_(board.rows, columns)].sum(axis=0).max() > 1:
        return "not tested: no two ranked models have enough in common, by which they can be compared"
    return NOT_TESTED


def range_text(best: int, worst: int) -> str:
    """Return a range of ranks as text; empty for 0, which stands for no range.

    Examples
    --------
    >>> range_text(2, 5), range_text(1, 1), range_text(0, 0)
    ('2–5', '1', '')
    """
    return "" if not best else str(best) if best == worst else f"{best}–{worst}"


def _on_day(snapshot: Snapshot, state: BoardState) -> Iterator[str]:
    if snapshot.at is not None:
        yield (
            f"As of the end of {snapshot.at} (UTC): receipts made until then, with the benchmark versions of that day. "
            "The tree, metadata and permissions are those of today."
        )


def _is(n: int) -> str:
    return "is" if n == 1 else "are"
