"""Headers of the leaderboard in several levels; the script in the browser lays them out in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from brainscore_web.leaderboard._nodes import BoardNode

__all__ = ["Head", "Heads", "heads_of"]


class Head(NamedTuple):
    """A header cell.

    Attributes
    ----------
    place : int
        Of the node.
    start, width : int
        The first column it spans, and how many.
    level, height : int
        The row of headers where it begins, and how many it spans.
    kind : str
        ``'group'``: of an open node; ``'mean'``: the column of an open mean; ``'closed'``: of a node that can be
        opened; ``'benchmark'``.
    """

    place: int
    start: int
    width: int
    level: int
    height: int
    kind: str


class Heads(NamedTuple):
    """Header cells by level, and the places of the columns' nodes."""

    levels: tuple[tuple[Head, ...], ...]
    columns: tuple[int, ...]


def heads_of(nodes: Sequence[BoardNode]) -> Heads:
    """Lay out headers of what is shown: an open mean is a column of its own beside those below it."""
    children: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(place)
    columns: list[int] = []
    found: list[Head] = []

    def walk(place: int, level: int) -> None:
        node, start = nodes[place], len(columns)
        if not (node.open and place in children):
            columns.append(place)
            found.append(Head(place, start, 1, level, 0, "closed" if place in children else "benchmark"))
            return
        at = len(found)
        found.append(Head(place, start, 0, level, 1, "group"))
        if node.kind == "mean":
            columns.append(place)
            found.append(Head(place, start, 1, level + 1, 0, "mean"))
        for child in children[place]:
            walk(child, level + 1)
        found[at] = found[at]._replace(width=len(columns) - start)

    for root in children.get(-1, []):
        walk(root, 0)
    n_levels = max((head.level + 1 for head in found), default=1)
    levels: list[list[Head]] = [[] for _ in range(n_levels)]
    for head in found:
        levels[head.level].append(head._replace(height=head.height or n_levels - head.level))
    return Heads(tuple(map(tuple, levels)), tuple(columns))
