"""The benchmarks of a domain, known without making them, and the tree along which the leaderboard averages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from importlib import resources
from typing import Any, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.receipts.receipt import BenchmarkInfo
from brainscore_core.results.tree import Tree, TreeNode

_OF_STUDY = re.compile(r"[A-Za-z]+(19|20)\d\d(?!\d)")


class ListedBenchmark(NamedTuple):
    """Properties of a benchmark of a domain's package, known without making it."""

    version: int | str
    parent: str | None = None  # node of the tree that it counts in; None if it counts in no average
    control: bool = False  # whether it is a control, which checks the method


class BenchmarkTable:
    """Benchmarks that come with a domain's package.

    Parameters
    ----------
    package : str
        Package that contains the file.
    file : str
        JSON with ``nodes``, the fields of the :class:`~brainscore_core.results.tree.TreeNode` above benchmarks, since
        no benchmark defines them; ``benchmarks``, the versions of benchmarks by name, by parent; ``apart``, fields of
        the :class:`ListedBenchmark` of benchmarks that count in no average, by name; and ``earlier_names`` of nodes.
    short_names : dict, optional
        Other names of nodes, for selections: name → node.
    controls : dict, optional
        Groups of controls, which are not on the leaderboard: name → folder of their plugin.
    """

    def __init__(
        self,
        package: str,
        file: str = "leaderboard_tree.json",
        *,
        short_names: dict[str, str] | None = None,
        controls: dict[str, str] | None = None,
    ) -> None:
        self._package = package
        self._file = file
        self.short_names = short_names or {}
        self.controls = controls or {}

    def tree(self, further: Iterable[BenchmarkInfo] = ()) -> Tree:
        """Make the tree of the benchmarks that name a parent and are not controls, each with its version.

        Parameters
        ----------
        further : iterable of BenchmarkInfo
            Benchmarks of other plugins to put below their parents.

        Raises
        ------
        UserError
            If one of `further` is a control, has no parent in the tree, or is already in the tree.
        """
        nodes = [TreeNode(**node) for node in self._content["nodes"]]
        nodes += [
            TreeNode(identifier=identifier, parent=parent, benchmark=True, version=version)
            for parent, benchmarks in self._content["benchmarks"].items()
            for identifier, version in benchmarks.items()
        ]
        tree = Tree(nodes)
        return tree.extended(self._tree_node(tree, benchmark) for benchmark in further)

    def own_benchmarks(self, tree: Tree, benchmarks: Iterable[BenchmarkInfo]) -> tuple[TreeNode, ...]:
        """Return nodes for the benchmarks that name a parent in a tree without being in it; controls are left out.

        `benchmarks`: as receipts describe them; of several descriptions the last one counts.
        """
        newest = {benchmark.identifier: benchmark for benchmark in benchmarks}
        return tuple(
            self._tree_node(tree, benchmark)
            for name, benchmark in sorted(newest.items())
            if name not in tree and not benchmark.control and self._has_parent(tree, benchmark)
        )

    def node_name(self, parent: str | None) -> str | None:
        """Return the current name of the node that a benchmark gives as its parent: some nodes had another name."""
        return None if parent is None else self._content["earlier_names"].get(parent, parent)

    @property
    def parents(self) -> tuple[str, ...]:
        """Nodes that new benchmarks may name as their parent; those of single studies are left out."""
        names = [node["identifier"] for node in self._content["nodes"]]
        return tuple(name for name in (*names, *self._content["earlier_names"]) if not _OF_STUDY.match(name))

    def listed(self, identifier: str) -> ListedBenchmark | None:
        """Look up version, parent and kind of a benchmark of the package; None for others."""
        return self._listed.get(identifier)

    def _tree_node(self, tree: Tree, benchmark: BenchmarkInfo) -> TreeNode:
        if benchmark.control:
            raise UserError(
                f"{benchmark.identifier!r} is a control, and controls count in no average", remedy="leave it out"
            )
        if not self._has_parent(tree, benchmark):
            raise UserError(
                f"{benchmark.identifier!r} has the parent {benchmark.parent!r}, which is not a node of the leaderboard",
                remedy="the benchmark's parent must be one of: "
                + ", ".join(name for name in tree if not tree[name].benchmark),
            )
        parent = self.node_name(benchmark.parent)
        return TreeNode(identifier=benchmark.identifier, parent=parent, benchmark=True, version=benchmark.version)

    def _has_parent(self, tree: Tree, benchmark: BenchmarkInfo) -> bool:
        parent = self.node_name(benchmark.parent)
        return parent is not None and parent in tree and not tree[parent].benchmark

    @cached_property
    def _listed(self) -> dict[str, ListedBenchmark]:
        listed = {identifier: ListedBenchmark(**fields) for identifier, fields in self._content["apart"].items()}
        for parent, benchmarks in self._content["benchmarks"].items():
            listed |= {identifier: ListedBenchmark(version, parent) for identifier, version in benchmarks.items()}
        return listed

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(
            resources.files(self._package).joinpath(self._file).read_text(encoding="utf-8")
        )
        return content
