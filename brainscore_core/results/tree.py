"""Trees of benchmarks, and which result of a model counts on each leaf."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    - `created`: times: `datetime64`, numbers, or other sortable values, such as ISO 8601 text in UTC, which is slower.
      NaN and NaT come first. Of results of the same time the last row counts.
    - `scores`, `errors`: scores and standard errors; a score that is not finite is undefined, an error that is not
      finite is missing.

    Returns: its `values` and `errors` are arguments of :func:`averages`. Raises ValueError if columns differ in length,
    or a model, benchmark or state is out of range.

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
        "models": _whole(models, "models"),
        "benchmarks": _whole(benchmarks, "benchmarks"),
        "versions": versions if isinstance(versions, np.ndarray) else np.asarray(versions, dtype=object),
        "states": _whole(states, "states"),
        "created": np.asarray(created),
        "scores": np.asarray(scores, dtype=np.float64),
        "errors": np.asarray(errors, dtype=np.float64),
    }
    _check(columns, n_models, len(tree.benchmarks))
    shape = n_models, len(tree.benchmarks)
    rows = np.flatnonzero(columns["benchmarks"] >= 0)
    listed = {name: column[rows] for name, column in columns.items()}
    pairs = listed["models"] * shape[1] + listed["benchmarks"]

    current = _are_current(tree, listed["benchmarks"], listed["versions"], listed["states"])
    has_current = np.zeros(shape[0] * shape[1], dtype=bool)
    has_current[pairs[current]] = True
    candidates = np.flatnonzero(current | ~has_current[pairs])
    moments = _sortable(listed["created"][candidates])
    newest = np.full(has_current.shape, moments.min(initial=0), dtype=moments.dtype)
    np.maximum.at(newest, pairs[candidates], moments)
    chosen = candidates[moments == newest[pairs[candidates]]]
    index = np.full(has_current.shape, -1, dtype=np.intp)
    index[pairs[chosen]] = chosen  # of several, the last

    filled = np.flatnonzero(index >= 0)
    at = index[filled]
    row, state = np.full(index.shape, -1, dtype=np.intp), np.full(index.shape, _MISSING, dtype=np.int8)
    row[filled] = rows[at]
    state[filled] = np.where(
        ~has_current[filled], _OUTDATED,
        np.where(
            (listed["states"][at] == _SCORED) & ~np.isfinite(listed["scores"][at]), _UNDEFINED, listed["states"][at]
        ),
    )  # fmt: skip
    value, error = np.full(index.shape, np.nan), np.full(index.shape, np.nan)
    scored = np.flatnonzero(state == _SCORED)
    value[scored], error[scored] = listed["scores"][index[scored]], listed["errors"][index[scored]]
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


def _sortable(moments: NDArray[Any]) -> NDArray[np.int64] | NDArray[np.float64]:
    if moments.dtype.kind == "M":
        return moments.astype(np.int64)  # NaT comes first
    if moments.dtype.kind in "iub":
        return moments.astype(np.int64)
    if moments.dtype.kind == "f":
        return np.where(np.isnan(moments), -np.inf, moments).astype(np.float64)
    values = moments.tolist()
    order = {moment: number for number, moment in enumerate(sorted(set(values)))}
    return np.fromiter((order[moment] for moment in values), dtype=np.int64, count=len(values))


def _whole(values: ArrayLike, name: str) -> NDArray[np.intp]:
    column = np.asarray(values)
    if column.size and column.dtype.kind not in "iu":
        raise ValueError(f"{name} has values of type {column.dtype}; they must be whole numbers")
    return column.astype(np.intp)


def _check(columns: dict[str, NDArray[Any]], n_models: int, n_benchmarks: int) -> None:
    shape = columns["models"].shape
    for name, column in columns.items():
        if column.ndim != 1 or column.shape != shape:
            raise ValueError(f"{name} has the shape {column.shape}, but models {shape}; give one value per result")
    for name, low, high in (("models", 0, n_models), ("benchmarks", -1, n_benchmarks), ("states", 0, _OUTDATED)):
        column = columns[name]
        out = column[(column < low) | (column >= high)]
        if out.size:
            raise ValueError(f"{name} has the value {out[0]}; it must be from {low} to {high - 1}")
