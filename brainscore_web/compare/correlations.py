"""Correlations of all benchmarks, or means, with each other across models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import CELLS_WITH_TEXT, Matrix, MatrixGroup, Svg, matrix
from brainscore_core.formatting import number_text
from brainscore_core.numerics.correlation import correlation_matrix
from brainscore_web.compare.question import Note, Question, benchmark_href, group_of
from brainscore_web.leaderboard.board import Board, BoardNode

_PAIRS = 8


@dataclass(frozen=True)
class Pair:
    """Two nodes with their correlation, the number of models, and the query of their scatter plot."""

    first: BoardNode
    second: BoardNode
    value: float
    n: int
    query: str

    @property
    def text(self) -> str:
        """The correlation."""
        return number_text(self.value, 2)


@dataclass(frozen=True, eq=False)
class Correlations:
    """Result of the comparison."""

    nodes: tuple[BoardNode, ...]  # the correlated nodes, in the order of the tree
    groups: tuple[MatrixGroup, ...]  # consecutive nodes of the same region
    values: NDArray[np.float64]  # the correlated values
    shown: NDArray[np.float64]  # the shown coefficients; NaN with too few models, or if all have the same value
    n: NDArray[np.int64]  # number of models with both values
    # highest, lowest: pairs with the highest and lowest coefficients, except pairs in which one node is part of the
    # other
    highest: tuple[Pair, ...]
    lowest: tuple[Pair, ...]
    n_models: int  # number of models that pass the filters
    n_blank: int  # number of pairs without a coefficient
    method: str  # the shown coefficient, ``'pearson'`` or ``'spearman'``
    least: int  # minimum number of models for a coefficient
    notes: tuple[Note, ...]  # caveats

    @cached_property
    def pearson(self) -> NDArray[np.float64]:
        """Pearson's coefficients."""
        return self.shown if self.method == "pearson" else _coefficients(self.values, "pearson", self.least)[0]

    @cached_property
    def spearman(self) -> NDArray[np.float64]:
        """Spearman's coefficients."""
        return self.shown if self.method == "spearman" else _coefficients(self.values, "spearman", self.least)[0]

    @property
    def symbol(self) -> str:
        """Symbol of the coefficient."""
        return "r" if self.method == "pearson" else "ρ"

    @property
    def title(self) -> str:
        """Title of the comparison."""
        kinds = {node.kind for node in self.nodes}
        what = "benchmarks and means" if len(kinds) > 1 else "means" if kinds == {"mean"} else "benchmarks"
        return f"{self.method.capitalize()} correlations of {len(self.nodes)} {what}"

    @property
    def extremes(self) -> list[tuple[str, tuple[Pair, ...]]]:
        """Pairs to list, with their headings."""
        return [(title, pairs) for title, pairs in (("Highest", self.highest), ("Lowest", self.lowest)) if pairs]

    @property
    def large(self) -> bool:
        """Whether there are too many cells for separate elements."""
        return len(self.nodes) > CELLS_WITH_TEXT

    def description(self) -> str:
        """Return a description of the chart for screen readers."""
        return (
            f"Across {self.n_models} models, each with each; "
            f"{self.n_blank} pairs are blank. Red: positive; blue: negative."
        )

    def svg(self) -> Svg:
        """Draw the matrix."""
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
        """Return the data of the script that labels cells: names, and hundredths row by row from the diagonal."""
        rows, columns = np.triu_indices(len(self.nodes))
        values = self.shown[rows, columns]
        return {
            "labels": [node.title for node in self.nodes],
            "values": [None if np.isnan(value) else round(value * 100) for value in values.tolist()],
            "symbol": [self.symbol],
        }


def correlations(board: Board, question: Question) -> Correlations:
    """Correlate the benchmarks or means that pass the filters, over the models that pass."""
    kinds = {"means": {"mean"}, "benchmarks": {"benchmark"}, "all": {"mean", "benchmark"}}[question.level]
    places = [place for place, node in enumerate(board.nodes) if node.kind in kinds]
    if len(places) < 2:
        raise UserError(
            f"there are fewer than two {'means' if question.level == 'means' else 'benchmarks'} to correlate",
            remedy="remove filters, or choose another level",
        )
    values = board.values[:, places]
    shown, n = _coefficients(values, question.method, question.least)
    upper = np.triu_indices(len(places), 1)
    highest, lowest = _pairs(board, question, places, shown, n)
    return Correlations(
        nodes=tuple(board.nodes[place] for place in places),
        groups=_groups(board, places) if question.level == "benchmarks" else (),
        values=values,
        shown=shown,
        n=n,
        highest=highest,
        lowest=lowest,
        n_models=len(board.models),
        n_blank=int(np.isnan(shown[upper]).sum()),
        method=question.method,
        least=question.least,
        notes=_notes(board, question, places),
    )


def _coefficients(
    values: NDArray[np.float64], method: Literal["pearson", "spearman"], least: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return coefficients with at least so many models, and the numbers of models."""
    matrix, n = correlation_matrix(values, method=method)
    return np.where(n >= least, matrix, np.nan), n


def _groups(board: Board, places: Sequence[int]) -> tuple[MatrixGroup, ...]:
    """Return runs of consecutive benchmarks of the same group."""
    titles = [group_of(board, place) for place in places]
    starts = [at for at, title in enumerate(titles) if at == 0 or title != titles[at - 1]]
    return tuple(
        MatrixGroup(titles[start], start, stop) for start, stop in zip(starts, [*starts[1:], len(titles)], strict=True)
    )


def _pairs(
    board: Board, question: Question, places: Sequence[int], shown: NDArray[np.float64], n: NDArray[np.int64]
) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Return the pairs with the highest and the lowest coefficients; no pair is in both."""
    above = [_above(board.nodes, place) for place in places]
    rows, columns = np.triu_indices(len(places), 1)  # in the order of the tree, parents come before children
    unrelated = np.array(
        [places[row] not in above[column] for row, column in zip(rows.tolist(), columns.tolist(), strict=True)],
        dtype=bool,
    )
    values = shown[rows, columns]
    known = np.flatnonzero(np.isfinite(values) & unrelated)
    order = known[np.argsort(-values[known], kind="stable")]
    count = min(_PAIRS, len(order) // 2)

    def pair(at: int) -> Pair:
        row, column = int(rows[at]), int(columns[at])
        first, second = board.nodes[places[row]], board.nodes[places[column]]
        query = question.changed(mode="benchmarks", x=first.identifier, y=second.identifier).query()
        return Pair(first, second, float(values[at]), int(n[row, column]), query)

    highest, lowest = order[: max(count, min(1, len(order)))], order[len(order) - count :][::-1]
    return tuple(map(pair, highest.tolist())), tuple(map(pair, lowest.tolist()))


def _above(nodes: Sequence[BoardNode], place: int) -> frozenset[int]:
    ancestors = set()
    while nodes[place].parent >= 0:
        place = nodes[place].parent
        ancestors.add(place)
    return frozenset(ancestors)


def _notes(board: Board, question: Question, places: Sequence[int]) -> tuple[Note, ...]:
    notes = [
        Note(
            "Each coefficient is over the models that have both values, so pairs may be over different models. Models "
            "are not independent: those of the same architecture score similarly."
        ),
        Note("Benchmarks with the same stimuli or subjects share noise, which increases their correlation."),
    ]
    means = [place for place in places if board.nodes[place].kind == "mean"]
    if means:
        notes.append(Note("A mean is correlated with its parts by construction."))
    if question.board.over == "all" and (board.n_scored[:, means] < board.n_all[:, means]).any():
        notes.append(
            Note(
                "Missing scores count as 0 in means, which alone can correlate them.",
                "Leave out missing scores",
                question.changed(over="scored").query(),
            )
        )
    return tuple(notes)
