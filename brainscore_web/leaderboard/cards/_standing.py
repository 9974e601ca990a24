"""Where models stand at each node of the tree, among all that a visitor sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics.ranks import RanksFromErrors, ranks_from_errors
from brainscore_web.leaderboard._cache import Cache
from brainscore_web.leaderboard.board import Board, group_texts
from brainscore_web.leaderboard.snapshot import SnapshotKey

__all__ = ["NodeRanks", "Standing", "has_ceiling", "node_ranks", "standings"]

_WIDE = 1.959963984540054  # standard errors of a difference on either side that hold 95 %


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Place of a model at one node.

    Attributes
    ----------
    rank : int
        1 is the highest value; 0: it has none. Equal values share a rank.
    among : int
        Models that have a value.
    ties : int
        Others of exactly the same value.
    alike : int or None
        Others, with those, that were not told apart: less than 1.96 standard errors of the difference away, the errors
        of both taken as independent, or without an error; None where this one has no error.
    """

    rank: int
    among: int
    ties: int
    alike: int | None

    @property
    def text(self) -> str:
        """The rank, with the sign of a tie.

        Examples
        --------
        >>> Standing(rank=2, among=9, ties=1, alike=3).text
        '2='
        """
        return f"{self.rank}{'=' if self.ties else ''}" if self.rank else ""


def standings(values: NDArray[np.float64], errors: NDArray[np.float64], model: int) -> tuple[Standing, ...]:
    """Places of one model at all nodes.

    Parameters
    ----------
    values, errors : array (models, nodes)
        NaN where there is none.
    model : int
        Row.

    Examples
    --------
    >>> values, errors = np.array([[0.5], [0.7], [0.49], [np.nan]]), np.array([[0.01], [0.01], [0.01], [np.nan]])
    >>> standings(values, errors, 0)
    (Standing(rank=2, among=3, ties=0, alike=1),)
    """
    mine, mine_error = values[model], errors[model]
    with np.errstate(invalid="ignore"):
        above, equal = values > mine, values == mine
        apart = np.abs(values - mine) >= _WIDE * np.hypot(errors, mine_error)
        alike = equal | (np.isfinite(values) & ~apart)
    columns = zip(
        np.isfinite(mine).tolist(),
        (1 + above.sum(axis=0)).tolist(),
        np.isfinite(values).sum(axis=0).tolist(),
        (equal.sum(axis=0) - 1).tolist(),
        (alike.sum(axis=0) - 1).tolist(),
        np.isfinite(mine_error).tolist(),
        strict=True,
    )
    return tuple(
        Standing(rank=rank, among=n, ties=ties, alike=close if sure else None)
        if there
        else Standing(rank=0, among=n, ties=0, alike=None)
        for there, rank, n, ties, close, sure in columns
    )


class NodeRanks(NamedTuple):
    """Ranks of all models at one node, with the letters of their groups as text."""

    ranks: RanksFromErrors
    groups: tuple[str, ...]


_ranks: Cache[tuple[SnapshotKey, str], NodeRanks] = Cache(most=64)


def node_ranks(board: Board, place: int) -> NodeRanks:
    """Ranks of all models at one node, with intervals and groups, in the order of `board.models`; kept.

    The board must be that of all models and benchmarks.
    """

    def make() -> NodeRanks:
        ranks = ranks_from_errors(board.values[:, place], board.errors[:, place])
        return NodeRanks(ranks, tuple(group_texts(ranks)))

    return _ranks.get((board.snapshot.key, board.nodes[place].identifier), make)


def has_ceiling(board: Board) -> tuple[bool, ...]:
    """Of each node, whether scores of all benchmarks here and below are relative to a ceiling, which is 1."""
    found = [True] * len(board.nodes)
    for at in range(len(board.nodes) - 1, -1, -1):
        node = board.nodes[at]
        if node.kind == "benchmark":
            found[at] = bool(np.isfinite(board.snapshot.benchmarks[node.column].ceiling))
        if node.parent >= 0 and not found[at]:
            found[node.parent] = False
    return tuple(found)
