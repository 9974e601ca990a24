"""The leaderboard: which receipt counts, which models are ranked, their order, and which nodes are open at first.

Report, command line, website and API use these functions, so that the same results give the same order everywhere.

A model is ranked if it was scored on enough of the benchmarks. A benchmark counts in ranks once enough of the ranked
models have a result on its current version, so that no model rises by being scored first on a new benchmark. The
other models follow, those with the most scores first: means of a few scores over different benchmarks are not
comparable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.numerics.means import rank_means
from brainscore_core.numerics.ranks import Ranks
from brainscore_core.results.aggregates import LeafResult, ModelAggregates, Over, aggregate, averages
from brainscore_core.results.tree import Tree

if TYPE_CHECKING:
    from brainscore_core.receipts.receipt import Receipt

COVERAGE = 50.0
"""Percentage of the benchmarks on which a model must have been scored to be ranked by default."""

OUTSIDE = "Not in the averages"
"""Heading of the benchmarks outside the tree."""

CONTROLS = "Controls"
"""Heading of the benchmarks that check the method."""

MOST_OPEN_BENCHMARKS = 12
"""Of a board with at most this many benchmarks, all are open at first."""

MOST_BELOW_OPEN_HEADING = 6
"""Headings with at most this many benchmarks are open at first."""

Flags = NDArray[np.bool_]


def newest_of_each(receipts: Iterable[Receipt]) -> dict[tuple[str, str], Receipt]:
    """Return the newest receipt of each (model, benchmark): the one whose id, which begins with the time, is last.

    Answers to questions are no scores of a benchmark, and are left out.
    """
    newest: dict[tuple[str, str], Receipt] = {}
    for receipt in receipts:
        if receipt.answer is not None:
            continue
        pair = (receipt.model.identifier, receipt.benchmark.identifier)
        if pair not in newest or receipt.id > newest[pair].id:
            newest[pair] = receipt
    return newest


def covered(n_scored: ArrayLike, n_all: ArrayLike, percentage: float = COVERAGE) -> Flags:
    """Return whether models were scored on at least this percentage of the benchmarks, and on at least one.

    Examples
    --------
    >>> covered([0, 1, 2], 4).tolist()
    [False, False, True]
    """
    scored = np.asarray(n_scored)
    return np.asarray((scored > 0) & (100 * scored >= percentage * np.asarray(n_all)), dtype=bool)


def fewest_scores(n_all: int, percentage: float = COVERAGE) -> int:
    """Return the smallest number of scores that :func:`covered` accepts.

    Examples
    --------
    >>> fewest_scores(213, 50), fewest_scores(4, 0)
    (107, 1)
    """
    return max(1, -int(-percentage * n_all // 100))


def counting_benchmarks(with_result: Flags, ranked: Flags, percentage: float = COVERAGE) -> Flags:
    """Return which benchmarks count in ranks: those on which enough of the ranked models have a result.

    `with_result`: whether there is a result of the current version. Failed and undefined scores are results, as are
    benchmarks that are not applicable. `ranked`: the models that are ranked. If there are none, all benchmarks count.
    `percentage`: the required percentage of the ranked models.

    Examples
    --------
    >>> with_result = np.array([[True, True], [True, False], [True, False]])
    >>> counting_benchmarks(with_result, np.array([True, True, True]), 50).tolist()
    [True, False]
    """
    if not ranked.any():
        return np.ones(with_result.shape[1], dtype=bool)
    return np.asarray(100 * with_result[ranked].sum(axis=0) >= percentage * int(ranked.sum()), dtype=bool)


def order_of_models(rank: ArrayLike, n_scored: ArrayLike, mean: ArrayLike, mean_of_all: ArrayLike) -> NDArray[np.intp]:
    """Return the order in which models are listed, as indices; models that are equal in all of it keep their order.

    `rank`: rank by the first mean; 0 or less without one. Ranked models come first. `n_scored`, `mean`: number of
    scores in the first mean, and its value, by which the others are ordered, in this sequence. `mean_of_all`: mean of
    all scores, also of benchmarks outside the averages, which decides where the rest is equal.

    Examples
    --------
    >>> order_of_models([0, 2, 1, 0, 0], [3, 9, 9, 3, 4], [0.2, 0.5, 0.6, 0.3, 0.1], [np.nan] * 5).tolist()
    [2, 1, 4, 3, 0]
    """
    ranks = np.asarray(rank)
    unranked = ranks <= 0
    falling = (-np.asarray(values, dtype=np.float64) for values in (mean_of_all, mean, n_scored))
    keys = [np.where(unranked & np.isfinite(key), key, np.where(unranked, np.inf, 0.0)) for key in falling]
    return np.lexsort([*keys, np.where(unranked, np.inf, ranks)])


class Standing(NamedTuple):
    """Rank of a model, and the range of ranks that it may have; None without a rank, or if no models were tested."""

    rank: int | None
    best: int | None
    worst: int | None

    @property
    def text(self) -> str:
        """The rank with its range; a dash without a rank.

        Examples
        --------
        >>> Standing(2, 1, 3).text, Standing(1, 1, 1).text, Standing(None, None, None).text
        ('2 (1–3)', '1', '–')
        """
        if self.rank is None:
            return "–"
        between = "" if self.best is None or self.best == self.worst else f" ({self.best}–{self.worst})"
        return f"{self.rank}{between}"


@dataclass(frozen=True)
class RankedModels:
    """Models with their means and ranks."""

    models: tuple[ModelAggregates, ...]  # the best first
    standings: Mapping[str, Standing]  # model → its rank by the mean of the first root that has benchmarks
    tested: bool  # whether any two models were tested against each other


def rank_models(
    tree: Tree, results: Iterable[LeafResult], *, over: Over = "all", coverage: float = COVERAGE
) -> RankedModels:
    """Average the results of models along a tree, and rank the models by the mean of its first root.

    `tree`: benchmarks and the nodes above them. `results`: of any number of models, in any order. Models are tested
    against each other if the influence of units is known. `over`: ``'all'`` counts missing scores as 0. ``'scored'``
    leaves them out; such means are ranked and not tested. `coverage`: percentage of the benchmarks on which a model
    must have been scored to be ranked.

    Examples
    --------
    >>> from brainscore_core.results.tree import TreeNode
    >>> tree = Tree([TreeNode(identifier="IT"), TreeNode(identifier="A2026-pls", parent="IT", benchmark=True),
    ...              TreeNode(identifier="B2026-pls", parent="IT", benchmark=True)])
    >>> scores = [("few", "A2026-pls", 0.9), ("low", "A2026-pls", 0.1), ("low", "B2026-pls", 0.2)]
    >>> results = [LeafResult(model=one, benchmark=name, state="scored", score=value) for one, name, value in scores]
    >>> ranked = rank_models(tree, results, coverage=100)
    >>> [(model.model, ranked.standings[model.model].rank) for model in ranked.models]
    [('low', 1), ('few', None)]
    """
    models = aggregate(tree, results, over=over)
    root = next((name for name in (models[0] if models else ()) if not tree[name].benchmark), None)
    names = [name for name in tree.benchmarks if root in tree.ancestors(name)]
    leaves = [[model[name] for name in names] for model in models]
    shape = len(models), len(names)
    values = np.array([[leaf.value for leaf in row] for row in leaves], dtype=np.float64).reshape(shape)
    with_result = np.array([[leaf.state not in ("missing", "outdated") for leaf in row] for row in leaves], dtype=bool)
    influences = [
        [None if leaf.value is None or leaf.result is None else leaf.result.influence for leaf in row] for row in leaves
    ]
    ranks = _ranks_of_means(tree.pruned(names), values, with_result.reshape(shape), influences, over, coverage)
    order = order_of_models(
        ranks.rank,
        np.isfinite(values).sum(axis=1),
        np.array([None if root is None else model[root].value for model in models], dtype=np.float64),
        np.array([_mean_of_all(model) for model in models], dtype=np.float64),
    )
    tested = bool(ranks.tested.any())
    numbers = zip(ranks.rank.tolist(), ranks.best.tolist(), ranks.worst.tolist(), strict=True)
    standings = {
        model.model: Standing(rank, best if tested else None, worst if tested else None)
        if rank > 0
        else Standing(None, None, None)
        for model, (rank, best, worst) in zip(models, numbers, strict=True)
    }
    return RankedModels(tuple(models[row] for row in order.tolist()), standings, tested)


def _mean_of_all(model: ModelAggregates) -> float | None:
    results = [node.result for node in model.values() if node.state == "scored"]
    results += [result for result in model.outside.values() if result.state == "scored"]
    scores = [result.score for result in results if result is not None and result.undetermined is None]
    numbers = [score for score in scores if score is not None and np.isfinite(score)]
    return float(np.mean(numbers)) if numbers else None


def _ranks_of_means(
    tree: Tree,
    scores: NDArray[np.float64],
    with_result: Flags,
    influences: Sequence[Sequence[ScoreInfluence | None]],
    over: Over,
    coverage: float,
) -> Ranks:
    """Rank models by the mean of the root of a tree with one root; −1 for models that are not ranked."""
    ranked = covered(np.isfinite(scores).sum(axis=1), scores.shape[1], coverage)
    counts = counting_benchmarks(with_result, ranked, coverage)
    columns = np.flatnonzero(counts).tolist()
    names = [tree.benchmarks[column] for column in columns]
    if not names:
        return rank_means(np.full(len(scores), np.nan), [[] for _ in scores], [], [])
    counting = tree.pruned(names)
    unknown = np.full((len(scores), len(names)), np.nan)
    means = averages(counting, scores[:, columns], unknown, over=over).values[:, 0]
    weights = averages(counting, np.eye(len(names)), np.full((len(names),) * 2, np.nan)).values[:, 0]
    means[~ranked] = np.nan
    tested = [[row[column] if over == "all" else None for column in columns] for row in influences]
    return rank_means(means, tested, weights, names)


@dataclass(frozen=True)
class Node:
    """A column of the leaderboard."""

    # identifier and title of the tree's node; for a heading, both are its name
    identifier: str
    title: str
    parent: int  # index of the parent node; -1 for a root
    depth: int  # number of steps to its root
    kind: str  # ``'mean'``, ``'benchmark'`` or ``'heading'``, which has no values
    n_benchmarks: int  # number of benchmarks at and below this node


def benchmarks_below(tree: Tree, benchmarks: Iterable[str]) -> Counter[str]:
    """Return how many of these benchmarks of a tree are at or below each node."""
    return Counter(node for name in benchmarks for node in (name, *tree.ancestors(name)))


def nodes_of(tree: Tree, outside: Mapping[str, bool]) -> tuple[Node, ...]:
    """Return the nodes of a tree depth first, then headings with the benchmarks outside it.

    `outside` says of each benchmark outside the tree whether it is a control.

    Examples
    --------
    >>> [node.title for node in nodes_of(Tree([]), {"Own2026-pls": False, "Simulated2026-pls": True})]
    ['Not in the averages', 'Own2026-pls', 'Controls', 'Simulated2026-pls']
    """
    count = benchmarks_below(tree, tree.benchmarks)
    nodes: list[Node] = []
    index: dict[str, int] = {}
    for name in tree:
        node, above = tree[name], tree.ancestors(name)
        index[name] = len(nodes)
        parent = index[above[0]] if above else -1
        kind = "benchmark" if node.benchmark else "mean"
        nodes.append(Node(name, node.title or name, parent, len(above), kind, count[name]))
    for heading, control in ((OUTSIDE, False), (CONTROLS, True)):
        names = [name for name, is_control in outside.items() if is_control is control]
        if names:
            parent = len(nodes)
            nodes.append(Node(heading, heading, -1, 0, "heading", len(names)))
            nodes += [Node(name, name, parent, 1, "benchmark", 1) for name in names]
    return tuple(nodes)


def open_at_first(nodes: Sequence[Node], listed: Sequence[bool] | None = None) -> frozenset[str]:
    """Return the nodes whose children are shown at first.

    All of them for few benchmarks; otherwise means whose children are all means, headings of few benchmarks, and all
    headings if there is no mean. The nodes are depth first; `listed` says whether each is shown at all.
    """
    kinds: dict[int, list[str]] = {}
    for node, is_listed in zip(nodes, listed or [True] * len(nodes), strict=True):
        if is_listed:
            kinds.setdefault(node.parent, []).append(node.kind)
    few = sum(below.count("benchmark") for below in kinds.values()) <= MOST_OPEN_BENCHMARKS
    only_headings = "mean" not in kinds.get(-1, [])

    def opens(index: int, node: Node) -> bool:
        below = kinds.get(index, [])
        if few:
            return bool(below)
        if node.kind == "heading":
            return only_headings or len(below) <= MOST_BELOW_OPEN_HEADING
        return set(below) == {"mean"}

    return frozenset(node.identifier for index, node in enumerate(nodes) if opens(index, node))
