"""Comparison of two or more models across benchmarks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
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
    benchmark_href,
    column,
    group_of,
    model_row,
)
from brainscore_web.leaderboard.board import Board, influences_on, mean_parts
from brainscore_web.leaderboard.filters import MODEL_FILTERS
from brainscore_web.leaderboard.snapshot import STATES, BenchmarkRow, ModelRow
from brainscore_web.leaderboard.state import BoardState

_KIND = {"win": 0, "loss": 1, "tie": 4, "untested": 7, None: 7}


@dataclass(frozen=True)
class Difference:
    """Two models on one benchmark, or their means."""

    # identifier, title: of the benchmark or node
    identifier: str
    title: str
    benchmark: BenchmarkRow | None  # the benchmark; None for a mean
    # first, second, first_error, second_error: the two scores; errors are NaN if not available
    first: float
    second: float
    first_error: float
    second_error: float
    # difference, error, low, high: first minus second, its standard error and 95 % interval, from the influences of the
    # units that both scores share; NaN if not tested. Means are compared on the benchmarks that both models have
    difference: float
    error: float
    low: float
    high: float
    outcome: Outcome  # ``'win'``, ``'tie'``, ``'loss'`` or ``'untested'``
    reason: str = ""  # why it is not tested
    condition: str = ""  # for which few subjects or groups alone the outcome holds; empty if it holds for new ones


class Summary(NamedTuple):
    """Differences over all benchmarks of the groups."""

    n: int  # number of benchmarks with a difference
    mean: PairedTest  # their mean difference, about the benchmarks that are tested; about all if none is
    # wins, ties, losses: number of benchmarks whose interval is above 0, contains 0, is below 0
    wins: int
    ties: int
    losses: int
    untested: int  # number of benchmarks whose difference is not tested. The four numbers add up to `n`


@dataclass(frozen=True)
class Absent:
    """A benchmark without one of the two scores."""

    # identifier, title, group, version: the benchmark, its group and its version
    identifier: str
    title: str
    group: str
    version: str
    # first, second: ``'scored'``, or why there is no score
    first: str
    second: str
    # first_value, second_value: NaN if there is none
    first_value: float
    second_value: float

    @property
    def why(self) -> str:
        """Why there is no difference."""
        return f"first {self.first}, second {self.second}"


@dataclass(frozen=True)
class Group:
    """Benchmarks of a region, the largest difference first."""

    title: str
    differences: tuple[Difference, ...]

    def count(self, outcome: str) -> int:
        """Return the number of differences with an outcome."""
        return sum(row.outcome == outcome for row in self.differences)

    @property
    def tally(self) -> str:
        """Wins, ties and losses in words."""
        counts = [
            (self.count("win"), "win", "wins"),
            (self.count("tie"), "tie", "ties"),
            (self.count("loss"), "loss", "losses"),
            (self.count("untested"), "untested", "untested"),
        ]
        return ", ".join(f"{n} {singular if n == 1 else plural}" for n, singular, plural in counts if n)


@dataclass(frozen=True, eq=False)
class TwoModels:
    """Result of the comparison."""

    # first, second: the models
    first: ModelRow
    second: ModelRow
    groups: tuple[Group, ...]  # groups of benchmarks, in the order of the tree
    summary: Summary  # summary over all benchmarks of the groups
    means: tuple[Difference, ...]  # differences of the roots of the tree and of the means directly below them
    absent: tuple[Absent, ...]  # benchmarks without a score of one or both models
    notes: tuple[Note, ...]  # caveats
    values: str  # ``'ceiled'`` or ``'raw'``

    @property
    def title(self) -> str:
        """Title of the comparison."""
        return f"{self.first.title} − {self.second.title}"

    @property
    def condition(self) -> str:
        """For which few subjects or groups alone the outcomes hold; empty if they hold for new ones."""
        return condition_of_all(row.condition for group in self.groups for row in group.differences)

    @property
    def mean_over(self) -> str:
        """What the mean difference is over."""
        n, untested = self.summary.n, self.summary.untested
        return "over these benchmarks" if untested in (0, n) else f"over the {n - untested} tested benchmarks"

    @property
    def mean(self) -> tuple[str, str]:
        """The mean difference over the benchmarks and its interval."""
        mean = self.summary.mean
        interval = "–" if np.isnan(mean.low) else range_text(mean.low, mean.high)
        return number_text(mean.difference, plus=True), interval

    @property
    def command(self) -> str:
        """Command of the paired test on the benchmark with the largest absolute difference."""
        rows = [row for group in self.groups for row in group.differences]
        name = max(rows, key=lambda row: abs(row.difference)).identifier if rows else "BENCHMARK"
        return shlex.join(["brainscore", "compare", self.first.identifier, self.second.identifier, "-b", name])

    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """Return all differences as text, with the conditions under which the outcomes hold."""
        return [
            (
                row.title,
                number_text(row.first),
                number_text(row.second),
                number_text(row.difference, plus=True),
                row.outcome,
                row.condition,
            )
            for differences in (self.means, *(group.differences for group in self.groups))
            for row in differences
        ]

    def description(self) -> str:
        """Return a description of the chart for screen readers."""
        summary = self.summary
        return (
            f"{counted(summary.n, 'benchmark')}: {summary.wins} wins, {summary.ties} ties, {summary.losses} losses of "
            f"{self.first.title}, {summary.untested} untested. "
            f"Mean difference {number_text(summary.mean.difference, plus=True)}."
        )

    def svg(self) -> Svg:
        """Draw the dot plot."""
        rows = []
        if self.means:
            rows += [DotsRow(label="Means", heading=True), *map(self._row, self.means)]
        for group in self.groups:
            rows.append(DotsRow(label=f"{group.title}: {group.tally}", heading=True))
            rows += map(self._row, group.differences)
        return dots_with_intervals(
            Dots(
                rows=rows,
                title=self.title,
                description=self.description(),
                x_title=f"difference of {self.values} scores",
                kinds=("win", "loss", "", "", "tie: interval includes 0", "", "", "not tested"),
                reference=0.0,
            )
        )

    def _row(self, row: Difference) -> DotsRow:
        text = number_text(row.difference, plus=True)
        interval = "" if np.isnan(row.low) else f" ({range_text(row.low, row.high)})"
        return DotsRow(
            label=row.title,
            value=row.difference,
            low=row.low,
            high=row.high,
            href=benchmark_href(row.identifier) if row.benchmark else None,
            text=text,
            hint=f"{row.title}: {row.outcome}{f' ({row.condition})' if row.condition else ''}\n{text}{interval}\n"
            f"{self.first.title}: {number_text(row.first)}\n{self.second.title}: {number_text(row.second)}",
            kind=_KIND[row.outcome],
        )


def without_models(question: Question) -> Question:
    """Return the question without filters on models, since models are chosen."""
    defaults = vars(BoardState())
    return question.changed(**{name: defaults[name] for name in MODEL_FILTERS if name != "mine"})


def two_models(board: Board, question: Question) -> TwoModels:
    """Compare two models over the benchmarks of the tree that pass the filters."""
    if len(board.rows) < 2:
        remedy = "choose a later day" if board.state.at else "more models must be scored first"
        raise UserError("there are fewer than two models to compare", remedy=remedy)
    leaves, means = _compared_nodes(board, depth=1)
    first, second = _chosen_models(board, question, leaves)
    tests = {place: _test(board, place, first, second) for place in (*leaves, *means)}
    values, errors = board.values[[first, second]], board.errors[[first, second]]
    both = np.isfinite(values[0]) & np.isfinite(values[1])
    groups: dict[str, list[Difference]] = {}
    for place in leaves:
        if both[place]:
            groups.setdefault(group_of(board, place), []).append(
                _difference(board, place, values[:, place], errors[:, place], tests[place])
            )
    tested = [place for place in leaves if both[place] and np.isfinite(tests[place].low)]
    outcomes = [row.outcome for rows in groups.values() for row in rows]
    absent = [_absent(board, place, first, second) for place in leaves if not both[place]]
    return TwoModels(
        first=board.models[first],
        second=board.models[second],
        groups=tuple(
            Group(title, tuple(sorted(rows, key=lambda row: -row.difference))) for title, rows in groups.items()
        ),
        summary=Summary(
            n=len(outcomes),
            mean=_mean_test(board, tested or [place for place in leaves if both[place]], first, second),
            wins=outcomes.count("win"),
            ties=outcomes.count("tie"),
            losses=outcomes.count("loss"),
            untested=outcomes.count("untested"),
        ),
        means=tuple(
            _difference(board, place, values[:, place], errors[:, place], tests[place])
            for place in means
            if both[place]
        ),
        absent=tuple(absent),
        notes=_notes(board, question, first, second, untested=bool(outcomes.count("untested"))),
        values=question.board.values,
    )


@dataclass(frozen=True, eq=False)
class SeveralModels:
    """Models side by side."""

    models: tuple[ModelRow, ...]
    rows: tuple[int, ...]  # their indices on the board
    # means, benchmarks: scores on the upper means, and on the benchmarks of the tree that pass the filters
    means: tuple[Column, ...]
    benchmarks: tuple[Column, ...]
    groups: dict[str, str]  # group of each benchmark
    # difference of each model (row) and each other one (column) on the first mean; the diagonal is None
    differences: tuple[tuple[PairedTest | None, ...], ...]
    tested_on: str  # title of the mean that the differences are on
    notes: tuple[Note, ...]
    values: str  # ``'ceiled'`` or ``'raw'``

    @property
    def title(self) -> str:
        """Title of the comparison."""
        return f"{len(self.models)} models"

    def table(self, columns: Sequence[Column]) -> list[tuple[str, list[tuple[str, bool]]]]:
        """Return the title of each benchmark or mean, and the models' scores as text, with the highest marked."""
        table = []
        for scores in columns:
            values = scores.values[list(self.rows)]
            highest = np.nanmax(values) if np.isfinite(values).any() else np.nan
            texts = [(scores.text(row), bool(value == highest)) for row, value in zip(self.rows, values, strict=True)]
            table.append((scores.title, texts))
        return table

    def outcomes(self) -> list[tuple[ModelRow, list[tuple[str, str]]]]:
        """Return for each model the outcome against each model, and the difference as text; empty for itself."""

        def texts(test: PairedTest | None) -> tuple[str, str]:
            if test is None:
                return "", ""
            if np.isnan(test.low):
                return "not tested", ""
            word = "higher" if test.low > 0 else "lower" if test.high < 0 else "not distinguished"
            return word, f"{number_text(test.difference, plus=True)} ({range_text(test.low, test.high)})"

        return [
            (model, [texts(test) for test in row]) for model, row in zip(self.models, self.differences, strict=True)
        ]

    def svg(self) -> Svg:
        """Draw the means of all models with their intervals."""
        rows: list[DotsRow] = []
        for scores in self.means or self.benchmarks:
            rows.append(DotsRow(label=scores.title, heading=True))
            for kind, (model, row) in enumerate(zip(self.models, self.rows, strict=True)):
                text = scores.text(row)
                value = float(scores.values[row])
                rows.append(
                    DotsRow(
                        label=model.title,
                        value=value,
                        low=float(scores.low[row]),
                        high=float(scores.high[row]),
                        text=number_text(value) if np.isfinite(value) else "",
                        state="" if np.isfinite(value) else text,
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
                x_title=f"{self.values} score",
            )
        )


def several_models(board: Board, question: Question) -> SeveralModels:
    """Compare the chosen models, at most six, over the benchmarks of the tree that pass the filters."""
    names = [name for name in (question.first, question.second, *question.others) if name]
    snapshot_rows = list(dict.fromkeys(model_row(board.snapshot, name) for name in names))
    position = {row: index for index, row in enumerate(board.rows.tolist())}
    rows = [position[row] for row in snapshot_rows][:MOST_MODELS]
    leaves, means = _compared_nodes(board, depth=2)
    tested = means[:1] or leaves
    notes = [_METHOD]
    if len(snapshot_rows) > len(rows):
        notes.insert(0, Note(f"{len(snapshot_rows)} models were chosen. These are the first {MOST_MODELS} of them."))
    if _gaps_count(board, question, rows):
        notes.append(_leave_out_gaps(question))

    def difference(first: int, second: int) -> PairedTest | None:
        if first == second:
            return None
        return _test(board, tested[0], first, second) if means else _mean_test(board, tested, first, second)

    return SeveralModels(
        models=tuple(board.models[row] for row in rows),
        rows=tuple(rows),
        means=tuple(column(board, board.nodes[place].identifier) for place in means),
        benchmarks=tuple(column(board, board.nodes[place].identifier) for place in leaves),
        groups={board.nodes[place].identifier: group_of(board, place) for place in leaves},
        differences=tuple(tuple(difference(first, second) for second in rows) for first in rows),
        tested_on=board.nodes[tested[0]].title if means else "the mean of these benchmarks",
        notes=tuple(notes),
        values=question.board.values,
    )


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


def _difference(
    board: Board, place: int, values: NDArray[np.float64], errors: NDArray[np.float64], test: PairedTest
) -> Difference:
    node = board.nodes[place]
    outcome: Outcome = "tie"
    if np.isnan(test.low):
        outcome = "untested"
    elif test.low > 0 or test.high < 0:
        outcome = "win" if test.low > 0 else "loss"
    return Difference(
        identifier=node.identifier,
        title=node.title,
        benchmark=board.snapshot.benchmarks[node.column] if node.column >= 0 else None,
        first=float(values[0]),
        second=float(values[1]),
        first_error=float(errors[0]),
        second_error=float(errors[1]),
        difference=float(values[0] - values[1]) if outcome == "untested" else test.difference,
        error=test.error,
        low=test.low,
        high=test.high,
        outcome=outcome,
        reason=test.reason or "",
        condition=board.condition(place),
    )


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
    rows = board.rows[[first, second]]
    snapshot = board.snapshot
    values = (snapshot.raw if board.state.values == "raw" else snapshot.value)[np.ix_(rows, columns)]
    influences = influences_on(snapshot, board.state, rows, columns)
    return compare_means(values, influences, weights, snapshot.names(columns))


def _chosen_models(board: Board, question: Question, leaves: Sequence[int]) -> tuple[int, int]:
    """Return indices of the models on the board.

    By default, they are the first ones in the order of the board that have a benchmark in common; the first ones if no
    two models have.
    """
    rows = board.rows.tolist()
    chosen = [rows.index(model_row(board.snapshot, name)) if name else -1 for name in (question.first, question.second)]
    if min(chosen) >= 0:
        return chosen[0], chosen[1]
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
    return (other, model) if chosen[1] >= 0 else (model, other)


def _absent(board: Board, place: int, first: int, second: int) -> Absent:
    node, values = board.nodes[place], board.values[[first, second], place].tolist()
    states = [STATES[board.states[model, place]] for model in (first, second)]
    if board.state.values == "raw":  # a score may have no raw value
        pairs = zip(states, values, strict=True)
        states = ["no raw score" if state == "scored" and value != value else state for state, value in pairs]
    return Absent(
        identifier=node.identifier,
        title=node.title,
        group=group_of(board, place),
        version=board.snapshot.benchmarks[node.column].version,
        first=states[0],
        second=states[1],
        first_value=values[0],
        second_value=values[1],
    )


_METHOD = Note(
    "Differences are tested on the stimuli, neuroids and subjects that both scores share. A mean is compared on the "
    "benchmarks that both models have; its interval includes what may differ on the benchmarks that one of them lacks, "
    f"estimated from the differences between the others. {ASSUMPTION}"
)


def _gaps_count(board: Board, question: Question, rows: Sequence[int]) -> bool:
    """Whether missing scores of these models count as 0 in means that are shown."""
    roots = [place for place, node in enumerate(board.nodes) if node.kind == "mean" and node.depth <= 1]
    incomplete = (board.n_scored[list(rows)] < board.n_all[list(rows)])[:, roots]
    incomplete &= np.isfinite(board.values[list(rows)][:, roots]).all(axis=0)
    return question.board.over == "all" and bool(incomplete.any())


def _leave_out_gaps(question: Question) -> Note:
    remedy = question.changed(over="scored").query()
    return Note("Missing scores count as 0 in means.", "Leave out missing scores", remedy)


def _notes(board: Board, question: Question, first: int, second: int, *, untested: bool) -> tuple[Note, ...]:
    notes = [
        _METHOD,
        Note(
            "Each interval has a confidence of 95 % on its own: without any differences, up to one benchmark in twenty "
            "counts as a win or loss."
        ),
    ]
    if untested:
        notes.append(Note(f"Some benchmarks are {NOT_TESTED}."))
    if board.rows[first] == board.rows[second]:
        notes.insert(0, Note("This compares a model with itself."))
    families = {board.models[row].family for row in (first, second)}
    if len(families) == 1 and "" not in families and board.rows[first] != board.rows[second]:
        notes.append(Note(f"Both models are of the family {families.pop()}."))
    if _gaps_count(board, question, (first, second)):
        notes.append(_leave_out_gaps(question))
    return tuple(notes)
