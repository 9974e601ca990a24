"""Columns of the leaderboard: means and benchmarks of the filtered tree, then headings of what stands apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from brainscore_core.results.aggregates import Tree
from brainscore_web.leaderboard._rows import BenchmarkRow

__all__ = ["CONTROLS", "OUTSIDE", "BoardNode", "nodes_of", "opened", "start_of"]

OUTSIDE = "Not in the averages"
CONTROLS = "Controls"
_FEW = 6  # benchmarks that are shown at once below a heading


class BoardNode(NamedTuple):
    """A column of the leaderboard.

    Attributes
    ----------
    identifier, title : str
        Of the benchmark or mean; of a heading both are its text.
    parent : int
        Place of the node above; -1 of a root.
    depth : int
        Steps to its root.
    kind : str
        ``'mean'``, ``'benchmark'`` or ``'heading'``, which has no values.
    n_benchmarks : int
        How many benchmarks there are here and below, after filters.
    column : int
        Of a benchmark: its place in the snapshot's; else -1.
    open : bool
        Whether what is directly below is shown, if this is.
    shown : bool
        Whether all nodes above are open.
    """

    identifier: str
    title: str
    parent: int
    depth: int
    kind: str
    n_benchmarks: int
    column: int
    open: bool = False
    shown: bool = True


def nodes_of(tree: Tree, benchmarks: Sequence[tuple[int, BenchmarkRow]]) -> tuple[BoardNode, ...]:
    """Nodes of a filtered tree, depth first, and of the benchmarks that stand apart; nothing is open.

    Parameters
    ----------
    tree : Tree
        Only of what is left.
    benchmarks : sequence of (int, BenchmarkRow)
        What is left, with the places in the snapshot.
    """
    rows = {row.identifier: (column, row) for column, row in benchmarks}
    count = dict.fromkeys(tree, 0)
    for name in tree.benchmarks:
        for node in (name, *tree.ancestors(name)):
            count[node] += 1
    nodes: list[BoardNode] = []
    places: dict[str, int] = {}
    for name in tree:
        above = tree.ancestors(name)
        of = tree[name]
        places[name] = len(nodes)
        nodes.append(
            BoardNode(
                identifier=name,
                title=of.title or name,
                parent=places[above[0]] if above else -1,
                depth=len(above),
                kind="benchmark" if of.benchmark else "mean",
                n_benchmarks=count[name],
                column=rows[name][0] if of.benchmark else -1,
            )
        )
    for title, control in ((OUTSIDE, False), (CONTROLS, True)):
        below = [(column, row) for column, row in benchmarks if not row.in_tree and row.control is control]
        if not below:
            continue
        root = len(nodes)
        nodes.append(BoardNode(title, title, -1, 0, "heading", len(below), -1))
        nodes += [BoardNode(row.identifier, row.title, root, 1, "benchmark", 1, column) for column, row in below]
    return tuple(nodes)


def start_of(nodes: Sequence[BoardNode]) -> frozenset[str]:
    """What is open at first: means of other means and nothing else, and headings of a few benchmarks."""
    kinds: dict[int, list[str]] = {}
    for node in nodes:
        kinds.setdefault(node.parent, []).append(node.kind)

    def opens(place: int, node: BoardNode) -> bool:
        if node.kind == "heading":
            return node.n_benchmarks <= _FEW
        return set(kinds.get(place, [])) == {"mean"}

    return frozenset(node.identifier for place, node in enumerate(nodes) if opens(place, node))


def opened(nodes: Sequence[BoardNode], names: frozenset[str]) -> tuple[BoardNode, ...]:
    """The same nodes; those with these identifiers are open."""
    made: list[BoardNode] = []
    for node in nodes:
        above = made[node.parent] if node.parent >= 0 else None
        shown = above is None or (above.shown and above.open)
        made.append(node._replace(open=node.identifier in names and node.kind != "benchmark", shown=shown))
    return tuple(made)
