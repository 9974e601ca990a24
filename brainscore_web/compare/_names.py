"""From the names that were asked for to what the visitor may see."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_web.compare._texts import signed
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.snapshot import STATES, Snapshot

__all__ = ["Column", "column", "group_of", "model_row", "node_names", "pick"]

_SCORED = STATES.index("scored")


@dataclass(frozen=True, eq=False)
class Column:
    """Values of the board's models on one benchmark, or their means.

    Attributes
    ----------
    identifier, title : str
        Of the benchmark or node.
    is_mean : bool
        Whether it is a mean.
    values, errors, low, high : array (models,)
        NaN where there is none.
    states : array (models,) of int8
        Places in `STATES`.
    incomplete : array (models,) of bool
        Whether a mean is over benchmarks of which some have no score.
    """

    identifier: str
    title: str
    is_mean: bool
    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    states: NDArray[np.int8]
    incomplete: NDArray[np.bool_]

    def said(self, place: int) -> str:
        """The value of a model with its standard error, or why there is none."""
        if not np.isfinite(self.values[place]):
            return STATES[self.states[place]] if self.states[place] != _SCORED else "no raw score"
        error = float(self.errors[place])
        return signed(float(self.values[place])) + (f" ± {error:.3f}" if np.isfinite(error) else "")


def node_names(snapshot: Snapshot) -> dict[str, str]:
    """Identifiers and titles of all benchmarks and means."""
    names = {name: snapshot.tree[name].title or name for name in snapshot.tree}
    return {**names, **{one.identifier: one.title for one in snapshot.benchmarks}}


def pick(asked: str, names: Mapping[str, str], what: str) -> str:
    """The identifier that is meant, by identifier or title, in whichever case.

    Raises
    ------
    UnknownIdentifier
        With the names that are nearest.

    Examples
    --------
    >>> pick("Resnet50", {"resnet50": "ResNet-50", "vit": "ViT"}, "model")
    'resnet50'
    """
    if asked in names:
        return asked
    folded = asked.casefold()
    same = [name for name, title in names.items() if folded in (name.casefold(), title.casefold())]
    if len(same) == 1:
        return same[0]
    near = {name.casefold(): name for name in names}
    found = [near[name] for name in difflib.get_close_matches(folded, near, 3, 0.5)]
    found += [name for name in names if folded in name.casefold() and name not in found][: 5 - len(found)]
    remedy = f"did you mean {' or '.join(map(repr, found))}?" if found else f"choose a {what} from the list"
    raise UnknownIdentifier(f"there is no {what} {asked!r}", remedy=remedy)


def column(board: Board, identifier: str) -> Column:
    """Values on a benchmark, also one that the filters leave out, or a mean over those that they leave.

    Raises
    ------
    UserError
        If nothing below a mean is left by the filters.
    """
    place = board.place(identifier)
    if place >= 0 and board.nodes[place].kind != "heading":
        node = board.nodes[place]
        return Column(
            identifier,
            node.title,
            node.kind == "mean",
            board.values[:, place],
            board.errors[:, place],
            board.low[:, place],
            board.high[:, place],
            board.states[:, place],
            board.n_scored[:, place] < board.n_all[:, place],
        )
    snapshot = board.snapshot
    at = snapshot.benchmark_index.get(identifier)
    if at is None:
        raise UserError(
            f"the filters leave no benchmark of {identifier!r}", remedy="choose something else, or remove filters"
        )
    names = {"ceiled": ("value", "error", "low", "high"), "raw": ("raw", "raw_error", "raw_low", "raw_high")}
    values, errors, low, high = (getattr(snapshot, name)[board.rows, at] for name in names[board.state.values])
    return Column(
        identifier,
        snapshot.benchmarks[at].title,
        False,
        values,
        errors,
        low,
        high,
        snapshot.state[board.rows, at],
        np.zeros(len(board.rows), dtype=bool),
    )


def model_row(snapshot: Snapshot, asked: str) -> int:
    """Row of the model that is meant."""
    names = {model.identifier: model.title for model in snapshot.models}
    return snapshot.model_index[pick(asked, names, "model")]


def group_of(board: Board, place: int) -> str:
    """What a benchmark stands under: its region, else the mean that is one step below the root."""
    node = board.nodes[place]
    region = board.snapshot.benchmarks[node.column].region if node.column >= 0 else ""
    if region:
        return region
    above: Sequence[str] = ()
    while node.parent >= 0:
        node = board.nodes[node.parent]
        above = (*above, node.title)
    return above[-2] if len(above) > 1 else above[0] if above else node.title
