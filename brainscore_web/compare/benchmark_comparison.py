"""Two benchmarks, or means of them, across models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import Point, Scatter, Svg, scatter
from brainscore_core.numerics.correlation import Association, association
from brainscore_web.compare.question import Column, Note, Question, column, model_href, node_names, pick, signed
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.snapshot import ModelRow

__all__ = ["Missing", "TwoBenchmarks", "two_benchmarks"]

_KINDS = 8
_NAMED = 25  # up to so many models all are named; above, the ten that are farthest from the others


@dataclass(frozen=True)
class Missing:
    """A model without one of the two values, and why."""

    model: ModelRow
    x: str
    y: str


@dataclass(frozen=True, eq=False)
class TwoBenchmarks:
    """What came of it.

    Attributes
    ----------
    x, y : Column
        Over the board's models.
    models : tuple of ModelRow
        The board's.
    both : array (models,) of bool
        Those with both values.
    association : Association
        Over these.
    missing : tuple of Missing
        The others.
    notes : tuple of Note
        What to bear in mind.
    colour : str
        What marks are told apart by.
    values : str
        ``'ceiled'`` or ``'raw'``.
    """

    x: Column
    y: Column
    models: tuple[ModelRow, ...]
    both: NDArray[np.bool_]
    association: Association
    missing: tuple[Missing, ...]
    notes: tuple[Note, ...]
    colour: str
    values: str

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.y.title} against {self.x.title}"

    @property
    def errors_known(self) -> bool:
        """Whether all values that are shown have intervals."""
        return bool(np.isfinite([one.low[self.both] for one in (self.x, self.y)]).all())

    @property
    def coefficients(self) -> list[tuple[str, str, str]]:
        """Names of the coefficients, their values and intervals; – where there is none."""
        found = self.association
        return [
            (
                name,
                "–" if value is None else signed(value),
                "–" if ci is None else f"{signed(ci[0])} to {signed(ci[1])}",
            )
            for name, value, ci in (
                ("Pearson’s r", found.pearson, found.pearson_ci),
                ("Spearman’s ρ", found.spearman, found.spearman_ci),
            )
        ]

    def description(self) -> str:
        """What is to be seen, in words."""
        parts = [f"{name} {value} ({interval})." for name, value, interval in self.coefficients]
        return " ".join([f"{self.association.n} models.", *parts, "Lines are 95 % intervals; dashed: equal scores."])

    def svg(self) -> Svg:
        """The scatter plot."""
        places = np.flatnonzero(self.both).tolist()
        kinds, kind_of = _kinds([self.models[place] for place in places], self.colour)
        named = _named(self.x.values[places], self.y.values[places])
        points = [
            Point(
                x=float(self.x.values[place]),
                y=float(self.y.values[place]),
                x_low=float(self.x.low[place]),
                x_high=float(self.x.high[place]),
                y_low=float(self.y.low[place]),
                y_high=float(self.y.high[place]),
                label=self._said(place),
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

    def _said(self, place: int) -> str:
        return "\n".join([self.models[place].title, *(f"{one.title}: {one.said(place)}" for one in (self.x, self.y))])

    def rows(self) -> list[tuple[ModelRow, str, str]]:
        """Models with both values and these as texts, the best on the first benchmark first."""
        places = np.flatnonzero(self.both)
        places = places[np.argsort(-self.x.values[places], kind="stable")]
        return [(self.models[place], self.x.said(place), self.y.said(place)) for place in places.tolist()]


def two_benchmarks(board: Board, question: Question) -> TwoBenchmarks:
    """Compare two benchmarks over the models that pass the filters.

    Raises
    ------
    UserError
        If a benchmark is not known, or the filters leave nothing of a mean.
    """
    x, y = (column(board, name) for name in _chosen_names(board, question))
    both = np.isfinite(x.values) & np.isfinite(y.values)
    missing = tuple(
        Missing(board.models[place], x.said(place), y.said(place)) for place in np.flatnonzero(~both).tolist()
    )
    found = association(x.values[both], y.values[both])
    present = [board.models[place] for place in np.flatnonzero(both).tolist()]
    return TwoBenchmarks(
        x=x,
        y=y,
        models=board.models,
        both=both,
        association=found,
        missing=missing,
        notes=_notes(board, question, x, y, both, present),
        colour=question.colour,
        values=question.board.values,
    )


def _chosen_names(board: Board, question: Question) -> tuple[str, str]:
    """The names asked for; else the neural and behavioural means, or two that are no part of each other."""
    names = node_names(board.snapshot)
    asked = [pick(name, names, "benchmark or mean") if name else "" for name in (question.x, question.y)]
    start = [name for name in ("neural_vision", "behavior_vision") if board.place(name) >= 0]
    start += [node.identifier for node in board.nodes if node.kind == "mean" and node.depth == 1]
    start += [node.identifier for node in board.nodes if node.kind == "benchmark"]
    if not start:
        raise UserError("no benchmark passes the filters", remedy="remove some of them")
    for place in (0, 1):
        if not asked[place]:
            apart = (name for name in start if not _related(board, name, asked[1 - place]))
            asked[place] = next(apart, start[0])
    return asked[0], asked[1]


def _related(board: Board, first: str, second: str) -> bool:
    """Whether they are the same, or one is a part of the other."""
    tree = board.snapshot.tree
    pairs = ((first, second), (second, first))
    return first == second or any(one in tree and other in tree.ancestors(one) for one, other in pairs)


def _kinds(models: Sequence[ModelRow], colour: str) -> tuple[tuple[str, ...], list[int]]:
    """Names of what models are told apart by, the most frequent first, and that of each."""
    if colour == "none":
        return (), [0] * len(models)
    name = "training_data" if colour == "training" else colour
    texts = [getattr(model, name) or "not known" for model in models]
    order = [text for text, _ in sorted(Counter(texts).items(), key=lambda item: (-item[1], item[0]))]
    if len(order) > _KINDS:
        order = [*order[: _KINDS - 1], "other"]
    place = {text: number for number, text in enumerate(order)}
    return tuple(order), [place.get(text, len(order) - 1) for text in texts]


def _named(x: NDArray[np.float64], y: NDArray[np.float64]) -> frozenset[int]:
    if len(x) <= _NAMED:
        return frozenset(range(len(x)))
    far = sum(((each - each.mean()) / (each.std() or 1.0)) ** 2 for each in (x, y))
    return frozenset(np.argsort(-far, kind="stable")[:10].tolist())


def _notes(
    board: Board, question: Question, x: Column, y: Column, both: NDArray[np.bool_], present: Sequence[ModelRow]
) -> tuple[Note, ...]:
    notes = []
    families = {model.family for model in present if model.family}
    of = f" ({len(present)} models of {len(families)} families)" if families else ""
    notes.append(
        Note(
            f"The intervals of the correlations take models as independent. Relatives of one architecture are not{of}: "
            "they score alike, and the intervals are too narrow."
        )
    )
    if x.identifier == y.identifier:
        notes.append(Note("This is one benchmark, against itself."))
    elif _related(board, x.identifier, y.identifier):
        part, whole = (x, y) if y.is_mean and y.identifier in board.snapshot.tree.ancestors(x.identifier) else (y, x)
        notes.append(Note(f"{part.title} is a part of {whole.title}: that alone correlates them."))
    if _data_set(x) and _data_set(x) == _data_set(y) and x.identifier != y.identifier:
        notes.append(Note(f"Both are of {_data_set(x)}: scores of the same stimuli and subjects share their noise."))
    else:
        notes.append(Note("Scores of the same stimuli or subjects share noise, which adds to the correlation."))
    lacking = int((both & (x.incomplete | y.incomplete)).sum())
    if lacking and question.board.over == "all":
        notes.append(
            Note(
                f"{lacking} of {len(present)} models lack scores below these means, which count as 0: "
                "that alone can correlate means.",
                "Leave out what is missing",
                question.changed(over="scored").query(),
            )
        )
    return tuple(notes)


def _data_set(one: Column) -> str:
    return "" if one.is_mean else one.identifier.split(".")[0].split("-")[0]
