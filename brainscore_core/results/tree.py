"""The tree along which results are averaged; benchmarks are its leaves."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from brainscore_core.errors import UserError


class TreeError(UserError, ValueError):
    """Nodes that do not form a tree: duplicates, an unknown parent, a cycle, a node below a benchmark."""


@dataclass(frozen=True, kw_only=True)
class TreeNode:
    """A benchmark, or a node with benchmarks below it."""

    identifier: str  # unique in the tree
    parent: str | None = None  # identifier of the node above; None for a root
    benchmark: bool = False  # Whether it is a benchmark, a leaf. Other nodes have a mean instead of results.
    version: int | str | None = None  # the version of the benchmark that counts; None if any version counts
    order: int = 999  # siblings are ordered by this number, then by identifier
    title: str | None = None  # title to show instead of the identifier


class Tree:
    """Nodes below one or several roots, in a fixed order.

    Parameters
    ----------
    nodes : iterable of TreeNode
        In any order.

    Raises
    ------
    TreeError
        If a node occurs twice, a parent is unknown or a benchmark, or parents form a cycle.

    Examples
    --------
    >>> tree = Tree([TreeNode(identifier="IT", parent="neural"), TreeNode(identifier="neural"),
    ...              TreeNode(identifier="Some2026.IT-pls", parent="IT", benchmark=True, version=1)])
    >>> list(tree), tree.roots, tree.benchmarks
    (['neural', 'IT', 'Some2026.IT-pls'], ('neural',), ('Some2026.IT-pls',))
    >>> Tree([TreeNode(identifier="IT", parent="neural")])
    Traceback (most recent call last):
        ...
    brainscore_core.results.tree.TreeError: the parent 'neural' of 'IT' is not in the tree
    add it, or correct the parent
    """

    def __init__(self, nodes: Iterable[TreeNode]) -> None:
        self._nodes: dict[str, TreeNode] = {}
        for node in nodes:
            if node.identifier in self._nodes:
                raise TreeError(f"{node.identifier!r} is in the tree twice", remedy="remove one of the two")
            self._nodes[node.identifier] = node
        self._require_parents()
        self._require_no_cycle()
        below: dict[str | None, list[TreeNode]] = {}
        for node in sorted(self._nodes.values(), key=lambda node: (node.order, node.identifier)):
            below.setdefault(node.parent, []).append(node)
        self._children = {parent: tuple(node.identifier for node in nodes) for parent, nodes in below.items()}
        self._order = tuple(self._walk())

    def __iter__(self) -> Iterator[str]:
        """Iterate over all identifiers, depth first, each before those below it."""
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._nodes

    def __getitem__(self, identifier: str) -> TreeNode:
        try:
            return self._nodes[identifier]
        except KeyError:
            raise TreeError(f"{identifier!r} is not in the tree") from None

    @property
    def roots(self) -> tuple[str, ...]:
        """Identifiers of the nodes without a parent, in order."""
        return self._children.get(None, ())

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Identifiers of the leaves, in order."""
        return tuple(identifier for identifier in self._order if self._nodes[identifier].benchmark)

    def children(self, identifier: str) -> tuple[str, ...]:
        """Identifiers directly below a node, in order."""
        return self._children.get(self[identifier].identifier, ())

    def ancestors(self, identifier: str) -> tuple[str, ...]:
        """Identifiers above a node, from its parent to the root."""
        above = []
        parent = self[identifier].parent
        while parent is not None:
            above.append(parent)
            parent = self._nodes[parent].parent
        return tuple(above)

    def extended(self, nodes: Iterable[TreeNode]) -> "Tree":
        """Make a tree with additional nodes."""
        return Tree([*self._nodes.values(), *nodes])

    def pruned(self, benchmarks: Iterable[str]) -> "Tree":
        """Make a tree of some of the benchmarks, in the same order; nodes without any of them below are left out.

        Raises TreeError if one is not in the tree, or is not a benchmark.
        """
        names: dict[str, None] = {}
        for identifier in benchmarks:
            if not self[identifier].benchmark:
                raise TreeError(f"{identifier!r} is not a benchmark of the tree", remedy="name the benchmarks below it")
            names.update(dict.fromkeys((identifier, *self.ancestors(identifier))))
        return Tree(self._nodes[identifier] for identifier in names)

    def _require_parents(self) -> None:
        for node in self._nodes.values():
            if node.parent is None:
                if node.benchmark:
                    raise TreeError(
                        f"the benchmark {node.identifier!r} has no parent", remedy="give it a parent, or leave it out"
                    )
            elif node.parent not in self._nodes:
                raise TreeError(
                    f"the parent {node.parent!r} of {node.identifier!r} is not in the tree",
                    remedy="add it, or correct the parent",
                )
            elif self._nodes[node.parent].benchmark:
                raise TreeError(
                    f"the parent {node.parent!r} of {node.identifier!r} is a benchmark, which has nothing below it",
                    remedy="correct the parent",
                )

    def _require_no_cycle(self) -> None:
        ends: set[str] = set()  # nodes whose ancestors are known to end at a root
        for start in self._nodes:
            path: dict[str, None] = {}
            at: str | None = start
            while at is not None and at not in ends:
                if at in path:
                    names = list(path)
                    cycle = " → ".join([*names[names.index(at) :], at])
                    raise TreeError(f"the parents form a cycle: {cycle}", remedy="correct one of the parents")
                path[at] = None
                at = self._nodes[at].parent
            ends.update(path)

    def _walk(self) -> Iterator[str]:
        waiting = list(reversed(self.roots))
        while waiting:
            identifier = waiting.pop()
            yield identifier
            waiting.extend(reversed(self._children.get(identifier, ())))
