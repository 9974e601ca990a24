"""Comparison of two or more models across benchmarks."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import Dots, DotsRow, Svg, dots_with_intervals
from brainscore_core.formatting import number_text, range_text
from brainscore_core.numerics.means import ASSUMPTION, NOT_TESTED, compare_means
from brainscore_core.numerics.significance import Outcome, PairedTest
from brainscore_core.plurals import counted
from brainscore_core.populations import condition_of_all
from brainscore_web.compare.question import (
    MOST_MODELS,
    Column,
    Note,
    Question,
    Table,
    benchmark_href,
    column,
    group_of,
    model_href,
    model_row,
)
from brainscore_web.leaderboard.board import Board, influences_on, mean_parts
from brainscore_web.leaderboard.filters import MODEL_FILTERS
from brainscore_web.leaderboard.snapshot import STATES, ModelRow
from brainscore_web.leaderboard.state import DEFAULTS

_KINDS = {"win": 0, "loss": 1, "tie": 4, "untested": 7}
_PLURALS = {"win": "wins", "tie": "ties", "loss": "losses", "untested": "untested"}


class Difference(NamedTuple):
    """Two models on one benchmark, or their means."""

    # identifier, title: of the benchmark or mean
    identifier: str
    title: str
    version: str | None  # of the benchmark; None for a mean
    # scores, errors: of the first and the second model; NaN if not available
    scores: Sequence[float]
    errors: Sequence[float]
    # difference of the first from the second model with its error and 95 % interval, from the influences of the units
    # that both scores share; NaN if not tested. Means are compared on the benchmarks that both models have
    test: PairedTest
    condition: str = ""  # for which few subjects or groups alone the outcome holds; empty if it holds for new ones

    @property
    def outcome(self) -> Outcome:
        """``'win'``, ``'tie'``, ``'loss'`` or ``'untested'``."""
        if np.isnan(self.test.low):
            return "untested"
        return "win" if self.test.low > 0 else "loss" if self.test.high < 0 else "tie"

    @property
    def text(self) -> str:
        """The difference with its sign."""
        return number_text(self.test.difference, plus=True)


class Absent(NamedTuple):
    """A benchmark without one of the two scores."""

    # identifier, title, group, version: the benchmark, its group and its version
    identifier: str
    title: str
    group: str
    version: str
    # states, scores: ``'scored'``, or why there is no score; NaN if there is none
    states: Sequence[str]
    scores: Sequence[float]


class Group(NamedTuple):
    """Benchmarks of a region, the largest difference first."""

    title: str
    differences: Sequence[Difference]

    @property
    def counts(self) -> Counter[str]:
        """Number of differences with each outcome."""
        return Counter(row.outcome for row in self.differences)

    @property
    def tally(self) -> str:
        """Wins, ties and losses in words."""
        counts = self.counts
        named = ((counts[name], name, plural) for name, plural in _PLURALS.items())
        return ", ".join(f"{n} {name if n == 1 else plural}" for n, name, plural in named if n)


class TwoModels:
    """Two models over the benchmarks of the tree that pass the filters."""

    def __init__(self, board: Board, question: Question) -> None:
        if len(board.rows) < 2:
            remedy = "choose a later day" if board.state.at else "more models must be scored first"
            raise UserError("there are fewer than two models to compare", remedy=remedy)
        self.question = question
        leaves, means = _compared_nodes(board, depth=1)
        rows = _chosen_models(board, question, leaves)
        self.first, self.second = self.models = [board.models[row] for row in rows]
        both = set(np.flatnonzero(np.isfinite(board.values[rows]).all(axis=0)).tolist())
        common = [place for place in leaves if place in both]
        differences = {place: _difference(board, place, rows) for place in (*means, *leaves) if place in both}
        by_group: dict[str, list[Difference]] = {}
        for place in common:
            by_group.setdefault(group_of(board, place), []).append(differences[place])
        self.groups = [  # in the order of the tree
            Group(title, sorted(members, key=lambda row: -row.test.difference)) for title, members in by_group.items()
        ]
        self.summary = Group("", [row for group in self.groups for row in group.differences])
        tested = [place for place in common if differences[place].outcome != "untested"]
        self.mean = _mean_test(board, tested or common, *rows)  # about the tested benchmarks; about all if none is
        # the roots of the tree and the means directly below them; benchmarks without a score of one or both models
        self.means = [differences[place] for place in means if place in both]
        self.absent = [_absent(board, place, rows) for place in leaves if place not in both]
        self.notes = tuple(self._notes(board, rows))

    @property
    def title(self) -> str:
        """Title of the comparison."""
        return f"{self.first.title} − {self.second.title}"

    @property
    def names(self) -> list[str]:
        """Identifiers of the models."""
        return [model.identifier for model in self.models]

    @property
    def cards(self) -> dict[str, str]:
        """Links to their cards, by title."""
        return {model.title: model_href(model.identifier) for model in self.models}

    @property
    def swapped(self) -> str:
        """Query of the comparison with exchanged models."""
        return self.question.changed(first=self.second.identifier, second=self.first.identifier).query()

    @property
    def condition(self) -> str:
        """For which few subjects or groups alone the outcomes hold; empty if they hold for new ones."""
        return condition_of_all(row.condition for row in self.summary.differences)

    @property
    def mean_over(self) -> str:
        """What the mean difference is over."""
        n, untested = len(self.summary.differences), self.summary.counts["untested"]
        return "over these benchmarks" if untested in (0, n) else f"over the {n - untested} tested benchmarks"

    @property
    def mean_texts(self) -> tuple[str, str]:
        """The mean difference over the benchmarks and its interval."""
        interval = "–" if np.isnan(self.mean.low) else range_text(self.mean.low, self.mean.high)
        return number_text(self.mean.difference, plus=True), interval

    @property
    def command(self) -> str:
        """Command of the paired test on the benchmark with the largest absolute difference."""
        rows = self.summary.differences
        name = max(rows, key=lambda row: abs(row.test.difference)).identifier if rows else "BENCHMARK"
        return shlex.join(["brainscore", "compare", *self.names, "-b", name])

    @property
    def rows(self) -> list[Difference]:
        """All differences, those of means first."""
        return [*self.means, *self.summary.differences]

    def svg(self) -> Svg:
        """Draw the dot plot."""
        rows = []
        if self.means:
            rows += [DotsRow(label="Means", heading=True), *map(self._row, self.means)]
        for group in self.groups:
            rows.append(DotsRow(label=f"{group.title}: {group.tally}", heading=True))
            rows += map(self._row, group.differences)
        counts = self.summary.counts
        return dots_with_intervals(
            Dots(
                rows=rows,
                title=self.title,
                description=f"{counted(len(self.summary.differences), 'benchmark')}: {counts['win']} wins, "
                f"{counts['tie']} ties, {counts['loss']} losses of {self.first.title}, {counts['untested']} untested. "
                f"Mean difference {self.mean_texts[0]}.",
                x_title=f"difference of {self.question.board.values} scores",
                kinds=("win", "loss", "", "", "tie: interval includes 0", "", "", "not tested"),
                reference=0.0,
            )
        )

    def _row(self, row: Difference) -> DotsRow:
        interval = "" if np.isnan(row.test.low) else f" ({range_text(row.test.low, row.test.high)})"
        scores = [f"{model.title}: {number_text(score)}" for model, score in zip(self.models, row.scores, strict=True)]
        outcome = f"{row.title}: {row.outcome}{f' ({row.condition})' if row.condition else ''}"
        return DotsRow(
            label=row.title,
            value=row.test.difference,
            low=row.test.low,
            high=row.test.high,
            href=None if row.version is None else benchmark_href(row.identifier),
            text=row.text,
            hint="\n".join([outcome, row.text + interval, *scores]),
            kind=_KINDS[row.outcome],
        )

    def table(self) -> Table:
        """Return one row per mean and benchmark, including benchmarks without one of the scores."""
        scores = [name for model in self.names for name in (model, f"{model}:error")]
        names = ["benchmark", "version", "group", *scores, "difference", "error", "low", "high", "outcome", "condition"]

        def rows() -> Iterator[Sequence[object]]:
            for title, differences in [("mean", self.means), *self.groups]:
                for row in differences:
                    (first, second), errors, test = row.scores, row.errors, row.test
                    scores = first, errors[0], second, errors[1]
                    numbers = test.difference, test.error, test.low, test.high
                    yield row.identifier, row.version or "", title, *scores, *numbers, row.outcome, row.condition
            for one in self.absent:
                scores = one.scores[0], math.nan, one.scores[1], math.nan
                why = f"first {one.states[0]}, second {one.states[1]}"
                yield one.identifier, one.version, one.group, *scores, *[math.nan] * 4, why, ""

        return names, rows()

    def _notes(self, board: Board, rows: Sequence[int]) -> Iterator[Note]:
        if self.first == self.second:
            yield Note("This compares a model with itself.")
        yield _METHOD
        yield Note(
            "Each interval has a confidence of 95 % on its own: without any differences, up to one benchmark in twenty "
            "counts as a win or loss."
        )
        if self.summary.counts["untested"]:
            yield Note(f"Some benchmarks are {NOT_TESTED}.")
        if self.first != self.second and self.first.family and self.first.family == self.second.family:
            yield Note(f"Both models are of the family {self.first.family}.")
        yield from _notes_on_gaps(board, self.question, rows)


def without_models(question: Question) -> Question:
    """Return the question without filters on models, since models are chosen."""
    return question.changed(**{name: DEFAULTS[name] for name in MODEL_FILTERS if name != "mine"})


class SeveralModels:
    """The chosen models, at most six, side by side over the benchmarks of the tree that pass the filters."""

    def __init__(self, board: Board, question: Question) -> None:
        self.question = question
        chosen = [name for name in (question.first, question.second, *question.others) if name]
        snapshot_rows = list(dict.fromkeys(model_row(board.snapshot, name) for name in chosen))
        position = {row: index for index, row in enumerate(board.rows.tolist())}
        self.rows = [position[row] for row in snapshot_rows][:MOST_MODELS]  # on the board
        self.models = [board.models[row] for row in self.rows]
        self.names = [model.identifier for model in self.models]
        leaves, means = _compared_nodes(board, depth=2)
        self.means, self.benchmarks = (
            [column(board, board.nodes[place].identifier) for place in places] for places in (means, leaves)
        )
        self.groups = {board.nodes[place].identifier: group_of(board, place) for place in leaves}
        self.tested_on = board.nodes[means[0]].title if means else "the mean of these benchmarks"

        def difference(first: int, second: int) -> PairedTest | None:
            if first == second:
                return None
            return _test(board, means[0], first, second) if means else _mean_test(board, leaves, first, second)

        # of each model (row) and each other one (column) on the first mean; the diagonal is None
        self.differences = [[difference(first, second) for second in self.rows] for first in self.rows]
        number = len(snapshot_rows)
        excess = f"{number} models were chosen. These are the first {MOST_MODELS} of them."
        self.notes = (
            *([Note(excess)] if number > MOST_MODELS else []),
            _METHOD,
            *_notes_on_gaps(board, question, self.rows),
        )

    @property
    def title(self) -> str:
        """Title of the comparison."""
        return f"{len(self.models)} models"

    @property
    def tables(self) -> list[list[tuple[str, list[tuple[str, bool]]]]]:
        """Titles of the means, and of the benchmarks, with the models' scores as text, the highest of them marked."""
        return [
            [(scores.title, self._texts(scores)) for scores in columns] for columns in (self.means, self.benchmarks)
        ]

    def _texts(self, scores: Column) -> list[tuple[str, bool]]:
        values = scores.values[self.rows]
        highest = np.nanmax(values) if np.isfinite(values).any() else np.nan
        return [(scores.text(row), bool(value == highest)) for row, value in zip(self.rows, values, strict=True)]

    def outcomes(self) -> Iterator[tuple[ModelRow, list[tuple[str, str, str]]]]:
        """Iterate over models with their outcomes against each model: a word, the difference, the query of the two."""

        def texts(test: PairedTest | None) -> tuple[str, str]:
            if test is None:
                return "", ""
            if np.isnan(test.low):
                return "not tested", ""
            word = "higher" if test.low > 0 else "lower" if test.high < 0 else "not distinguished"
            return word, f"{number_text(test.difference, plus=True)} ({range_text(test.low, test.high)})"

        for model, row in zip(self.models, self.differences, strict=True):
            pairs = [self.question.changed(first=model.identifier, second=name, models=()) for name in self.names]
            yield model, [(*texts(test), pair.query()) for test, pair in zip(row, pairs, strict=True)]

    def svg(self) -> Svg:
        """Draw the means of all models with their intervals."""
        rows: list[DotsRow] = []
        for scores in self.means or self.benchmarks:
            rows.append(DotsRow(label=scores.title, heading=True))
            for kind, (model, row) in enumerate(zip(self.models, self.rows, strict=True)):
                value, _, low, high, _ = scores.cells(row)
                text, known = scores.text(row), np.isfinite(value)
                rows.append(
                    DotsRow(
                        label=model.title,
                        value=value,
                        low=low,
                        high=high,
                        text=number_text(value) if known else "",
                        state="" if known else text,
                        hint=f"{model.title}\n{scores.title}: {text}",
                        kind=kind,
                    )
                )
        titles = ", ".join(model.title for model in self.models)
        return dots_with_intervals(
            Dots(
                rows=rows,
                title=self.title,
                description=f"Scores of {titles} with 95 % intervals.",
                x_title=f"{self.question.board.values} score",
            )
        )

    def table(self) -> Table:
        """Return one row per mean or benchmark and model."""
        rows = (
            [of.identifier, self.groups.get(of.identifier, "mean"), name, *of.cells(row), of.condition]
            for of in (*self.means, *self.benchmarks)
            for name, row in zip(self.names, self.rows, strict=True)
        )
        return ["benchmark", "group", "model", "value", "error", "low", "high", "state", "condition"], rows


def _compared_nodes(board: Board, *, depth: int) -> tuple[list[int], list[int]]:
    """Return the benchmarks of the tree, and the means down to a depth; a UserError if there are no benchmarks.

    Benchmarks outside the tree are compared only if there are no others.
    """
    leaves: list[int] = []
    means: list[int] = []
    for place, node in enumerate(board.nodes):
        if node.kind == "heading" and leaves:
            break
        if node.kind == "benchmark":
            leaves.append(place)
        elif node.kind == "mean" and node.depth <= depth:
            means.append(place)
    if not leaves:
        raise UserError("no benchmark passes the filters", remedy="remove filters")
    return leaves, means


def _difference(board: Board, place: int, rows: Sequence[int]) -> Difference:
    node, test = board.nodes[place], _test(board, place, *rows)
    first, second = scores = board.values[rows, place].tolist()
    if np.isnan(test.low):
        test = test._replace(difference=first - second)
    version = board.snapshot.benchmarks[node.column].version if node.column >= 0 else None
    errors = board.errors[rows, place].tolist()
    return Difference(node.identifier, node.title, version, scores, errors, test, board.condition(place))


def _test(board: Board, place: int, first: int, second: int) -> PairedTest:
    """Test the difference at a node on the benchmarks at or below it on which both models were scored."""
    return _tested(board, *mean_parts(board.nodes, place), first, second)


def _mean_test(board: Board, places: Sequence[int], first: int, second: int) -> PairedTest:
    """Test the mean difference over some benchmarks, with equal weights."""
    columns = np.array([board.nodes[place].column for place in places], dtype=np.intp)
    return _tested(board, columns, np.full(len(columns), 1 / max(len(columns), 1)), first, second)


def _tested(
    board: Board, columns: NDArray[np.intp], weights: NDArray[np.float64], first: int, second: int
) -> PairedTest:
    rows, snapshot = board.rows[[first, second]], board.snapshot
    values = (snapshot.raw if board.state.values == "raw" else snapshot.value)[np.ix_(rows, columns)]
    influences = influences_on(snapshot, board.state, rows, columns)
    return compare_means(values, influences, weights, snapshot.names(columns))


def _chosen_models(board: Board, question: Question, leaves: Sequence[int]) -> list[int]:
    """Return indices of the two models on the board.

    By default, they are the first ones in the order of the board that have a benchmark in common; the first ones if no
    two models have.
    """
    rows = board.rows.tolist()
    chosen = [rows.index(model_row(board.snapshot, name)) if name else -1 for name in (question.first, question.second)]
    if min(chosen) >= 0:
        return chosen
    scored = np.isfinite(board.values[:, leaves])
    given = max(chosen)
    for model in range(len(rows)) if given < 0 else [given]:
        others = (scored & scored[model]).any(axis=1)
        others[model] = False
        if others.any():
            break
    else:
        model, others = max(given, 0), np.arange(len(rows)) != max(given, 0)
    other = int(np.argmax(others))
    return [other, model] if chosen[1] >= 0 else [model, other]


def _absent(board: Board, place: int, rows: Sequence[int]) -> Absent:
    node, values = board.nodes[place], board.values[rows, place].tolist()
    states = [STATES[board.states[row, place]] for row in rows]
    if board.state.values == "raw":  # a score may have no raw value
        pairs = zip(states, values, strict=True)
        states = ["no raw score" if state == "scored" and value != value else state for state, value in pairs]
    version = board.snapshot.benchmarks[node.column].version
    return Absent(node.identifier, node.title, group_of(board, place), version, states, values)


_METHOD = Note(
    "Differences are tested on the stimuli, neuroids and subjects that both scores share. A mean is compared on the "
    "benchmarks that both models have; its interval includes what may differ on the benchmarks that one of them lacks, "
    f"estimated from the differences between the others. {ASSUMPTION}"
)


def _notes_on_gaps(board: Board, question: Question, rows: Sequence[int]) -> Iterator[Note]:
    """Whether missing scores of these models count as 0 in means that are shown."""
    roots = [place for place, node in enumerate(board.nodes) if node.kind == "mean" and node.depth <= 1]
    at = np.ix_(rows, roots)
    incomplete = (board.n_scored[at] < board.n_all[at]) & np.isfinite(board.values[at]).all(axis=0)
    if question.board.over == "all" and incomplete.any():
        yield question.without_gaps("Missing scores count as 0 in means.")
