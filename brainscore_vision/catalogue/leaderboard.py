"""The tree of vision benchmarks along which the leaderboard averages."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.results.tree import Tree, TreeNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainscore_core.scoring import BenchmarkInfo


class ListedBenchmark(NamedTuple):
    """Properties of a benchmark of this package, known without making it."""

    version: int | str
    parent: str | None = None  # node of the tree that it counts in; None if it counts in no average
    control: bool = False  # whether it is a control, which checks the method


def leaderboard_tree(further: Iterable[BenchmarkInfo] = ()) -> Tree:
    """Make the tree of the benchmarks that come with this package.

    ``average_vision`` holds ``neural_vision`` (V1, V2, V4, IT) and ``behavior_vision``; ``engineering_vision`` is
    separate. The benchmarks are those of this package that name a parent and are not controls, each with its version;
    the nodes above them are in a table, ``leaderboard_tree.json``, since no benchmark defines them. No plugin is
    imported.

    Parameters
    ----------
    further : iterable of BenchmarkInfo
        Benchmarks of other plugins to put below their parents.

    Returns
    -------
    Tree
        A new tree.

    Raises
    ------
    UserError
        If one of `further` is a control, has no parent in the tree, or is already in the tree.

    Examples
    --------
    >>> tree = leaderboard_tree()
    >>> tree.roots, tree.children("average_vision")
    (('average_vision', 'engineering_vision'), ('neural_vision', 'behavior_vision'))
    >>> tree.ancestors("MajajHong2015.IT-pls"), tree["MajajHong2015.IT-pls"].version
    (('IT', 'neural_vision', 'average_vision'), 4)
    """
    table = _table()
    nodes = [TreeNode(**node) for node in table["nodes"]]
    nodes += [
        TreeNode(identifier=identifier, parent=parent, benchmark=True, version=version)
        for parent, benchmarks in table["benchmarks"].items()
        for identifier, version in benchmarks.items()
    ]
    tree = Tree(nodes)
    return tree.extended(_tree_node(tree, benchmark) for benchmark in further)


def own_benchmarks(tree: Tree, benchmarks: Iterable[BenchmarkInfo]) -> tuple[TreeNode, ...]:
    """Return nodes for the benchmarks that name a parent in a tree without being in it; controls are left out.

    `tree`: such as :func:`leaderboard_tree`. `benchmarks`: as receipts describe them; of several descriptions the last
    one counts.
    """
    newest = {benchmark.identifier: benchmark for benchmark in benchmarks}
    return tuple(
        _tree_node(tree, benchmark)
        for name, benchmark in sorted(newest.items())
        if name not in tree and not benchmark.control and _has_parent(tree, benchmark)
    )


def node_name(parent: str | None) -> str | None:
    """Current name of the node that a benchmark gives as its parent: some nodes had another name.

    Examples
    --------
    >>> node_name("behavior"), node_name("IT"), node_name(None)
    ('behavior_vision', 'IT', None)
    """
    return None if parent is None else _table()["earlier_names"].get(parent, parent)


def listed_benchmark(identifier: str) -> ListedBenchmark | None:
    """Look up version, parent and kind of a benchmark of this package; None for others. No plugin is imported.

    Examples
    --------
    >>> listed_benchmark("MajajHong2015.IT-pls")
    ListedBenchmark(version=4, parent='IT', control=False)
    >>> listed_benchmark("Simulated2026.V1-pls").control
    True
    """
    return _listed_benchmarks().get(identifier)


@lru_cache(maxsize=1)
def _listed_benchmarks() -> dict[str, ListedBenchmark]:
    table = _table()
    listed = {identifier: ListedBenchmark(**fields) for identifier, fields in table["apart"].items()}
    for parent, benchmarks in table["benchmarks"].items():
        listed |= {identifier: ListedBenchmark(version, parent) for identifier, version in benchmarks.items()}
    return listed


def _tree_node(tree: Tree, benchmark: BenchmarkInfo) -> TreeNode:
    if benchmark.control:
        raise UserError(
            f"{benchmark.identifier!r} is a control, and controls count in no average", remedy="leave it out"
        )
    if not _has_parent(tree, benchmark):
        raise UserError(
            f"{benchmark.identifier!r} has the parent {benchmark.parent!r}, which is not a node of the leaderboard",
            remedy="the benchmark's parent must be one of: "
            + ", ".join(name for name in tree if not tree[name].benchmark),
        )
    parent = node_name(benchmark.parent)
    return TreeNode(identifier=benchmark.identifier, parent=parent, benchmark=True, version=benchmark.version)


def _has_parent(tree: Tree, benchmark: BenchmarkInfo) -> bool:
    parent = node_name(benchmark.parent)
    return parent is not None and parent in tree and not tree[parent].benchmark


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    text = resources.files(__package__).joinpath("leaderboard_tree.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table
