"""Nodes of the benchmark tree: benchmarks and the means over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from brainscore_core.results.aggregates import Tree
from brainscore_vision.leaderboard import leaderboard_tree, listed_benchmark, node_name
from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.leaderboard.snapshot import BenchmarkRow
from brainscore_web.leaderboard.synchronization import fill_in

__all__ = [
    "CONTROLS",
    "MAX_OPEN_HEADING",
    "OUTSIDE",
    "BoardNode",
    "Placement",
    "SyncedMeans",
    "board_nodes",
    "initially_open",
    "placement",
    "sync_means",
    "with_open_nodes",
]

OUTSIDE = "Not in the averages"
CONTROLS = "Controls"
MAX_OPEN_HEADING = 6
"""Headings with at most this many benchmarks are open at first."""


class BoardNode(NamedTuple):
    """A column of the leaderboard.

    Attributes
    ----------
    identifier, title : str
        Identifier and title of the benchmark or mean; for a heading both are its text.
    parent : int
        Index of the parent node; -1 for a root.
    depth : int
        Number of steps to its root.
    kind : str
        ``'mean'``, ``'benchmark'`` or ``'heading'``, which has no values.
    n_benchmarks : int
        Number of benchmarks at and below this node that pass the filters.
    column : int
        Column of a benchmark in the snapshot; otherwise -1.
    open : bool
        Whether its children are shown, if the node itself is.
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


def board_nodes(tree: Tree, benchmarks: Sequence[tuple[int, BenchmarkRow]]) -> tuple[BoardNode, ...]:
    """Return the nodes of a filtered tree depth first, then headings with the benchmarks outside it; all closed.

    Parameters
    ----------
    tree : Tree
        The tree after filtering.
    benchmarks : sequence of (int, BenchmarkRow)
        The benchmarks after filtering, with their columns in the snapshot.
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


def initially_open(nodes: Sequence[BoardNode]) -> frozenset[str]:
    """Return the nodes that are open at first: means whose children are all means, and headings of few benchmarks."""
    kinds: dict[int, list[str]] = {}
    for node in nodes:
        kinds.setdefault(node.parent, []).append(node.kind)

    def opens(place: int, node: BoardNode) -> bool:
        if node.kind == "heading":
            return node.n_benchmarks <= MAX_OPEN_HEADING
        return set(kinds.get(place, [])) == {"mean"}

    return frozenset(node.identifier for place, node in enumerate(nodes) if opens(place, node))


def with_open_nodes(nodes: Sequence[BoardNode], names: frozenset[str]) -> tuple[BoardNode, ...]:
    """Return the same nodes, with those of these identifiers open."""
    result: list[BoardNode] = []
    for node in nodes:
        above = result[node.parent] if node.parent >= 0 else None
        shown = above is None or (above.shown and above.open)
        result.append(node._replace(open=node.identifier in names and node.kind != "benchmark", shown=shown))
    return tuple(result)


class SyncedMeans(NamedTuple):
    """The means of the tree after they were synchronised.

    Attributes
    ----------
    ids : dict of str to int
        Primary keys by identifier.
    added, changed : list of str
        Identifiers of new means, and of changed ones.
    """

    ids: dict[str, int]
    added: list[str]
    changed: list[str]


class Placement(NamedTuple):
    """Position of a benchmark in the tree, as attributes of `Benchmark`."""

    parent_id: int | None
    in_tree: bool
    control: bool
    version: str


def sync_means() -> SyncedMeans:
    """Create missing means of the leaderboard's tree and update the others.

    A benchmark with the name of a mean is not changed, and nothing can be placed below it.
    """
    tree = leaderboard_tree()
    means = [tree[name] for name in tree if not tree[name].benchmark]  # parents come first
    rows = {row.identifier: row for row in Benchmark.objects.filter(is_mean=True)}
    taken = set(
        Benchmark.objects.filter(identifier__in=[node.identifier for node in means], is_mean=False).values_list(
            "identifier", flat=True
        )
    )
    added, changed = [], []
    for node in means:
        if node.identifier in taken:
            continue
        parent = rows.get(node.parent or "")
        row = rows.get(node.identifier) or Benchmark(identifier=node.identifier, is_mean=True)
        values = {"parent_id": parent and parent.pk, "order": node.order, "title": node.title or ""}
        different = fill_in(row, values)
        if row.pk is None:
            Benchmark.objects.bulk_create([row])  # sends no signals: the caller increments the revision
            added.append(node.identifier)
            rows[node.identifier] = row
        elif different:
            Benchmark.objects.filter(pk=row.pk).update(**{name: getattr(row, name) for name in different})
            changed.append(node.identifier)
    return SyncedMeans({identifier: row.pk for identifier, row in rows.items()}, added, changed)


def placement(
    identifier: str, means: Mapping[str, int], *, parent: str | None = None, control: bool = False, version: str = ""
) -> Placement:
    """Return the position of a benchmark: from the installed package if that lists it, otherwise from its receipt.

    Parameters
    ----------
    identifier : str
        The benchmark.
    means : dict of str to int
        Primary keys of the means by identifier.
    parent, control, version
        The position according to the receipt.
    """
    known = listed_benchmark(identifier)
    if known is not None:
        parent, control, version = known.parent, known.control, str(known.version)
    place = means.get(node_name(parent) or "")
    return Placement(place, place is not None and not control, control, version)
