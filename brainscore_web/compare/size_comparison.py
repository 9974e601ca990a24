"""A benchmark or mean against the size of models, over all models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import Point, Scatter, Svg, scatter
from brainscore_core.formatting import count_text, number_text, range_text
from brainscore_core.numerics.correlation import Association, association
from brainscore_core.plurals import counted
from brainscore_web.compare.benchmark_comparison import kinds_of, named_points
from brainscore_web.compare.question import Column, Note, Question, column, model_href, node_names, pick
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.snapshot import ModelRow


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
