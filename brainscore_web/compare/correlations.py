"""All benchmarks, or means of them, with each other across models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import CELLS_WITH_TEXT, Matrix, MatrixGroup, Svg, matrix
from brainscore_core.numerics.correlation import association_matrix
from brainscore_web.compare.question import Note, Question, benchmark_href, group_of, signed
from brainscore_web.leaderboard.board import Board, BoardNode

__all__ = ["Correlations", "Pair", "correlations"]

_PAIRS = 8


@dataclass(frozen=True)
class Pair:
    """Two nodes, their correlation, over how many models, and the query of their scatter plot."""

    first: BoardNode
    second: BoardNode
    value: float
    n: int
    query: str

    @property
    def text(self) -> str:
        """The correlation."""
        return signed(self.value, 2)


@dataclass(frozen=True, eq=False)
class Correlations:
    """What came of it.

    Attributes
    ----------
    nodes : tuple of BoardNode
        What is correlated, in the tree's order.
    groups : tuple of MatrixGroup
        Runs of nodes of a region.
    pearson, spearman : array (nodes, nodes)
        NaN where there are too few models, or all have the same value.
    n : array (nodes, nodes) of int
        Models with both values.
    highest, lowest : tuple of Pair
        By the coefficient that is shown; without pairs of which one is a part of the other.
    n_models : int
        That pass the filters.
    n_blank : int
        Pairs without a coefficient.
    method : str
        ``'pearson'`` or ``'spearman'``: which coefficient is shown.
    least : int
        Of fewer models there is none.
    notes : tuple of Note
        What to bear in mind.
    """

    nodes: tuple[BoardNode, ...]
    groups: tuple[MatrixGroup, ...]
    pearson: NDArray[np.float64]
    spearman: NDArray[np.float64]
    n: NDArray[np.int64]
    highest: tuple[Pair, ...]
    lowest: tuple[Pair, ...]
    n_models: int
    n_blank: int
    method: str
    least: int
    notes: tuple[Note, ...]

    @property
    def shown(self) -> NDArray[np.float64]:
        """The coefficients that are shown."""
        return self.pearson if self.method == "pearson" else self.spearman

    @property
    def symbol(self) -> str:
        """Of the coefficient."""
        return "r" if self.method == "pearson" else "ρ"

    @property
    def title(self) -> str:
        """In words."""
        kinds = {node.kind for node in self.nodes}
        what = "benchmarks and means" if len(kinds) > 1 else "means" if kinds == {"mean"} else "benchmarks"
        return f"{self.method.capitalize()} correlations of {len(self.nodes)} {what}"

    @property
    def extremes(self) -> list[tuple[str, tuple[Pair, ...]]]:
        """The pairs to be named, with headings."""
        return [(title, pairs) for title, pairs in (("Highest", self.highest), ("Lowest", self.lowest)) if pairs]

    @property
    def large(self) -> bool:
        """Whether cells are too many to be elements of their own."""
        return len(self.nodes) > CELLS_WITH_TEXT

    def description(self) -> str:
        """What is to be seen, in words."""
        return (
            f"Across {self.n_models} models, each with each; "
            f"{self.n_blank} pairs are blank. Red: positive; blue: negative."
        )

    def svg(self) -> Svg:
        """The matrix."""
        return matrix(
            Matrix(
                labels=[node.title for node in self.nodes],
                values=self.shown,
                counts=self.n,
                groups=self.groups,
                hrefs=[benchmark_href(node.identifier) if node.column >= 0 else None for node in self.nodes],
                title=self.title,
                description=self.description(),
                symbol=self.symbol,
            )
        )

    def data(self) -> dict[str, list[str] | list[int | None]]:
        """What a script needs to say what is pointed at: names, and hundredths row by row, each from the diagonal."""
        rows, columns = np.triu_indices(len(self.nodes))
        values = self.shown[rows, columns]
        return {
            "labels": [node.title for node in self.nodes],
            "values": [None if np.isnan(value) else round(value * 100) for value in values.tolist()],
            "symbol": [self.symbol],
        }


def correlations(board: Board, question: Question) -> Correlations:
    """Correlate over the models that pass the filters what passes those on benchmarks.

    Raises
    ------
    UserError
        If there are no two nodes.
    """
    wanted = {"means": {"mean"}, "benchmarks": {"benchmark"}, "all": {"mean", "benchmark"}}[question.level]
    places = [place for place, node in enumerate(board.nodes) if node.kind in wanted]
    if len(places) < 2:
        raise UserError(
            f"there are not two {'means' if question.level == 'means' else 'benchmarks'} to correlate",
            remedy="remove filters, or choose another level",
        )
    found = association_matrix(board.values[:, places])
    pearson, spearman = (np.where(found.n >= question.least, one, np.nan) for one in (found.pearson, found.spearman))
    shown = pearson if question.method == "pearson" else spearman
    upper = np.triu_indices(len(places), 1)
    highest, lowest = _pairs(board, question, places, shown, found.n)
    return Correlations(
        nodes=tuple(board.nodes[place] for place in places),
        groups=_groups(board, places) if question.level == "benchmarks" else (),
        pearson=pearson,
        spearman=spearman,
        n=found.n,
        highest=highest,
        lowest=lowest,
        n_models=len(board.models),
        n_blank=int(np.isnan(shown[upper]).sum()),
        method=question.method,
        least=question.least,
        notes=_notes(board, question, places),
    )


def _groups(board: Board, places: Sequence[int]) -> tuple[MatrixGroup, ...]:
    """Runs of benchmarks that stand under the same."""
    titles = [group_of(board, place) for place in places]
    starts = [at for at, title in enumerate(titles) if at == 0 or title != titles[at - 1]]
    return tuple(
        MatrixGroup(titles[start], start, stop) for start, stop in zip(starts, [*starts[1:], len(titles)], strict=True)
    )


def _pairs(
    board: Board, question: Question, places: Sequence[int], shown: NDArray[np.float64], n: NDArray[np.int64]
) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The highest and the lowest, none of them in both."""
    above = [_above(board.nodes, place) for place in places]
    rows, columns = np.triu_indices(len(places), 1)  # what is above comes first in the tree's order
    apart = np.array(
        [places[row] not in above[column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True)],
        dtype=bool,
    )
    values = shown[rows, columns]
    there = np.flatnonzero(np.isfinite(values) & apart)
    order = there[np.argsort(-values[there], kind="stable")]
    few = min(_PAIRS, len(order) // 2)

    def pair(at: int) -> Pair:
        row, column = int(rows[at]), int(columns[at])
        first, second = board.nodes[places[row]], board.nodes[places[column]]
        query = question.changed(mode="benchmarks", x=first.identifier, y=second.identifier).query()
        return Pair(first, second, float(values[at]), int(n[row, column]), query)

    highest, lowest = order[: max(few, min(1, len(order)))], order[len(order) - few :][::-1]
    return tuple(map(pair, highest.tolist())), tuple(map(pair, lowest.tolist()))


def _above(nodes: Sequence[BoardNode], place: int) -> frozenset[int]:
    found = set()
    while nodes[place].parent >= 0:
        place = nodes[place].parent
        found.add(place)
    return frozenset(found)


def _notes(board: Board, question: Question, places: Sequence[int]) -> tuple[Note, ...]:
    notes = [
        Note(
            "Each pair is over the models that have both values; pairs may be over different models. Models are not "
            "independent: relatives of one architecture score alike."
        ),
        Note("Benchmarks of the same stimuli or subjects share noise, which adds to their correlation."),
    ]
    means = [place for place in places if board.nodes[place].kind == "mean"]
    if means:
        notes.append(Note("A mean is correlated with its parts by what it is made of."))
    if question.board.over == "all" and (board.n_scored[:, means] < board.n_all[:, means]).any():
        notes.append(
            Note(
                "In the means what has no score counts as 0: that alone can correlate them.",
                "Leave out what is missing",
                question.changed(over="scored").query(),
            )
        )
    return tuple(notes)
