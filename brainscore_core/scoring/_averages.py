"""Means of scores along a tree of benchmarks, of all models at once."""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_core.scoring._tree import Tree

__all__ = ["Averages", "Over", "averages"]

Over = Literal["all", "scored"]
"""What a mean is taken over: all children, or those that have a value."""


class Averages(NamedTuple):
    """Means of every model at every node.

    Attributes
    ----------
    nodes : tuple of str
        Identifiers of the nodes that have a benchmark below or are one, depth first.
    values : array (models, nodes)
        Score of a benchmark, mean of any other node; NaN if nothing was scored here or below.
    errors : array (models, nodes)
        Standard errors; NaN if there is no value, or a score that entered it has none.
    n_all : array (nodes,) of int
        Benchmarks here and below.
    n_scored : array (models, nodes) of int
        Those that have a score.
    """

    nodes: tuple[str, ...]
    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    n_all: NDArray[np.int64]
    n_scored: NDArray[np.int64]


def averages(tree: Tree, values: ArrayLike, errors: ArrayLike, *, over: Over = "all") -> Averages:
    """Average the scores of many models along a tree, by the rule of :func:`aggregate`.

    Parameters
    ----------
    tree : Tree
        Benchmarks and what they are gathered under.
    values : array (models, benchmarks)
        Scores, benchmarks as in ``tree.benchmarks``. What is not finite is no score, for whichever reason.
    errors : array (models, benchmarks)
        Standard errors of the scores; what is not finite is none.
    over : str
        ``'all'`` counts what has no value as 0, ``'scored'`` leaves it out.

    Returns
    -------
    Averages
        A model's row does not depend on the other rows.

    Raises
    ------
    UserError
        If `over` is neither.
    ValueError
        If `values` or `errors` have another shape.

    See Also
    --------
    counting : which results the scores are.
    Tree.pruned : the tree of some of the benchmarks.

    Notes
    -----
    The standard error of a mean is that of independent children; see :func:`aggregate`. Sums are compensated for
    rounding.

    Examples
    --------
    >>> from brainscore_core.scoring.aggregates import TreeNode
    >>> tree = Tree([TreeNode(identifier="IT"),
    ...              TreeNode(identifier="A2026.IT-pls", parent="IT", benchmark=True),
    ...              TreeNode(identifier="B2026.IT-rdm", parent="IT", benchmark=True)])
    >>> made = averages(tree, [[0.5, np.nan], [0.5, 0.25]], [[0.1, np.nan], [0.1, np.nan]])
    >>> made.nodes
    ('IT', 'A2026.IT-pls', 'B2026.IT-rdm')
    >>> made.values[:, 0].tolist(), made.errors[:, 0].tolist(), made.n_scored[:, 0].tolist()
    ([0.25, 0.375], [0.05, nan], [1, 2])
    >>> averages(tree, [[0.5, np.nan]], [[0.1, np.nan]], over="scored").values.tolist()
    [[0.5, 0.5, nan]]
    """
    if over not in get_args(Over):
        raise UserError(f"means can be taken over 'all' or 'scored', not over {over!r}")
    scores, spreads = (_checked(tree, array, name) for array, name in ((values, "values"), (errors, "errors")))
    if scores.shape != spreads.shape:
        raise ValueError(f"values are of {len(scores)} models, errors of {len(spreads)}; the same are needed")
    below, leaf = _structure(tree)
    nodes = tuple(below)
    place = {identifier: number for number, identifier in enumerate(nodes)}

    shape = len(nodes), len(scores)  # one row a node, so that a node's models lie side by side
    value, error = np.zeros(shape), np.zeros(shape)  # 0 where there is none
    unsure = np.zeros(shape, dtype=bool)  # a score that entered has no error
    n_all, n_scored = np.zeros(len(nodes), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for at, identifier in reversed(list(enumerate(nodes))):  # what is below a node comes first
        if identifier in leaf:
            score, spread = scores[:, leaf[identifier]], spreads[:, leaf[identifier]]
            known, sure = np.isfinite(score), np.isfinite(spread)
            value[at] = np.where(known, score, 0.0)
            error[at] = np.where(known & sure, spread, 0.0)
            unsure[at] = known & ~sure
            n_all[at], n_scored[at] = 1, known
            continue
        children = [place[child] for child in below[identifier]]
        scored = n_scored[children]
        n = len(children) if over == "all" else np.maximum((scored > 0).sum(axis=0), 1)
        value[at] = _sum(value[children]) / n
        error[at] = np.hypot.reduce(error[children], axis=0) / n
        unsure[at] = unsure[children].any(axis=0)
        n_all[at], n_scored[at] = n_all[children].sum(), scored.sum(axis=0)
    value[n_scored == 0] = np.nan
    error[(n_scored == 0) | unsure] = np.nan
    return Averages(nodes, value.T, error.T, n_all, n_scored.T)


def _checked(tree: Tree, array: ArrayLike, name: str) -> NDArray[np.float64]:
    checked = np.asarray(array, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[1] != len(tree.benchmarks):
        raise ValueError(
            f"{name} has the shape {checked.shape}; models × {len(tree.benchmarks)} benchmarks of the tree are needed"
        )
    return checked


def _structure(tree: Tree) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Of nodes with benchmarks below, depth first, those directly below; and the place of each benchmark."""
    leaf = {identifier: number for number, identifier in enumerate(tree.benchmarks)}
    kept: set[str] = set(leaf)
    for identifier in reversed(tuple(tree)):
        parent = tree[identifier].parent
        if identifier in kept and parent is not None:
            kept.add(parent)
    below = {identifier: [one for one in tree.children(identifier) if one in kept] for identifier in tree}
    return {identifier: children for identifier, children in below.items() if identifier in kept}, leaf


def _sum(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over rows; what rounding loses is summed apart [Neumaier 1974, doi:10.1002/zamm.19740540106]."""
    total, lost = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for row in rows:
        new = total + row
        gained = new - total
        lost += (total - (new - gained)) + (row - gained)
        total = new
    return total + lost
