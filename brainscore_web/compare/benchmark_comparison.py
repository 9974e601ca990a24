"""Comparisons of benchmarks or means: two over all models, one with the size of models, and all with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import CELLS_WITH_TEXT, Matrix, MatrixGroup, Point, Scatter, Svg, matrix, scatter
from brainscore_core.formatting import count_text, number_text, range_text
from brainscore_core.numerics.correlation import Association, association, correlation_matrix
from brainscore_core.plurals import counted
from brainscore_web.compare.question import (
    FEWEST,
    Column,
    Note,
    Question,
    benchmark_href,
    column,
    group_of,
    model_href,
    node_names,
    pick,
)
from brainscore_web.leaderboard.board import Board, BoardNode
from brainscore_web.leaderboard.snapshot import ModelRow

_KINDS = 8
_NAMED = 25  # with more models, only the ten farthest from the others are named


@dataclass(frozen=True)
class Missing:
    """A model without one of the two values; `x` and `y` are the value or why there is none."""

    model: ModelRow
    x: str
    y: str


@dataclass(frozen=True, eq=False)
class TwoBenchmarks:
    """Result of the comparison."""

    # x, y: values of the board's models
    x: Column
    y: Column
    models: tuple[ModelRow, ...]  # the models of the board
    both: NDArray[np.bool_]  # models with both values
    association: Association  # correlations over these models
    missing: tuple[Missing, ...]  # the other models
    notes: tuple[Note, ...]  # caveats
    colour: str  # property of models that determines the colour of marks
    values: str  # ``'ceiled'`` or ``'raw'``

    @property
    def title(self) -> str:
        """Title of the comparison."""
        return f"{self.y.title} against {self.x.title}"

    @property
    def errors_known(self) -> bool:
        """Whether all shown values have intervals."""
        return bool(np.isfinite([axis.low[self.both] for axis in (self.x, self.y)]).all())

    @property
    def coefficients(self) -> list[tuple[str, str, str]]:
        """Names of the coefficients with values and intervals; – if not available."""
        association = self.association
        return [
            (
                name,
                number_text(value),
                "–" if ci is None else range_text(*ci),
            )
            for name, value, ci in (
                ("Pearson’s r", association.pearson, association.pearson_ci),
                ("Spearman’s ρ", association.spearman, association.spearman_ci),
            )
        ]

    def description(self) -> str:
        """Return a description of the chart for screen readers."""
        parts = [f"{name} {value} ({interval})." for name, value, interval in self.coefficients]
        return " ".join([f"{self.association.n} models.", *parts, "Lines are 95 % intervals; dashed: equal scores."])

    def svg(self) -> Svg:
        """Draw the scatter plot."""
        places = np.flatnonzero(self.both).tolist()
        kinds, kind_of = kinds_of([self.models[place] for place in places], self.colour)
        named = named_points(self.x.values[places], self.y.values[places])
        points = [
            Point(
                x=float(self.x.values[place]),
                y=float(self.y.values[place]),
                x_low=float(self.x.low[place]),
                x_high=float(self.x.high[place]),
                y_low=float(self.y.low[place]),
                y_high=float(self.y.high[place]),
                label=self._label(place),
                href=model_href(self.models[place].identifier),
                kind=kind,
                name=self.models[place].title if number in named else "",
            )
            for number, (place, kind) in enumerate(zip(places, kind_of, strict=True))
        ]
        return scatter(
            Scatter(
                points=points,
                title=self.title,
                description=self.description(),
                x_title=f"{self.x.title} ({self.values})",
                y_title=f"{self.y.title} ({self.values})",
                kinds=kinds,
                identity=True,
            )
        )

    def _label(self, place: int) -> str:
        values = (f"{axis.title}: {axis.text(place)}" for axis in (self.x, self.y))
        return "\n".join([self.models[place].title, *values])

    def rows(self) -> list[tuple[ModelRow, str, str]]:
        """Return models with both values as text, best on the first benchmark first."""
        places = np.flatnonzero(self.both)
        places = places[np.argsort(-self.x.values[places], kind="stable")]
        return [(self.models[place], self.x.text(place), self.y.text(place)) for place in places.tolist()]


def two_benchmarks(board: Board, question: Question) -> TwoBenchmarks:
    """Compare two benchmarks over the models that pass the filters."""
    x, y = (column(board, name) for name in _chosen_names(board, question))
    both = np.isfinite(x.values) & np.isfinite(y.values)
    missing = tuple(
        Missing(board.models[place], x.text(place), y.text(place)) for place in np.flatnonzero(~both).tolist()
    )
    correlation = association(x.values[both], y.values[both])
    present = [board.models[place] for place in np.flatnonzero(both).tolist()]
    return TwoBenchmarks(
        x=x,
        y=y,
        models=board.models,
        both=both,
        association=correlation,
        missing=missing,
        notes=_notes(board, question, x, y, both, present),
        colour=question.colour,
        values=question.board.values,
    )


def _chosen_names(board: Board, question: Question) -> tuple[str, str]:
    """Return the requested names; by default the neural and behavioural means, or two unrelated nodes.

    By default, they are nodes of which enough models have both values, if there are such nodes.
    """
    names = node_names(board.snapshot)
    chosen = [pick(name, names, "benchmark or mean") if name else "" for name in (question.x, question.y)]
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


def kinds_of(models: Sequence[ModelRow], colour: str) -> tuple[tuple[str, ...], list[int]]:
    """Return the kinds of models, the most frequent first, and the kind of each model."""
    if colour == "none":
        return (), [0] * len(models)
    name = "training_data" if colour == "training" else colour
    texts = [getattr(model, name) or "not known" for model in models]
    order = [text for text, _ in sorted(Counter(texts).items(), key=lambda item: (-item[1], item[0]))]
    if len(order) > _KINDS:
        order = [*order[: _KINDS - 1], "other"]
    place = {text: number for number, text in enumerate(order)}
    return tuple(order), [place.get(text, len(order) - 1) for text in texts]


def named_points(x: NDArray[np.float64], y: NDArray[np.float64]) -> frozenset[int]:
    """Return the points that get a name: all of a few, otherwise those farthest from the others."""
    if len(x) <= _NAMED:
        return frozenset(range(len(x)))
    far = sum(((each - each.mean()) / (each.std() or 1.0)) ** 2 for each in (x, y))
    return frozenset(np.argsort(-far, kind="stable")[:10].tolist())


def _notes(
    board: Board, question: Question, x: Column, y: Column, both: NDArray[np.bool_], present: Sequence[ModelRow]
) -> tuple[Note, ...]:
    notes = []
    families = {model.family for model in present if model.family}
    counts = f" ({len(present)} models of {len(families)} families)" if families else ""
    if len(present) >= FEWEST:
        notes.append(
            Note(
                f"The intervals of the correlations assume independent models. Models of the same architecture are "
                f"not{counts}: they score similarly, so the intervals are too narrow."
            )
        )
    axes = (x,) if x.identifier == y.identifier else (x, y)
    notes += [Note(f"Scores on {axis.title} hold for {axis.condition}.") for axis in axes if axis.condition]
    if x.identifier == y.identifier:
        notes.append(Note("This compares a benchmark with itself."))
    elif _related(board, x.identifier, y.identifier):
        part, whole = (x, y) if y.is_mean and y.identifier in board.snapshot.tree.ancestors(x.identifier) else (y, x)
        notes.append(Note(f"{part.title} is part of {whole.title}, so they are correlated."))
    if _data_set(x) and _data_set(x) == _data_set(y) and x.identifier != y.identifier:
        notes.append(Note(f"Both use data of {_data_set(x)}: scores on the same stimuli and subjects share noise."))
    else:
        notes.append(Note("Scores on the same stimuli or subjects share noise, which increases their correlation."))
    n_incomplete = int((both & (x.incomplete | y.incomplete)).sum())
    if n_incomplete and question.board.over == "all":
        notes.append(
            Note(
                f"{n_incomplete} of {len(present)} models have missing scores below these means, which count as 0. "
                "This alone can correlate means.",
                "Leave out missing scores",
                question.changed(over="scored").query(),
            )
        )
    return tuple(notes)


def _data_set(column: Column) -> str:
    return "" if column.is_mean else column.identifier.split(".")[0].split("-")[0]


@dataclass(frozen=True, eq=False)
class ScoreAgainstSize:
    """Result of the comparison."""

    axis: Column  # values of the models
    models: tuple[ModelRow, ...]  # models in the order of these values
    places: tuple[int, ...]  # the models that have both a value and a number of parameters, the smallest first
    association: Association  # correlation of the values with the logarithm of the number of parameters
    notes: tuple[Note, ...]  # caveats
    # colour, values: property that determines the colour of marks; ``'ceiled'`` or ``'raw'``
    colour: str
    values: str

    @property
    def title(self) -> str:
        """Title of the comparison."""
        return f"{self.axis.title} against number of parameters"

    @property
    def rank_correlation(self) -> str:
        """Spearman's correlation with its interval; – if there are too few models."""
        value, ci = self.association.spearman, self.association.spearman_ci
        if value is None:
            return "–"
        return number_text(value) + (f" ({range_text(*ci)})" if ci else "")

    def rows(self) -> Iterable[tuple[ModelRow, str, str]]:
        """Yield models with the number of parameters and the value as text."""
        for place in self.places:
            yield self.models[place], count_text(self.models[place].parameters), self.axis.text(place)

    def svg(self) -> Svg:
        """Draw the scatter plot."""
        shown = [self.models[place] for place in self.places]
        sizes, values = _logarithms(shown), self.axis.values[list(self.places)]
        kinds, kind_of = kinds_of(shown, self.colour)
        named = named_points(sizes, values)
        points = [
            Point(
                x=float(model.parameters or 0),
                y=float(self.axis.values[place]),
                y_low=float(self.axis.low[place]),
                y_high=float(self.axis.high[place]),
                label=f"{model.title}\n{count_text(model.parameters)} parameters\n{self.axis.text(place)}",
                href=model_href(model.identifier),
                kind=kind,
                name=model.title if number in named else "",
            )
            for number, (place, model, kind) in enumerate(zip(self.places, shown, kind_of, strict=True))
        ]
        return scatter(
            Scatter(
                points=points,
                title=self.title,
                description=f"{len(points)} models. Spearman’s ρ {self.rank_correlation}. Lines are 95 % intervals.",
                x_title="number of parameters",
                y_title=f"{self.axis.title} ({self.values})",
                kinds=kinds,
                x_log=True,
                width=560,
            )
        )


def score_against_size(board: Board, question: Question) -> ScoreAgainstSize:
    """Compare a benchmark or mean, by default the first mean, with the number of parameters of models."""
    if question.y:
        name = pick(question.y, node_names(board.snapshot), "benchmark or mean")
    else:
        nodes = [node.identifier for node in board.nodes if node.kind != "heading"]
        if not nodes:
            raise UserError("no benchmark passes the filters", remedy="remove filters")
        name = nodes[0]
    axis = column(board, name)
    known = [bool(model.parameters) and bool(np.isfinite(axis.values[at])) for at, model in enumerate(board.models)]
    places = sorted(np.flatnonzero(known).tolist(), key=lambda place: board.models[place].parameters or 0)
    shown = [board.models[place] for place in places]
    unknown = sum(not model.parameters for model in board.models)
    notes = [Note("Models differ in more than their size; those of one family are not independent.")]
    if axis.condition:
        notes.append(Note(f"Scores on {axis.title} hold for {axis.condition}."))
    if unknown:
        notes.append(Note(f"{counted(unknown, 'model')} whose number of parameters is not known: not shown."))
    if axis.incomplete[places].any() and question.board.over == "all":
        query = question.changed(over="scored").query()
        notes.append(Note("Missing scores count as 0 in this mean.", "Leave out missing scores", query))
    return ScoreAgainstSize(
        axis=axis,
        models=board.models,
        places=tuple(places),
        association=association(_logarithms(shown), axis.values[places]),
        notes=tuple(notes),
        colour=question.colour,
        values=question.board.values,
    )


def _logarithms(models: Sequence[ModelRow]) -> NDArray[np.float64]:
    return np.log10([float(model.parameters or 1) for model in models])


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
        notes=_matrix_notes(board, question, places),
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


def _matrix_notes(board: Board, question: Question, places: Sequence[int]) -> tuple[Note, ...]:
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
