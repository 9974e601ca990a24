"""Comparison of two benchmarks or means over all models, or of one with the size of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import Point, Scatter, Svg, scatter
from brainscore_core.formatting import count_text, number_text, range_text
from brainscore_core.numerics.correlation import Association, association
from brainscore_core.plurals import counted
from brainscore_web.compare.question import FEWEST, Column, Note, Question, column, model_href, node_names, pick
from brainscore_web.leaderboard.board import Board
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
