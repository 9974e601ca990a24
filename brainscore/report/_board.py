"""The leaderboard: models and the tree of averages, and which receipt of each pair counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from brainscore_core.formatting import estimate_text
from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.numerics.ranks import Ranks
from brainscore_core.results.aggregates import Aggregate, Coverage, LeafState, Over, Tree, aggregate, results_of
from brainscore_core.results.ranking import covered, fewest_scores, ranks_of_means
from brainscore_core.scoring import Receipt

PairState = LeafState | Literal["undetermined"]
"""What a pair is: as in aggregates, and a score relative to a ceiling that may be 0."""
OVERS: tuple[Over, ...] = ("all", "scored")
OUTSIDE = "Not in the averages"
NOT_AVERAGED = "not averaged"
CONTROLS = "Controls"
_FEW = 6  # benchmarks that are shown at once below a node that has no mean

_COUNTS = {
    "n_undefined": "NaN",
    "n_not_applicable": "not applicable",
    "n_failed": "failed",
    "n_outdated": "outdated",
    "n_missing": "missing",
}


@dataclass(frozen=True)
class Node:
    """A column of the leaderboard: a mean, a benchmark, or a heading of benchmarks that have no mean.

    Attributes
    ----------
    identifier, title : str
        Of the tree's node.
    parent : int
        Place of the node above among the nodes; -1 of a root.
    depth : int
        Steps to its root.
    kind : str
        ``'mean'``, ``'benchmark'`` or ``'heading'``.
    root : int
        Place of its root.
    n_all : int
        How many benchmarks the tree has here and below.
    n_shown : int
        How many of them have a receipt.
    averaged : bool
        Whether it is in the tree; benchmarks of other plugins are shown below their parents, and enter no mean.
    """

    identifier: str
    title: str
    parent: int
    depth: int
    kind: str
    root: int
    n_all: int
    n_shown: int
    averaged: bool = True


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
    """What the leaderboard shows.

    Attributes
    ----------
    models : tuple of str
        The best first.
    nodes : tuple of Node
        Depth first; only those with a receipt below.
    means : dict
        ``'all'`` or ``'scored'`` → model → place of the node → Mean.
    states : dict
        (model, benchmark) → state; pairs without any receipt are left out.
    receipts : dict
        (model, benchmark) → the receipt that counts.
    over : str
        Which of the two means the order is by.
    start : tuple of int
        Nodes whose children are shown at first.
    ranks : dict
        ``'all'`` or ``'scored'`` → ranks by the mean of the first root, in the order of `models`; empty without a mean.
    """

    models: tuple[str, ...]
    nodes: tuple[Node, ...]
    means: Mapping[Over, Mapping[str, Mapping[int, Mean]]]
    states: Mapping[tuple[str, str], PairState]
    receipts: Mapping[tuple[str, str], Receipt]
    over: Over
    start: tuple[int, ...]
    ranks: Mapping[Over, Ranks] = field(default_factory=dict)

    @property
    def tested(self) -> bool:
        """Whether any two models were tested against each other."""
        return any(ranks.tested.any() for ranks in self.ranks.values())

    def rank(self, model: int, over: Over) -> str:
        """Rank of a model with its range; a dash without a rank."""
        ranks = self.ranks[over]
        rank, best, worst = (int(part[model]) for part in (ranks.rank, ranks.best, ranks.worst))
        if rank < 0:
            return "–"
        return f"{rank} ({best}–{worst})" if best != worst and ranks.tested.any() else str(rank)

    @property
    def benchmarks(self) -> tuple[int, ...]:
        """Places of the benchmarks among the nodes."""
        return tuple(place for place, node in enumerate(self.nodes) if node.kind == "benchmark")

    @property
    def first_columns(self) -> tuple[int, ...]:
        """Places of the nodes that are shown at first."""
        shown: set[int] = set()
        for place, node in enumerate(self.nodes):
            if node.parent < 0 or (node.parent in shown and node.parent in self.start):
                shown.add(place)
        return tuple(sorted(shown))


def newest_of_each(receipts: Iterable[Receipt]) -> dict[tuple[str, str], Receipt]:
    """The newest receipt of each (model, benchmark)."""
    newest: dict[tuple[str, str], Receipt] = {}
    for receipt in receipts:
        pair = (receipt.model.identifier, receipt.benchmark.identifier)
        if pair not in newest or receipt.id > newest[pair].id:
            newest[pair] = receipt
    return newest


def coverage_text(coverage: Coverage) -> str:
    """How many benchmarks were scored, and what became of the others.

    Examples
    --------
    >>> coverage_text(Coverage(n_all=12, n_scored=5, n_failed=1, n_missing=6))
    '5 of 12 scored; 1 failed, 6 missing'
    """
    others = ((getattr(coverage, name), text) for name, text in _COUNTS.items())
    rest = ", ".join(f"{count} {text}" for count, text in others if count)
    return f"{coverage.n_scored} of {coverage.n_all} scored" + (f"; {rest}" if rest else "")


def board_of(
    receipts: Sequence[Receipt],
    tree: Tree,
    *,
    over: Over = "all",
    influences: Mapping[str, ScoreInfluence] | None = None,
) -> Board:
    """Average receipts along a tree and arrange the models, the best first."""
    counting = newest_of_each(receipts)
    states: dict[tuple[str, str], PairState] = {pair: _state(receipt) for pair, receipt in counting.items()}
    by_model: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        by_model.setdefault(receipt.model.identifier, []).append(receipt)
    nodes = _nodes(tree, counting)
    means: dict[Over, dict[str, dict[int, Mean]]] = {each: {} for each in OVERS}
    for model, its in by_model.items():
        results = results_of(its, influences=influences)
        for each in OVERS:
            (made,) = aggregate(tree, results, over=each)
            means[each][model] = {
                place: _mean(made[node.identifier]) for place, node in enumerate(nodes) if node.kind == "mean"
            }
        when = {(receipt.benchmark.identifier, receipt.created): receipt for receipt in sorted(its, key=_id)}
        for identifier, found in made.items():
            if found.state is not None and found.state != "missing" and found.result is not None:
                states[model, identifier] = found.state
                counting[model, identifier] = when[identifier, found.result.created]
    for pair, receipt in counting.items():
        if states[pair] == "scored" and receipt.undetermined:
            states[pair] = "undetermined"
    models = sorted(by_model, key=lambda model: _rank(model, means[over][model], nodes, states, counting))
    return Board(
        models=tuple(models),
        nodes=nodes,
        means=means,
        states=states,
        receipts=counting,
        over=over,
        start=_start(nodes),
        ranks=_ranks(tree, nodes, models, states, counting, influences or {}),
    )


def _ranks(
    tree: Tree,
    nodes: Sequence[Node],
    models: Sequence[str],
    states: Mapping[tuple[str, str], PairState],
    receipts: Mapping[tuple[str, str], Receipt],
    influences: Mapping[str, ScoreInfluence],
) -> dict[Over, Ranks]:
    """Ranks by the mean of the first root; a score relative to a ceiling that may be 0 counts as computed."""
    root = next((node.identifier for node in nodes if node.kind == "mean"), None)
    if root is None:
        return {}
    names = [name for name in tree.benchmarks if root in tree.ancestors(name)]
    values = np.full((len(models), len(names)), np.nan)
    with_result = np.zeros(values.shape, dtype=bool)
    of_units: list[list[ScoreInfluence | None]] = [[None] * len(names) for _ in models]
    for row, model in enumerate(models):
        for column, name in enumerate(names):
            state = states.get((model, name), "missing")
            with_result[row, column] = state not in ("missing", "outdated")
            score = receipts[model, name].score if state in ("scored", "undetermined") else None
            if score is not None and score.value is not None:
                values[row, column] = score.value
                of_units[row][column] = influences.get(receipts[model, name].id)
    tree = tree.pruned(names)
    ranks = {over: ranks_of_means(tree, values, with_result, of_units, over=over) for over in OVERS}
    return ranks if (ranks["all"].rank > 0).any() else {}


def _nodes(tree: Tree, receipts: Mapping[tuple[str, str], Receipt]) -> tuple[Node, ...]:
    controls: dict[str, bool] = {}
    for (_, benchmark), receipt in receipts.items():
        controls[benchmark] = receipt.benchmark.control or controls.get(benchmark, False)
    own = _own_benchmarks(tree, receipts, controls)
    leading_to_own = {name for parent in own for name in (parent, *tree.ancestors(parent))}
    below: dict[str, list[int]] = {name: [0, 0] for name in tree}  # benchmarks here and below; those with a receipt
    for benchmark in tree.benchmarks:
        for name in (benchmark, *tree.ancestors(benchmark)):
            below[name][0] += 1
            below[name][1] += benchmark in controls
    nodes: list[Node] = []
    places: dict[str, int] = {}
    for name in tree:
        if not below[name][1] and name not in leading_to_own:
            continue
        of, above = tree[name], tree.ancestors(name)
        places[name] = len(nodes)
        nodes.append(
            Node(
                identifier=name,
                title=of.title or name,
                parent=places[above[0]] if above else -1,
                depth=len(above),
                kind="benchmark" if of.benchmark else "mean",
                root=places[above[-1]] if above else places[name],
                n_all=below[name][0],
                n_shown=below[name][1],
            )
        )
        for benchmark in own.get(name, ()):
            place, parent = len(nodes), places[name]
            places[benchmark] = place
            nodes.append(
                Node(
                    identifier=benchmark,
                    title=f"{benchmark} ({NOT_AVERAGED})",
                    parent=parent,
                    depth=nodes[parent].depth + 1,
                    kind="benchmark",
                    root=nodes[parent].root,
                    n_all=1,
                    n_shown=1,
                    averaged=False,
                )
            )
    outside = sorted(name for name in controls if name not in places)
    for title, wanted in ((OUTSIDE, False), (CONTROLS, True)):
        names = [name for name in outside if controls[name] is wanted]
        if not names:
            continue
        root, n = len(nodes), len(names)
        nodes.append(Node(title, title, parent=-1, depth=0, kind="heading", root=root, n_all=n, n_shown=n))
        nodes += [
            Node(name, name, parent=root, depth=1, kind="benchmark", root=root, n_all=1, n_shown=1) for name in names
        ]
    return tuple(nodes)


def _own_benchmarks(
    tree: Tree, receipts: Mapping[tuple[str, str], Receipt], controls: Mapping[str, bool]
) -> dict[str, list[str]]:
    """Mean of the tree → benchmarks that name it as their parent and are not in the tree."""
    from brainscore_vision.catalogue.leaderboard import node_name

    parents = {receipt.benchmark.identifier: node_name(receipt.benchmark.parent) for receipt in receipts.values()}
    own: dict[str, list[str]] = {}
    for benchmark in sorted(parents):
        parent = parents[benchmark]
        known = parent is not None and parent in tree and not tree[parent].benchmark
        if known and parent is not None and benchmark not in tree and not controls[benchmark]:
            own.setdefault(parent, []).append(benchmark)
    return own


def _start(nodes: Sequence[Node]) -> tuple[int, ...]:
    """Nodes that hold several means and no benchmark, headings of a few benchmarks, and what leads to own ones."""
    kinds: dict[int, list[str]] = {}
    for node in nodes:
        if node.averaged:
            kinds.setdefault(node.parent, []).append(node.kind)
    leading: set[int] = set()
    for node in nodes:
        if not node.averaged and len(kinds.get(node.parent, ())) <= _FEW:
            above = node.parent
            while above >= 0:
                leading.add(above)
                above = nodes[above].parent

    def shows(place: int, node: Node) -> bool:
        if place in leading:
            return True
        if node.kind == "heading":
            return node.n_all <= _FEW
        below = kinds.get(place, [])
        return len(below) > 1 and set(below) == {"mean"}

    return tuple(place for place, node in enumerate(nodes) if shows(place, node))


def _mean(found: Aggregate) -> Mean:
    """A mean; of too few scores, without an interval, since it says nothing about the others."""
    coverage = found.coverage
    if not _is_covered(coverage):
        fewest = fewest_scores(coverage.n_all)
        return Mean(found.value, None, f"of {coverage.n_scored} scores; from {fewest}", coverage, None)
    return Mean(found.value, found.error, found.error_reason, coverage, found.ci)


def _is_covered(coverage: Coverage) -> bool:
    return bool(covered(np.array([coverage.n_scored]), coverage.n_all)[0])


def _state(receipt: Receipt) -> LeafState:
    value = receipt.score.value if receipt.score else None
    if receipt.state == "scored" and (value is None or not math.isfinite(value)):
        return "undefined"
    return receipt.state


def _id(receipt: Receipt) -> str:
    return receipt.id


def _rank(
    model: str,
    means: Mapping[int, Mean],
    nodes: Sequence[Node],
    states: Mapping[tuple[str, str], PairState],
    receipts: Mapping[tuple[str, str], Receipt],
) -> tuple[bool, float, float, str]:
    """By the mean of the first root, those of too few scores last; without one, by that of all scores."""
    mean = next((means[place] for place, node in enumerate(nodes) if node.kind == "mean"), None)
    first = None if mean is None else mean.value
    scores = [
        receipts[model, node.identifier].score.value or 0.0  # type: ignore[union-attr] # only scored ones are asked
        for node in nodes
        if states.get((model, node.identifier)) == "scored"
    ]
    of_all = sum(scores) / len(scores) if scores else -math.inf
    few = mean is not None and not _is_covered(mean.coverage)
    return (few, math.inf if first is None else -first, -of_all, model)
