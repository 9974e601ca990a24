"""The leaderboard of a report: means along a tree, its states, its ranks, and the order of its models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from brainscore_core.domains import domain
from brainscore_core.formatting import estimate_text
from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.results.aggregates import Aggregate, Coverage, LeafState, Over, results_of
from brainscore_core.results.board import (
    Node,
    Standing,
    benchmarks_below,
    covered,
    fewest_scores,
    newest_of_each,
    nodes_of,
    open_at_first,
    rank_models,
)
from brainscore_core.results.tree import BenchmarkTable, Tree
from brainscore_core.scoring import Receipt

PairState = LeafState | Literal["undetermined"]
"""What a pair is: as in aggregates, and a score relative to a ceiling that may be 0."""
OVERS: tuple[Over, ...] = ("all", "scored")
NOT_AVERAGED = "not averaged"


@dataclass(frozen=True)
class ReportNode(Node):
    """A column of a report's leaderboard, which has only benchmarks with a receipt."""

    root: int  # index of its root among the nodes
    # how many benchmarks the tree has here and below, and how many of them have a receipt
    n_all: int
    n_shown: int
    # whether it is in the tree; benchmarks of other plugins are shown below their parents, and enter no mean
    averaged: bool


class Mean(NamedTuple):
    """Mean of one model at one node, with its 95 % interval."""

    value: float | None
    error: float | None
    error_reason: str | None
    coverage: Coverage
    ci: tuple[float, float] | None

    @property
    def text(self) -> str:
        """The mean and its interval."""
        return estimate_text(self.value, ci=self.ci, brief=True)


@dataclass(frozen=True)
class Board:
    """What the leaderboard shows."""

    models: tuple[str, ...]  # the best first, by the mean over `over`
    orders: Mapping[Over, tuple[str, ...]]  # ``'all'`` or ``'scored'`` → the models in the order of this mean
    nodes: tuple[ReportNode, ...]  # depth first; only those with a receipt below
    # ``'all'`` or ``'scored'`` → model → index of the node → Mean
    means: Mapping[Over, Mapping[str, Mapping[int, Mean]]]
    states: Mapping[tuple[str, str], PairState]  # (model, benchmark) → state; pairs without any receipt are left out
    receipts: Mapping[tuple[str, str], Receipt]  # (model, benchmark) → the receipt that counts
    over: Over  # which of the two means the order is by
    start: tuple[int, ...]  # nodes whose children are shown at first
    # ``'all'`` or ``'scored'`` → model → rank by the mean of the first root; empty without a ranked model
    ranks: Mapping[Over, Mapping[str, Standing]]
    tested: bool  # whether any two models were tested against each other

    def rank(self, model: int, over: Over) -> str:
        """Rank of a model with its range; a dash without a rank."""
        return self.ranks[over][self.models[model]].text

    @property
    def benchmarks(self) -> tuple[int, ...]:
        """Indices of the benchmarks among the nodes."""
        return tuple(index for index, node in enumerate(self.nodes) if node.kind == "benchmark")

    @property
    def first_columns(self) -> tuple[int, ...]:
        """Indices of the nodes that are shown at first."""
        shown: set[int] = set()
        for index, node in enumerate(self.nodes):
            if node.parent < 0 or (node.parent in shown and node.parent in self.start):
                shown.add(index)
        return tuple(sorted(shown))


def coverage_text(coverage: Coverage) -> str:
    """How many benchmarks were scored, and what became of the others.

    Examples
    --------
    >>> coverage_text(Coverage(n_all=12, n_scored=5, n_failed=1, n_missing=6))
    '5 of 12 scored; 1 failed, 6 missing'
    """
    unscored = coverage.unscored_text
    return f"{coverage.n_scored} of {coverage.n_all} scored" + (f"; {unscored}" if unscored else "")


def board_of(
    receipts: Sequence[Receipt],
    tree: Tree,
    *,
    over: Over = "all",
    influences: Mapping[str, ScoreInfluence] | None = None,
    table: BenchmarkTable | None = None,
) -> Board:
    """Average receipts along a tree and arrange the models, the best first.

    `table`: benchmarks of the domain, by default of vision.
    """
    by_id = {receipt.id: receipt for receipt in receipts}
    counting = newest_of_each(receipts)
    states: dict[tuple[str, str], PairState] = {pair: _state(receipt) for pair, receipt in counting.items()}
    nodes = _nodes(tree, counting.values(), table or domain().table)
    results = results_of(receipts, influences=influences)
    means: dict[Over, dict[str, dict[int, Mean]]] = {}
    orders: dict[Over, tuple[str, ...]] = {}
    ranks: dict[Over, Mapping[str, Standing]] = {}
    tested = False
    for each in OVERS:
        ranked = rank_models(tree, results, over=each)  # large: one at a time
        orders[each], ranks[each] = tuple(model.model for model in ranked.models), ranked.standings
        tested |= ranked.tested
        means[each] = {
            model.model: {at: _mean(model[node.identifier]) for at, node in enumerate(nodes) if node.kind == "mean"}
            for model in ranked.models
        }
        for model in ranked.models:
            for name, node in model.items():
                if node.state is not None and node.state != "missing" and node.result is not None:
                    states[model.model, name] = node.state
                    counting[model.model, name] = by_id[str(node.result.receipt)]
        del ranked
    for pair, receipt in counting.items():
        if states[pair] == "scored" and receipt.undetermined:
            states[pair] = "undetermined"
    opened = open_at_first(nodes)
    return Board(
        models=orders[over],
        orders=orders,
        nodes=nodes,
        means=means,
        states=states,
        receipts=counting,
        over=over,
        start=tuple(index for index, node in enumerate(nodes) if node.identifier in opened),
        ranks=ranks if any(standing.rank for standing in ranks["all"].values()) else {},
        tested=tested,
    )


def _nodes(tree: Tree, receipts: Iterable[Receipt], table: BenchmarkTable) -> tuple[ReportNode, ...]:
    """Nodes with a receipt below; benchmarks of other plugins below their parents, which their means leave out."""
    benchmarks = [receipt.benchmark for receipt in sorted(receipts, key=_id)]
    controls = {benchmark.identifier: benchmark.control for benchmark in benchmarks}
    unlisted = table.own_benchmarks(tree, benchmarks)
    shown = tree.extended(replace(node, title=f"{node.identifier} ({NOT_AVERAGED})") for node in unlisted)
    shown = shown.pruned(name for name in shown.benchmarks if name in controls)
    n_all = benchmarks_below(tree, tree.benchmarks)
    n_shown = benchmarks_below(tree, (name for name in tree.benchmarks if name in controls))
    outside = {name: control for name, control in sorted(controls.items()) if name not in shown}
    nodes: list[ReportNode] = []
    for index, node in enumerate(nodes_of(shown, outside)):
        nodes.append(
            ReportNode(
                **vars(node),
                root=index if node.parent < 0 else nodes[node.parent].root,
                n_all=n_all[node.identifier] or node.n_benchmarks,
                n_shown=n_shown[node.identifier] or node.n_benchmarks,
                averaged=node.identifier not in shown or node.identifier in tree,
            )
        )
    return tuple(nodes)


def _state(receipt: Receipt) -> LeafState:
    value = receipt.score.value if receipt.score else None
    if receipt.state == "scored" and (value is None or not math.isfinite(value)):
        return "undefined"
    return receipt.state


def _id(receipt: Receipt) -> str:
    return receipt.id


def _mean(node: Aggregate) -> Mean:
    """A mean; of too few scores, without an interval, since it says nothing about the others."""
    coverage = node.coverage
    if not covered(coverage.n_scored, coverage.n_all):
        fewest = fewest_scores(coverage.n_all)
        return Mean(node.value, None, f"of {coverage.n_scored} scores; from {fewest}", coverage, None)
    return Mean(node.value, node.error, node.error_reason, coverage, node.ci)
