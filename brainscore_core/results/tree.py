"""Trees of benchmarks, which result of a model counts on each leaf, and the benchmarks of a domain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_core.receipts.receipt import BenchmarkInfo


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

    def extended(self, nodes: Iterable[TreeNode]) -> Tree:
        """Make a tree with additional nodes."""
        return Tree([*self._nodes.values(), *nodes])

    def pruned(self, benchmarks: Iterable[str]) -> Tree:
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


ResultState = Literal["scored", "undefined", "not applicable", "failed"]
"""Outcome of scoring; ``'undefined'`` is a score that is NaN."""

LeafState = Literal["scored", "undefined", "not applicable", "failed", "outdated", "missing"]
"""State of a benchmark for a model; ``'outdated'``: only other versions were scored, ``'missing'``: none was."""

LEAF_STATES: tuple[LeafState, ...] = get_args(LeafState)
"""All states; the index of a state is its code. The first four are those of results."""

_SCORED, _UNDEFINED, _NOT_APPLICABLE, _FAILED, _OUTDATED, _MISSING = range(len(LEAF_STATES))


class Counting(NamedTuple):
    """Results that count, as arrays of models × benchmarks, in the order of ``tree.benchmarks``."""

    rows: NDArray[np.intp]  # index of the result, of the newest other version if it is outdated; -1 if there is none
    states: NDArray[np.int8]  # indices in :data:`LEAF_STATES`
    # scores that count and their standard errors; NaN elsewhere
    values: NDArray[np.float64]
    errors: NDArray[np.float64]


def counting(
    tree: Tree,
    models: ArrayLike,
    benchmarks: ArrayLike,
    *,
    n_models: int,
    versions: Sequence[int | str | None] | NDArray[Any],
    states: ArrayLike,
    created: ArrayLike,
    scores: ArrayLike,
    errors: ArrayLike,
) -> Counting:
    """Choose the results that count, by the rule of :func:`aggregate`: the newest one of the tree's version.

    Takes columns with one row per result, in any order.

    - `tree`: contains the version of each benchmark that counts.
    - `models`: from 0 to `n_models` - 1.
    - `benchmarks`: indices in ``tree.benchmarks``; -1 for results of other benchmarks, which are ignored.
    - `n_models`: number of models, including those without results.
    - `versions`: versions of the benchmarks, compared as text; None or ``''`` if unknown.
    - `states`: indices of their states among the first four :data:`LEAF_STATES`.
    - `created`: times: `datetime64`, in which NaT comes first, or numbers. Of results of the same time the last row
      counts.
    - `scores`, `errors`: scores and standard errors; a score that is not finite is undefined, an error that is not
      finite is missing.

    Returns: its `values` and `errors` are arguments of :func:`averages`.

    Examples
    --------
    Two models; the first was scored twice on the first benchmark, the second on an earlier version of it.

    >>> from brainscore_core.results.aggregates import TreeNode
    >>> tree = Tree([TreeNode(identifier="IT"),
    ...              TreeNode(identifier="A2026.IT-pls", parent="IT", benchmark=True, version=2),
    ...              TreeNode(identifier="B2026.IT-rdm", parent="IT", benchmark=True, version=1)])
    >>> results = counting(tree, [0, 0, 1], [0, 0, 0], n_models=2, versions=["2", "2", "1"], states=[0, 0, 0],
    ...                  created=np.array(["2026-02-01", "2026-01-01", "2026-03-01"], dtype="datetime64[s]"),
    ...                  scores=[0.5, 0.4, 0.9], errors=[0.1, 0.1, np.nan])
    >>> results.rows.tolist()
    [[0, -1], [2, -1]]
    >>> [[LEAF_STATES[code] for code in row] for row in results.states]
    [['scored', 'missing'], ['outdated', 'missing']]
    >>> results.values.tolist()
    [[0.5, nan], [nan, nan]]
    """
    columns = {
        "models": np.asarray(models, dtype=np.intp),
        "benchmarks": np.asarray(benchmarks, dtype=np.intp),
        "versions": versions if isinstance(versions, np.ndarray) else np.asarray(versions, dtype=object),
        "states": np.asarray(states, dtype=np.intp),
        "created": np.asarray(created),
        "scores": np.asarray(scores, dtype=np.float64),
        "errors": np.asarray(errors, dtype=np.float64),
    }
    shape = n_models, len(tree.benchmarks)
    rows = np.flatnonzero(columns["benchmarks"] >= 0)
    listed = {name: column[rows] for name, column in columns.items()}
    pairs = listed["models"] * shape[1] + listed["benchmarks"]

    current = _are_current(tree, listed["benchmarks"], listed["versions"], listed["states"])
    moments = listed["created"]
    if moments.dtype.kind != "f":
        moments = moments.astype(np.int64)  # of datetime64, too
    order = np.lexsort((moments, current))
    size = shape[0] * shape[1]
    last = np.full(size, -1, dtype=np.intp)
    last[pairs[order]] = order  # of several, the last
    filled = np.flatnonzero(last >= 0)
    chosen = last[filled]

    row, state = np.full(size, -1, dtype=np.intp), np.full(size, _MISSING, dtype=np.int8)
    value, error = np.full(size, np.nan), np.full(size, np.nan)
    row[filled] = rows[chosen]
    states_chosen, scores_chosen = listed["states"][chosen], listed["scores"][chosen]
    states_chosen = np.where((states_chosen == _SCORED) & ~np.isfinite(scores_chosen), _UNDEFINED, states_chosen)
    state[filled] = np.where(current[chosen], states_chosen, _OUTDATED)
    is_scored = state[filled] == _SCORED
    value[filled[is_scored]] = scores_chosen[is_scored]
    error[filled[is_scored]] = listed["errors"][chosen][is_scored]
    error[~np.isfinite(error)] = np.nan
    return Counting(row.reshape(shape), state.reshape(shape), value.reshape(shape), error.reshape(shape))


def _are_current(
    tree: Tree, benchmarks: NDArray[Any], versions: NDArray[Any], states: NDArray[Any]
) -> NDArray[np.bool_]:
    """Whether each result is of the version that counts."""
    values = versions.tolist()
    texts: dict[str, int] = {}
    codes = {
        version: -1 if version is None or version == "" else texts.setdefault(str(version), len(texts))
        for version in set(values)
    }
    of_row = np.fromiter((codes[version] for version in values), dtype=np.int64, count=len(values))
    counted = [tree[identifier].version for identifier in tree.benchmarks]
    any_version = np.array([version is None for version in counted], dtype=bool)
    of_tree = np.array([texts.get(str(version), -2) for version in counted], dtype=np.int64)
    # a failure before the benchmark was loaded has no version and counts for any
    of_every = (of_row == -1) & ((states == _FAILED) | (states == _NOT_APPLICABLE))
    return any_version[benchmarks] | (of_row == of_tree[benchmarks]) | of_every


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
