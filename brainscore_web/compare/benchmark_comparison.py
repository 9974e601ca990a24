"""Comparisons of benchmarks or means over models: two, one with the size of models, and all with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby, product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import CELLS_WITH_TEXT, Matrix, MatrixGroup, Point, Scatter, Svg, matrix, scatter
from brainscore_core.formatting import number_text, range_text
from brainscore_core.numerics.correlation import association, correlation_matrix
from brainscore_core.plurals import counted
from brainscore_web.compare.question import (
    FEWEST,
    Column,
    Note,
    Question,
    Table,
    benchmark_href,
    column,
    group_of,
    model_href,
    node_names,
    pick,
    sizes,
)
from brainscore_web.leaderboard.board import Board, BoardNode
from brainscore_web.leaderboard.snapshot import ModelRow

_KINDS = 8
_NAMED = 25  # with more models, only the ten farthest from the others are named
_OF_MODELS = ("identifier", "architecture", "family", "training_data")


class TwoColumns:
    """Two benchmarks or means over the models that pass the filters, or one and the number of parameters of models."""

    def __init__(self, board: Board, question: Question) -> None:
        self.question, self.models = question, board.models
        self.by_size = question.mode == "size"
        names = _chosen_names(board, question)
        self.y = column(board, names[1])
        self.x = sizes(board.models) if self.by_size else column(board, names[0])
        both = np.isfinite(self.x.values) & np.isfinite(self.y.values)
        x, y = self.x.values[both], self.y.values[both]
        self.association = association(np.log10(x) if self.by_size else x, y)
        order = np.argsort(x if self.by_size else -x, kind="stable")
        self.places = np.flatnonzero(both)[order].tolist()  # models with both values: the best, or smallest, first
        self.missing = self._rows(np.flatnonzero(~both).tolist())  # the other models, with why a value is missing
        self.notes = tuple(_notes_on_size(board, self) if self.by_size else _notes(board, self))

    @property
    def title(self) -> str:
        """Title of the comparison."""
        return f"{self.y.title} against {self.x.title}"

    @property
    def axes(self) -> tuple[Column, ...]:
        """The benchmarks or means."""
        return (self.y,) if self.by_size else (self.x, self.y)

    @property
    def names(self) -> list[str]:
        """Their identifiers."""
        return [axis.identifier for axis in self.axes]

    @property
    def cards(self) -> dict[str, str]:
        """Links to their cards, by title."""
        return {axis.title: benchmark_href(axis.identifier) for axis in self.axes if not axis.is_mean}

    @property
    def swapped(self) -> str:
        """Query of the comparison with exchanged axes."""
        return self.question.changed(x=self.y.identifier, y=self.x.identifier).query()

    @property
    def errors_known(self) -> bool:
        """Whether all shown values have intervals."""
        return bool(np.isfinite([axis.low[self.places] for axis in self.axes]).all())

    @property
    def coefficients(self) -> list[tuple[str, str, str]]:
        """Names of the coefficients with values and intervals; – if not available."""
        known = self.association
        rows = [("Pearson’s r", known.pearson, known.pearson_ci), ("Spearman’s ρ", known.spearman, known.spearman_ci)]
        shown = rows[1:] if self.by_size else rows  # Pearson's would be that of the logarithm
        return [(name, number_text(value), "–" if ci is None else range_text(*ci)) for name, value, ci in shown]

    @property
    def rows(self) -> list[tuple[ModelRow, str, str]]:
        """Models with both values as text."""
        return self._rows(self.places)

    def _rows(self, places: Sequence[int]) -> list[tuple[ModelRow, str, str]]:
        return [(self.models[place], self.x.text(place), self.y.text(place)) for place in places]

    def svg(self) -> Svg:
        """Draw the scatter plot."""
        x, y = self.x.values[self.places], self.y.values[self.places]
        kinds, kind_of = _kinds_of([self.models[place] for place in self.places], self.question.colour)
        named = _named_points(np.log10(x) if self.by_size else x, y)
        points = [
            Point(
                x=float(self.x.values[place]),
                y=float(self.y.values[place]),
                x_low=float(self.x.low[place]),
                x_high=float(self.x.high[place]),
                y_low=float(self.y.low[place]),
                y_high=float(self.y.high[place]),
                label="\n".join([model.title, *(f"{axis.title}: {axis.text(place)}" for axis in (self.x, self.y))]),
                href=model_href(model.identifier),
                kind=kind,
                name=model.title if number in named else "",
            )
            for number, (place, kind) in enumerate(zip(self.places, kind_of, strict=True))
            for model in (self.models[place],)
        ]
        about = [f"{name} {value} ({interval})." for name, value, interval in self.coefficients]
        lines = "Lines are 95 % intervals" + ("." if self.by_size else "; dashed: equal scores.")
        scale = f" ({self.question.board.values})"
        return scatter(
            Scatter(
                points=points,
                title=self.title,
                description=" ".join([f"{self.association.n} models.", *about, lines]),
                x_title=self.x.title + ("" if self.by_size else scale),
                y_title=self.y.title + scale,
                kinds=kinds,
                identity=not self.by_size,
                x_log=self.by_size,
            )
        )

    def table(self) -> Table:
        """Return one row per model: with size, those that have both values; otherwise also those without a value."""
        fields = (*_OF_MODELS, "parameters") if self.by_size else _OF_MODELS
        names = ["model", *fields[1:]]
        for axis in self.axes:
            names += [axis.identifier, *(f"{axis.identifier}:{of}" for of in ("error", "low", "high", "state"))]
        rows = (
            [
                *(getattr(self.models[place], name) for name in fields),
                *(cell for axis in self.axes for cell in axis.cells(place)),
            ]
            for place in (self.places if self.by_size else range(len(self.models)))
        )
        return names, rows


def _chosen_names(board: Board, question: Question) -> tuple[str, str]:
    """Return the requested names; by default the neural and behavioural means, or two unrelated nodes.

    By default, they are nodes of which enough models have both values, if there are such nodes. With size, the first
    name is empty, and the other one by default the first node.
    """
    names, given = node_names(board.snapshot), ("" if question.mode == "size" else question.x, question.y)
    chosen = [pick(name, names, "benchmark or mean") if name else "" for name in given]
    if question.mode == "size" and (chosen[1] or board.nodes):
        return "", chosen[1] or next(node.identifier for node in board.nodes if node.kind != "heading")
    defaults = [name for name in ("neural_vision", "behavior_vision") if board.place(name) >= 0]
    defaults += [node.identifier for node in board.nodes if node.kind == "mean" and node.depth == 1]
    defaults += [node.identifier for node in board.nodes if node.kind == "benchmark"]
    if not defaults:
        raise UserError("no benchmark passes the filters", remedy="remove filters")
    known = {
        name: np.isfinite(column(board, name).values) for name in dict.fromkeys((*filter(None, chosen), *defaults))
    }
    valued = [name for name in dict.fromkeys(defaults) if known[name].any()] or defaults
    firsts, seconds = ([name] if name else valued for name in chosen)
    best, most = (firsts[0], seconds[0]), -1
    for first, second in product(firsts, seconds):
        n = int((known[first] & known[second]).sum())
        if n > most and not _related(board, first, second):
            best, most = (first, second), n
        if most >= FEWEST:
            break
    return best


def _related(board: Board, first: str, second: str) -> bool:
    """Whether they are the same, or one is part of the other."""
    tree = board.snapshot.tree
    pairs = ((first, second), (second, first))
    return first == second or any(part in tree and whole in tree.ancestors(part) for part, whole in pairs)


def _kinds_of(models: Sequence[ModelRow], colour: str) -> tuple[tuple[str, ...], list[int]]:
    """Return the kinds of models, the most frequent first, and the kind of each model."""
    if colour == "none":
        return (), [0] * len(models)
    texts = [getattr(model, "training_data" if colour == "training" else colour) or "not known" for model in models]
    order = [text for text, _ in sorted(Counter(texts).items(), key=lambda item: (-item[1], item[0]))]
    if len(order) > _KINDS:
        order = [*order[: _KINDS - 1], "other"]
    place = {text: number for number, text in enumerate(order)}
    return tuple(order), [place.get(text, len(order) - 1) for text in texts]


def _named_points(x: NDArray[np.float64], y: NDArray[np.float64]) -> frozenset[int]:
    """Return the points that get a name: all of a few, otherwise those farthest from the others."""
    if len(x) <= _NAMED:
        return frozenset(range(len(x)))
    far = sum(((each - each.mean()) / (each.std() or 1.0)) ** 2 for each in (x, y))
    return frozenset(np.argsort(-far, kind="stable")[:10].tolist())


def _notes(board: Board, of: TwoColumns) -> Iterator[Note]:
    x, y, n = of.x, of.y, len(of.places)
    if n >= FEWEST:
        families = {of.models[place].family for place in of.places} - {""}
        counts = f" ({n} models of {len(families)} families)" if families else ""
        yield Note(
            f"The intervals of the correlations assume independent models. Models of the same architecture are "
            f"not{counts}: they score similarly, so the intervals are too narrow."
        )
    yield from _conditions((x,) if x.identifier == y.identifier else (x, y))
    if x.identifier == y.identifier:
        yield Note("This compares a benchmark with itself.")
    elif _related(board, x.identifier, y.identifier):
        part, whole = (x, y) if y.is_mean and y.identifier in board.snapshot.tree.ancestors(x.identifier) else (y, x)
        yield Note(f"{part.title} is part of {whole.title}, so they are correlated.")
    if _data_set(x) and _data_set(x) == _data_set(y) and x.identifier != y.identifier:
        yield Note(f"Both use data of {_data_set(x)}: scores on the same stimuli and subjects share noise.")
    else:
        yield Note("Scores on the same stimuli or subjects share noise, which increases their correlation.")
    n_incomplete = int((x.incomplete | y.incomplete)[of.places].sum())
    if n_incomplete and of.question.board.over == "all":
        yield of.question.without_gaps(
            f"{n_incomplete} of {n} models have missing scores below these means, which count as 0. "
            "This alone can correlate means."
        )


def _notes_on_size(board: Board, of: TwoColumns) -> Iterator[Note]:
    yield Note("Models differ in more than their size; those of one family are not independent.")
    yield from _conditions(of.axes)
    if unknown := sum(not model.parameters for model in board.models):
        yield Note(f"{counted(unknown, 'model')} whose number of parameters is not known: not shown.")
    if of.y.incomplete[of.places].any() and of.question.board.over == "all":
        yield of.question.without_gaps("Missing scores count as 0 in this mean.")


def _conditions(axes: Sequence[Column]) -> Iterator[Note]:
    return (Note(f"Scores on {axis.title} hold for {axis.condition}.") for axis in axes if axis.condition)


def _data_set(column: Column) -> str:
    return "" if column.is_mean else column.identifier.split(".")[0].split("-")[0]


_PAIRS = 8


class Pair(NamedTuple):
    """Two nodes with their correlation, the number of models, and the query of their scatter plot."""

    first: BoardNode
    second: BoardNode
    value: float
    n: int
    query: str


class Correlations:
    """Correlations of the benchmarks or means that pass the filters, over the models that pass."""

    def __init__(self, board: Board, question: Question) -> None:
        kinds = {"means": {"mean"}, "benchmarks": {"benchmark"}, "all": {"mean", "benchmark"}}[question.level]
        places = [place for place, node in enumerate(board.nodes) if node.kind in kinds]
        if len(places) < 2:
            raise UserError(
                f"there are fewer than two {'means' if question.level == 'means' else 'benchmarks'} to correlate",
                remedy="remove filters, or choose another level",
            )
        self.question = question
        self.nodes = [board.nodes[place] for place in places]  # in the order of the tree
        # consecutive nodes of the same region
        self.groups = tuple(
            _groups([group_of(board, place) for place in places] if question.level == "benchmarks" else [])
        )
        self.values = board.values[:, places]
        # the shown coefficients, NaN with too few models, or if all have the same value; numbers of models with both
        self.shown, self.n = self._coefficients(question.method)
        self.n_models = len(board.models)
        self.n_blank = int(np.isnan(self.shown[np.triu_indices(len(places), 1)]).sum())
        # pairs with the highest and lowest coefficients, except pairs in which one node is part of the other
        self.highest, self.lowest = self._pairs(board, places)
        self.notes = tuple(self._notes(board, places))

    def _coefficients(self, method: Literal["pearson", "spearman"]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        coefficients, n = correlation_matrix(self.values, method=method)
        return np.where(n >= self.question.least, coefficients, np.nan), n

    @cached_property
    def pearson(self) -> NDArray[np.float64]:
        """Pearson's coefficients."""
        return self._coefficients("pearson")[0]

    @cached_property
    def spearman(self) -> NDArray[np.float64]:
        """Spearman's coefficients."""
        return self._coefficients("spearman")[0]

    @property
    def symbol(self) -> str:
        """Symbol of the coefficient."""
        return "r" if self.question.method == "pearson" else "ρ"

    @property
    def title(self) -> str:
        """Title of the comparison."""
        kinds = {node.kind for node in self.nodes}
        what = "benchmarks and means" if len(kinds) > 1 else "means" if kinds == {"mean"} else "benchmarks"
        return f"{self.question.method.capitalize()} correlations of {len(self.nodes)} {what}"

    @property
    def extremes(self) -> list[tuple[str, Sequence[Pair]]]:
        """Pairs to list, with their headings."""
        return [(title, pairs) for title, pairs in (("Highest", self.highest), ("Lowest", self.lowest)) if pairs]

    @property
    def large(self) -> bool:
        """Whether there are too many cells for separate elements."""
        return len(self.nodes) > CELLS_WITH_TEXT

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
                description=f"Across {self.n_models} models, each with each; "
                f"{self.n_blank} pairs are blank. Red: positive; blue: negative.",
                symbol=self.symbol,
            )
        )

    def data(self) -> dict[str, list[str] | list[int | None]]:
        """Return the data of the script that labels cells: names, and hundredths row by row from the diagonal."""
        values = self.shown[np.triu_indices(len(self.nodes))]
        return {
            "labels": [node.title for node in self.nodes],
            "values": [None if np.isnan(value) else round(value * 100) for value in values.tolist()],
            "symbol": [self.symbol],
        }

    def table(self) -> Table:
        """Return one row per pair, with both coefficients and the number of models."""
        names = [node.identifier for node in self.nodes]
        pearson, spearman, n = (array.tolist() for array in (self.pearson, self.spearman, self.n))
        pairs = ((i, j) for i in range(len(names)) for j in range(i + 1, len(names)))
        rows = ([names[i], names[j], pearson[i][j], spearman[i][j], n[i][j]] for i, j in pairs)
        return ["first", "second", "pearson", "spearman", "n"], rows

    def _pairs(self, board: Board, places: Sequence[int]) -> tuple[list[Pair], list[Pair]]:
        """Return the pairs with the highest and the lowest coefficients; no pair is in both."""
        above = [_above(board.nodes, place) for place in places]
        rows, columns = np.triu_indices(len(places), 1)  # in the order of the tree, parents come before children
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        unrelated = np.array([places[row] not in above[column] for row, column in pairs], dtype=bool)
        values = self.shown[rows, columns]
        known = np.flatnonzero(np.isfinite(values) & unrelated)
        order = known[np.argsort(-values[known], kind="stable")]
        count = min(_PAIRS, len(order) // 2)

        def pair(at: int) -> Pair:
            first, second = self.nodes[rows[at]], self.nodes[columns[at]]
            query = self.question.changed(mode="benchmarks", x=first.identifier, y=second.identifier).query()
            return Pair(first, second, float(values[at]), int(self.n[rows[at], columns[at]]), query)

        highest, lowest = order[: max(count, min(1, len(order)))], order[len(order) - count :][::-1]
        return [pair(at) for at in highest.tolist()], [pair(at) for at in lowest.tolist()]

    def _notes(self, board: Board, places: Sequence[int]) -> Iterator[Note]:
        yield Note(
            "Each coefficient is over the models that have both values, so pairs may be over different models. Models "
            "are not independent: those of the same architecture score similarly."
        )
        yield Note("Benchmarks with the same stimuli or subjects share noise, which increases their correlation.")
        means = [place for place in places if board.nodes[place].kind == "mean"]
        if means:
            yield Note("A mean is correlated with its parts by construction.")
        if self.question.board.over == "all" and (board.n_scored[:, means] < board.n_all[:, means]).any():
            yield self.question.without_gaps("Missing scores count as 0 in means, which alone can correlate them.")


def _groups(titles: Sequence[str]) -> Iterator[MatrixGroup]:
    """Return runs of consecutive nodes of the same group."""
    start = 0
    for title, run in groupby(titles):
        stop = start + len(list(run))
        yield MatrixGroup(title, start, stop)
        start = stop


def _above(nodes: Sequence[BoardNode], place: int) -> frozenset[int]:
    ancestors = set()
    while nodes[place].parent >= 0:
        place = nodes[place].parent
        ancestors.add(place)
    return frozenset(ancestors)
