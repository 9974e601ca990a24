"""Results of a model over time: its ranks, its means, and benchmarks on which it was scored more than once; charts.

The mean of a past day is what the leaderboard showed then, for today's tree: scores made until that day, of the
versions that counted then, over the benchmarks that existed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.figures import Lines, Series, Svg, lines
from brainscore_core.results.aggregates import averages
from brainscore_core.results.board import covered
from brainscore_web.leaderboard.board import board_nodes, mean_parts
from brainscore_web.leaderboard.cards.formatting import axis_of, estimate, spark
from brainscore_web.leaderboard.cards.scores import ScoreLine
from brainscore_web.leaderboard.clean import finite, or_nan
from brainscore_web.leaderboard.filters import counting_benchmarks
from brainscore_web.leaderboard.models import Score, StoredInfluence
from brainscore_web.leaderboard.snapshot import NOT_RUN, NUMBERS, STATES, Snapshot, VersionHistory, scores_at
from brainscore_web.leaderboard.state import COVERAGE


class MeanPoint(NamedTuple):
    """A mean on one day; None if too few of its benchmarks were scored."""

    day: date
    value: float | None
    error: float | None
    n_scored: int
    n_all: int

    @property
    def limits(self) -> tuple[float, float]:
        """Its 95 % interval: 1.96 standard errors to both sides; NaN without one."""
        value, spread = or_nan(self.value), 1.96 * or_nan(self.error)
        return value - spread, value + spread

    @property
    def text(self) -> str:
        """The mean and its interval."""
        return estimate(self.value, None, *self.limits)


class MeanHistory(NamedTuple):
    """A mean over time."""

    identifier: str
    title: str
    points: Sequence[MeanPoint]


class Rescored(NamedTuple):
    """A benchmark on which a model has more than one result, oldest first, and the version that counts."""

    benchmark: str
    points: Sequence[ScoreLine]
    current: str


def rescored(scores: Iterable[ScoreLine], versions: Mapping[str, str]) -> list[Rescored]:
    """Return benchmarks with more than one result; `versions` are those that count, and give the order."""
    results: dict[str, list[ScoreLine]] = {name: [] for name in versions}
    for score in scores:
        results.setdefault(score.benchmark, []).append(score)
    return [
        Rescored(name, sorted(points, key=lambda point: (point.created, point.receipt)), versions.get(name, ""))
        for name, points in results.items()
        if len(points) > 1
    ]


def newest(results: Sequence[Rescored], most: int) -> list[Rescored]:
    """Return the benchmarks with the newest results, at most `most`, in the same order."""
    chosen = sorted(range(len(results)), key=lambda number: results[number].points[-1].created)[-most:]
    return [results[number] for number in sorted(chosen)]


def moments(scored: Iterable[datetime], changed: Iterable[datetime], *, most: int = 24) -> tuple[date, ...]:
    """Return at most `most` days since the first score on which means may have changed.

    Examples
    --------
    >>> moments([datetime(2026, 1, 5, 12, tzinfo=UTC)], [datetime(2026, 3, 1, tzinfo=UTC)])
    (datetime.date(2026, 1, 5), datetime.date(2026, 3, 1))
    """
    days = {moment.astimezone(UTC).date() for moment in scored}
    if not days:
        return ()
    first = min(days)
    ordered = sorted(days | {day for moment in changed if (day := moment.astimezone(UTC).date()) > first})
    if len(ordered) <= most:
        return tuple(ordered)
    steps = np.linspace(first.toordinal(), ordered[-1].toordinal(), most).round().astype(int).tolist()
    return tuple(date.fromordinal(ordinal) for ordinal in dict.fromkeys(steps))


def means_chart(histories: Sequence[MeanHistory]) -> Svg:
    """Draw means over time; empty with less than two days."""
    series = [
        Series(
            name=history.title,
            x=[point.day for point in history.points],
            y=[or_nan(point.value) for point in history.points],
            low=[point.limits[0] for point in history.points],
            high=[point.limits[1] for point in history.points],
            labels=[
                f"{history.title}, {point.day}: {point.text}, {point.n_scored} of {point.n_all} benchmarks"
                for point in history.points
            ],
        )
        for history in histories
        if len(history.points) > 1
    ]
    if not series:
        return Svg("")
    return lines(
        Lines(
            series=series,
            title="Means over time",
            description="Each mean on the days on which it may have changed; the table below has the numbers.",
            x_title="date",
            y_title="mean score",
            width=360,
            height=280,
        )
    )


def history_lines(results: Iterable[Rescored]) -> list[dict[str, Any]]:
    """Return benchmarks with more than one result, with a chart; results of other versions are hollow in it."""
    return [
        {
            "benchmark": result.benchmark,
            "chart": spark(
                axis_of([or_nan(value) for point in result.points for value in (point.value, point.low, point.high)]),
                [
                    (point.created.timestamp(), point.value, point.low, point.high, point.version == result.current)
                    for point in result.points
                ],
            ),
            "points": [
                (point, estimate(*point.estimate) if point.state == "scored" else point.state)
                for point in result.points
            ],
        }
        for result in results
    ]


_SCORED, _MISSING, _OUTDATED, _NOT_RUN = (STATES.index(state) for state in ("scored", "missing", "outdated", NOT_RUN))
_OF_EVERY_VERSION = [STATES.index(state) for state in ("failed", "not applicable", NOT_RUN)]


class _Day(NamedTuple):
    """What counted at the end of a day; arrays of models × benchmarks with an index of the score, or -1."""

    day: date
    exists: NDArray[np.bool_]
    versions: tuple[str, ...]
    score: NDArray[np.int64]
    outdated: NDArray[np.bool_]


class _Past:
    """Scores of some models of a snapshot on some benchmarks of its tree, and which of them counted on past days."""

    def __init__(self, snapshot: Snapshot, models: Sequence[int], names: Sequence[str]) -> None:
        self.names, self.n_models = names, len(models)
        scores = scores_at(snapshot.revision)
        benchmarks = [snapshot.benchmarks[snapshot.benchmark_index[name]].pk for name in names]
        row = pd.Index(models).get_indexer(pd.Index(scores.model))
        there = np.flatnonzero(row >= 0)
        column = pd.Index(benchmarks).get_indexer(pd.Index(scores.benchmark[there]))
        there, self.columns = there[column >= 0], column[column >= 0]
        self.rows = row[there]
        self.pk, self.created = scores.pk[there], scores.created[there]
        self.version, version_names = pd.factorize(scores.version[there])
        self.version_codes = {name: code for code, name in enumerate(version_names)}
        # with one more item for -1
        self.state = np.append(scores.state[there], _MISSING)
        self.value, self.error = (
            np.append(scores.numbers[NUMBERS.index(name)][there], np.nan) for name in ("value", "error")
        )

    def at(self, day: date, versions: Mapping[str, VersionHistory]) -> _Day:
        """Return what counted at the end of a day, by the rule of the leaderboard."""
        end = datetime.combine(day, time.max, UTC)
        then = [versions[name].at(end) if name in versions else None for name in self.names]
        counting = tuple(of_benchmark[0] if of_benchmark else "" for of_benchmark in then)
        exists = np.array([of_benchmark is not None for of_benchmark in then], dtype=bool)
        n = int(np.searchsorted(self.created, np.datetime64(end.replace(tzinfo=None), "us"), side="right"))
        codes = np.array([self.version_codes.get(version, -1) for version in counting], dtype=np.int64)
        any_version = np.array([not version for version in counting], dtype=bool)
        rows, columns, states = self.rows[:n], self.columns[:n], self.state[:n]
        unversioned = (self.version[:n] == self.version_codes.get("", -2)) & np.isin(states, _OF_EVERY_VERSION)
        counts = (self.version[:n] == codes[columns]) | any_version[columns] | unversioned
        score = np.full((self.n_models, len(self.names)), -1, dtype=np.int64)
        for of_state in (states == _NOT_RUN, states != _NOT_RUN):  # any result counts before a pair that was not run
            chosen = np.flatnonzero(counts & exists[columns] & of_state)
            score[rows[chosen], columns[chosen]] = chosen  # sorted by time: the newest is last
        outdated = np.zeros(score.shape, dtype=bool)
        outdated[rows, columns] = True
        return _Day(day, exists, counting, score, outdated & (score < 0))


def mean_history(
    snapshot: Snapshot, model: str, versions: Mapping[str, VersionHistory], days: Iterable[date], nodes: Iterable[str]
) -> dict[str, list[MeanPoint]]:
    """Return the means of one model on several days."""
    names = snapshot.tree.benchmarks
    past = _Past(snapshot, [snapshot.models[snapshot.model_index[model]].pk], names)
    history: dict[str, list[MeanPoint]] = {node: [] for node in nodes}
    states = [state for day in sorted(days) if (state := past.at(day, versions)).exists.any()]
    for _, group in groupby(states, key=lambda state: state.exists.tobytes()):
        of_days = list(group)
        exists = of_days[0].exists
        score = np.concatenate([state.score[:, exists] for state in of_days])
        scored = past.state[score] == _SCORED
        values, errors = (np.where(scored, numbers[score], np.nan) for numbers in (past.value, past.error))
        means = averages(
            snapshot.tree.pruned(name for name, there in zip(names, exists, strict=True) if there), values, errors
        )
        for at, node in enumerate(means.nodes):
            for row, state in enumerate(of_days if node in history else ()):
                n_scored, n_all = int(means.n_scored[row, at]), int(means.n_all[at])
                shown = bool(covered(means.n_scored[row, at], means.n_all[at], COVERAGE))
                value, error = (finite(part[row, at]) if shown else None for part in (means.values, means.errors))
                history[node].append(MeanPoint(state.day, value, error, n_scored, n_all))
    return history


CAUSES = ("new benchmarks", "new versions", "new code", "new receipts", "other models")
"""What a step is split into."""


class RankStep(NamedTuple):
    """How the rank of a model changed between the ends of two days."""

    # start, end: the days
    start: date
    end: date
    # ranked_before, ranked_after: number of ranked models
    ranked_before: int
    ranked_after: int
    # the rank before, and after the exchange of each of :data:`CAUSES`; 0 if the model was not ranked then
    ranks: Sequence[int]

    @property
    def before(self) -> int:
        """The rank before; 0 if the model was not ranked."""
        return self.ranks[0]

    @property
    def after(self) -> int:
        """The rank after; 0 if the model was not ranked."""
        return self.ranks[-1]

    @property
    def parts(self) -> tuple[int | None, ...]:
        """For each cause, by how many places the model fell, negative if it rose; None if it got or lost its rank."""
        return tuple(after - before if (before > 0) == (after > 0) else None for before, after in pairwise(self.ranks))

    @property
    def texts(self) -> tuple[str, ...]:
        """The parts as text: ``'↑ 2'`` for a rise by two places, ``'↓ 1'`` for a fall; empty without a change."""
        texts = []
        for part, after in zip(self.parts, self.ranks[1:], strict=True):
            moved = f"{'↑' if part < 0 else '↓'} {abs(part)}" if part else ""
            texts.append(moved if part is not None else "ranked" if after else "no longer ranked")
        return tuple(texts)


def rank_steps(
    snapshot: Snapshot, model: str, versions: Mapping[str, VersionHistory], days: Sequence[date]
) -> list[RankStep]:
    """Return the steps between these days in which the rank changed, or a cause moved it."""
    ranks = _Ranks(snapshot, model)
    steps = [ranks.step(start, end) for start, end in pairwise(ranks.past.at(day, versions) for day in days)]
    return [step for step in steps if any(step.texts)]


class _Ranks:
    """The ranks of a model among all models of a snapshot, by the mean of the first root."""

    def __init__(self, snapshot: Snapshot, model: str) -> None:
        self.snapshot, self.row = snapshot, snapshot.model_index[model]
        tree = snapshot.tree
        root = next((name for name in tree.roots if not tree[name].benchmark), None)
        self.names = [name for name in tree.benchmarks if root and root in tree.ancestors(name)]
        self.tree = tree.pruned(self.names)
        self.past = past = _Past(snapshot, [row.pk for row in snapshot.models], self.names)
        biases = dict(StoredInfluence.objects.exclude(bias=0.0).order_by().values_list("score_id", "bias"))
        self.values = np.nan_to_num(past.value)  # as ranks are by: without biases
        if biases:
            self.values[:-1] -= [biases.get(pk, 0.0) for pk in past.pk.tolist()]
        # hash of the model's code in each of its receipts, by primary key of the score
        of_model = Score.objects.filter(model=snapshot.models[self.row].pk).order_by()
        self.codes: dict[int, Any] = dict(of_model.values_list("pk", "document__model__plugin__sha256"))
        self.weights: dict[bytes, NDArray[np.float64]] = {}

    def step(self, first: _Day, second: _Day) -> RankStep:
        """Return the step between two days."""
        new = second.exists & ~first.exists
        other_version = np.array([a != b for a, b in zip(first.versions, second.versions, strict=True)]) & ~new
        of_model = np.zeros(first.score.shape, dtype=bool)
        of_model[self.row] = True
        causes = [new, other_version, of_model & self._other_code(first.score, second.score), of_model, True]
        differs = (first.score != second.score) | (first.outdated != second.outdated)
        exchanged = np.zeros(of_model.shape, dtype=bool)
        ranks = [self._rank(first.score, first.outdated, first.exists)]
        for number, mask in enumerate(causes):
            if not (differs & mask & ~exchanged).any() and not (number == 0 and new.any()):
                ranks.append(ranks[-1])
                continue
            exchanged = exchanged | mask
            score = np.where(exchanged, second.score, first.score)
            ranks.append(self._rank(score, np.where(exchanged, second.outdated, first.outdated), second.exists))
        return RankStep(first.day, second.day, ranks[0][1], ranks[-1][1], [rank for rank, _ in ranks])

    def _other_code(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for which benchmarks the model's code differs between two results; as one row of flags."""
        differs = np.zeros(len(self.names), dtype=bool)
        for column in np.flatnonzero((first[self.row] != second[self.row]) & (first[self.row] >= 0)).tolist():
            keys = self.past.pk[[first[self.row, column], second[self.row, column]]].tolist()
            before, after = (self.codes.get(key) for key in keys)
            differs[column] = before is not None and after is not None and before != after
        return differs

    def _rank(
        self, score: NDArray[np.int64], outdated: NDArray[np.bool_], exists: NDArray[np.bool_]
    ) -> tuple[int, int]:
        """Return the rank of the model and the number of ranked models; rank 0 if it is not ranked."""
        if not exists.any():
            return 0, 0
        states = np.where(outdated, _OUTDATED, self.past.state[score])
        scored = states == _SCORED
        ranked = scored.any(axis=1) & covered(scored.sum(axis=1), np.full(len(scored), exists.sum()), COVERAGE)
        counts = exists.copy()
        counts[exists] = counting_benchmarks(states[:, exists].astype(np.int8), ranked, COVERAGE)
        values = np.where(scored, self.values[score], 0.0) @ self._weights(counts)
        ranked &= scored[:, counts].any(axis=1)
        if not ranked[self.row]:
            return 0, int(ranked.sum())
        higher = values[ranked] > values[self.row] + 1e-12
        return 1 + int(higher.sum()), int(ranked.sum())

    def _weights(self, counts: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weights of the benchmarks in the mean over those that count."""
        key = counts.tobytes()
        if key not in self.weights:
            columns = {name: at for at, name in enumerate(self.names) if counts[at]}
            rows, index = self.snapshot.benchmarks, self.snapshot.benchmark_index
            self.weights[key] = weights = np.zeros(len(self.names))
            if columns:
                pairs = [(at, rows[index[name]]) for name, at in columns.items()]
                at, shares = mean_parts(board_nodes(self.tree.pruned(columns), pairs), 0)
                weights[at] = shares
        return self.weights[key]
