"""Two models across benchmarks."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.figures import Dots, DotsRow, Svg, dots_with_intervals
from brainscore_core.numerics.significance import Outcome, PairedSummary, paired_summary
from brainscore_web.compare.question import Note, Question, benchmark_href, group_of, model_row, signed
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.snapshot import STATES, BenchmarkRow, ModelRow

__all__ = ["Absent", "Difference", "Group", "TwoModels", "two_models", "without_models"]

_MODEL_FILTERS = {
    "q": "",
    "family": (),
    "architecture": (),
    "training": (),
    "parameters_min": None,
    "parameters_max": None,
    "size_min": None,
    "size_max": None,
    "runnable": False,
}
_KIND = {"win": 0, "loss": 1, "tie": 4, "untested": 7, None: 7}


@dataclass(frozen=True)
class Difference:
    """Two models on one benchmark, or their means.

    Attributes
    ----------
    identifier, title : str
        Of the benchmark or node.
    benchmark : BenchmarkRow or None
        None of a mean.
    first, second, first_error, second_error : float
        The two scores; errors are NaN where there are none.
    difference, error, low, high : float
        First less second, its standard error √(error² + error²) and 95 % interval.
    outcome : str
        ``'win'``, ``'tie'``, ``'loss'`` or ``'untested'``.
    """

    identifier: str
    title: str
    benchmark: BenchmarkRow | None
    first: float
    second: float
    first_error: float
    second_error: float
    difference: float
    error: float
    low: float
    high: float
    outcome: Outcome


@dataclass(frozen=True)
class Absent:
    """A benchmark without one of the two scores.

    Attributes
    ----------
    identifier, title, group, version : str
        Of the benchmark.
    first, second : str
        ``'scored'``, or why there is no score.
    first_value, second_value : float
        NaN where there is none.
    """

    identifier: str
    title: str
    group: str
    version: str
    first: str
    second: str
    first_value: float
    second_value: float

    @property
    def why(self) -> str:
        """Why there is no difference, in words."""
        return f"first {self.first}, second {self.second}"


@dataclass(frozen=True)
class Group:
    """Benchmarks of a region, the largest difference first."""

    title: str
    differences: tuple[Difference, ...]

    def count(self, outcome: str) -> int:
        """How many came out so."""
        return sum(one.outcome == outcome for one in self.differences)

    @property
    def tally(self) -> str:
        """Wins, ties and losses in words."""
        counts = [
            (self.count("win"), "win", "wins"),
            (self.count("tie"), "tie", "ties"),
            (self.count("loss"), "loss", "losses"),
            (self.count("untested"), "untested", "untested"),
        ]
        return ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts if n)


@dataclass(frozen=True, eq=False)
class TwoModels:
    """What came of it.

    Attributes
    ----------
    first, second : ModelRow
        The models.
    groups : tuple of Group
        In the tree's order.
    summary : PairedSummary
        Over all benchmarks of the groups.
    means : tuple of Difference
        Of the roots of the tree and what is directly below them.
    absent : tuple of Absent
        Benchmarks that one of the two, or both, lack.
    notes : tuple of Note
        What to bear in mind.
    values : str
        ``'ceiled'`` or ``'raw'``.
    """

    first: ModelRow
    second: ModelRow
    groups: tuple[Group, ...]
    summary: PairedSummary
    means: tuple[Difference, ...]
    absent: tuple[Absent, ...]
    notes: tuple[Note, ...]
    values: str

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.first.title} − {self.second.title}"

    @property
    def mean(self) -> tuple[str, str]:
        """The mean difference and its interval."""
        found = self.summary.mean
        interval = "–" if np.isnan(found.low) else f"{signed(found.low, plus=True)} to {signed(found.high, plus=True)}"
        return signed(found.difference, plus=True), interval

    @property
    def command(self) -> str:
        """How the paired test is made, on the benchmark with the largest difference either way."""
        all_of_them = [one for group in self.groups for one in group.differences]
        name = max(all_of_them, key=lambda one: abs(one.difference)).identifier if all_of_them else "BENCHMARK"
        return shlex.join(["brainscore", "compare", self.first.identifier, self.second.identifier, "-b", name])

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """All differences as texts."""
        return [
            (one.title, signed(one.first), signed(one.second), signed(one.difference, plus=True), one.outcome)
            for differences in (self.means, *(group.differences for group in self.groups))
            for one in differences
        ]

    def description(self) -> str:
        """What is to be seen, in words."""
        found = self.summary
        return (
            f"{found.n} benchmarks: {found.wins} wins, {found.ties} ties, {found.losses} losses of {self.first.title}, "
            f"{found.untested} without a standard error. Mean difference {signed(found.mean.difference, plus=True)}."
        )

    def svg(self) -> Svg:
        """The dot plot."""
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
                kinds=("win", "loss", "", "", "tie: interval includes 0", "", "", "no standard error"),
                reference=0.0,
            )
        )

    def _row(self, one: Difference) -> DotsRow:
        text = signed(one.difference, plus=True)
        interval = "" if np.isnan(one.low) else f" [{signed(one.low)}, {signed(one.high)}]"
        return DotsRow(
            label=one.title,
            value=one.difference,
            low=one.low,
            high=one.high,
            href=benchmark_href(one.identifier) if one.benchmark else None,
            text=text,
            hint=f"{one.title}: {one.outcome}\n{text}{interval}\n"
            f"{self.first.title}: {signed(one.first)}\n{self.second.title}: {signed(one.second)}",
            kind=_KIND[one.outcome],
        )


def without_models(question: Question) -> Question:
    """The same without filters on models: the two are named."""
    return question.changed(**_MODEL_FILTERS)


def two_models(board: Board, question: Question) -> TwoModels:
    """Compare two models over the benchmarks of the means that pass the filters.

    Parameters
    ----------
    board : Board
        Without filters on models.
    question : Question
        Says which; without it the two that rank best.

    Raises
    ------
    UserError
        If a model is not known, or there are not two.
    """
    first, second = (list(board.rows).index(row) for row in _chosen_models(board, question))
    leaves, means = [], []
    for place, node in enumerate(board.nodes):
        if node.kind == "heading":
            break  # what stands apart is not compared
        if node.kind == "benchmark":
            leaves.append(place)
        elif node.depth <= 1:
            means.append(place)
    if not leaves:
        raise UserError("no benchmark of the means passes the filters", remedy="remove some of them")
    values, errors = board.values[[first, second]], board.errors[[first, second]]
    difference, error = values[0] - values[1], np.hypot(errors[0], errors[1])
    both = np.isfinite(difference)
    summary = paired_summary(difference[leaves], error[leaves])
    of_means = paired_summary(difference[means], error[means])

    def made(place: int, outcome: Outcome | None, limits: NDArray[np.float64]) -> Difference:
        node = board.nodes[place]
        return Difference(
            identifier=node.identifier,
            title=node.title,
            benchmark=board.snapshot.benchmarks[node.column] if node.column >= 0 else None,
            first=float(values[0, place]),
            second=float(values[1, place]),
            first_error=float(errors[0, place]),
            second_error=float(errors[1, place]),
            difference=float(difference[place]),
            error=float(error[place]),
            low=float(limits[0]),
            high=float(limits[1]),
            outcome=outcome or "untested",
        )

    groups: dict[str, list[Difference]] = {}
    for number, place in enumerate(leaves):
        if both[place]:
            one = made(place, summary.outcomes[number], summary.limits[number])
            groups.setdefault(group_of(board, place), []).append(one)
    absent = [_absent(board, place, first, second) for place in leaves if not both[place]]
    return TwoModels(
        first=board.models[first],
        second=board.models[second],
        groups=tuple(
            Group(title, tuple(sorted(found, key=lambda one: -one.difference))) for title, found in groups.items()
        ),
        summary=summary,
        means=tuple(
            made(place, of_means.outcomes[number], of_means.limits[number])
            for number, place in enumerate(means)
            if both[place]
        ),
        absent=tuple(absent),
        notes=_notes(board, question, first, second),
        values=question.board.values,
    )


def _chosen_models(board: Board, question: Question) -> tuple[int, int]:
    """Rows of the snapshot; where none is named, of the best that is not the other."""
    rows = [model_row(board.snapshot, name) if name else -1 for name in (question.first, question.second)]
    for place in (0, 1):
        if rows[place] < 0:
            rows[place] = next((row for row in board.rows.tolist() if row not in rows), -1)
    if min(rows) < 0:
        remedy = "choose a later day" if board.state.at else "more models must be scored first"
        raise UserError("there are not two models to compare", remedy=remedy)
    return rows[0], rows[1]


def _absent(board: Board, place: int, first: int, second: int) -> Absent:
    node, values = board.nodes[place], board.values[[first, second], place].tolist()
    states = [STATES[board.states[model, place]] for model in (first, second)]
    if board.state.values == "raw":  # a score may have been kept without the raw one
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


def _notes(board: Board, question: Question, first: int, second: int) -> tuple[Note, ...]:
    notes = [
        Note(
            "Each interval takes the standard errors of the two scores as independent. Both models saw the same "
            "stimuli, so errors tend to go together: intervals are then too wide, and a tie may hide a difference."
        ),
        Note(
            "Intervals hold one by one, at 95 %: of benchmarks without any difference up to one in twenty counts as a "
            "win or loss."
        ),
        Note(
            "The interval of the mean takes benchmarks as drawn independently; those of one data set go together, and "
            "it is then too narrow."
        ),
    ]
    if board.rows[first] == board.rows[second]:
        notes.insert(0, Note("This is one model, against itself."))
    families = {board.models[one].family for one in (first, second)}
    if len(families) == 1 and "" not in families and board.rows[first] != board.rows[second]:
        notes.append(Note(f"Both models are of the family {families.pop()}."))
    roots = [place for place, node in enumerate(board.nodes) if node.kind == "mean" and node.depth <= 1]
    lacking = (board.n_scored[[first, second]] < board.n_all[[first, second]])[:, roots]
    if question.board.over == "all" and lacking.any():
        notes.append(
            Note(
                "In the means what has no score counts as 0.",
                "Leave out what is missing",
                question.changed(over="scored").query(),
            )
        )
    return tuple(notes)
