"""Results of a model over time: its ranks, its means, and benchmarks on which it was scored more than once; charts.

The mean of a past day is what the leaderboard showed then, for today's tree: scores made until that day, of the
versions that counted then, over the benchmarks that existed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from brainscore_core.figures import Lines, Series, Svg, lines
from brainscore_core.results.aggregates import LEAF_STATES, Tree, TreeNode, averages, counting
from brainscore_core.results.board import covered
from brainscore_web.leaderboard.board import board_nodes, mean_parts
from brainscore_web.leaderboard.cards.formatting import axis_of, estimate, spark
from brainscore_web.leaderboard.clean import or_nan
from brainscore_web.leaderboard.filters import counting_benchmarks
from brainscore_web.leaderboard.models import Score, StoredInfluence
from brainscore_web.leaderboard.reasons import NOT_RUN
from brainscore_web.leaderboard.snapshot import NUMBERS, STATES, Snapshot, all_scores, versions_on
from brainscore_web.leaderboard.state import COVERAGE

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class ScorePoint(NamedTuple):
    """One score of a model."""

    benchmark: str
    version: str
    state: str
    value: float | None
    error: float | None
    created: datetime
    receipt: str
    reason: str = ""
    low: float | None = None
    high: float | None = None


class VersionSince(NamedTuple):
    """The start of a benchmark version."""

    benchmark: str
    version: str
    since: datetime


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


@dataclass(frozen=True, kw_only=True)
class MeanHistory:
    """A mean over time."""

    identifier: str
    title: str
    points: tuple[MeanPoint, ...]


@dataclass(frozen=True, kw_only=True)
class Rescored:
    """A benchmark on which a model has more than one result, oldest first."""

    benchmark: str
    points: tuple[ScorePoint, ...]
    current: str

    @property
    def change(self) -> float | None:
        """Last score minus first score of the latest version; None with less than two scores."""
        values = [
            point.value for point in self.points if point.version == self.points[-1].version and point.value is not None
        ]
        return values[-1] - values[0] if len(values) > 1 else None


def rescored(scores: Iterable[ScorePoint], order: Sequence[str], versions: Mapping[str, str]) -> tuple[Rescored, ...]:
    """Return benchmarks with more than one result, in this order; `versions` are those that count."""
    by_benchmark: dict[str, list[ScorePoint]] = {}
    for score in scores:
        by_benchmark.setdefault(score.benchmark, []).append(score)
    place = {benchmark: number for number, benchmark in enumerate(order)}
    results = [
        Rescored(
            benchmark=name,
            points=tuple(sorted(points, key=lambda point: (point.created, point.receipt))),
            current=versions.get(name, ""),
        )
        for name, points in by_benchmark.items()
        if len(points) > 1
    ]
    return tuple(sorted(results, key=lambda result: (place.get(result.benchmark, len(place)), result.benchmark)))


def newest(results: Sequence[Rescored], most: int) -> tuple[Rescored, ...]:
    """Return the benchmarks with the newest results, at most `most`, in the same order."""
    chosen = sorted(range(len(results)), key=lambda number: results[number].points[-1].created)[-most:]
    return tuple(results[number] for number in sorted(chosen))


def moments(scores: Iterable[ScorePoint], versions: Iterable[VersionSince], *, most: int = 24) -> tuple[date, ...]:
    """Return at most `most` days since the first score on which means may have changed.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> point = ScorePoint("A", "1", "scored", 0.5, 0.1, datetime(2026, 1, 5, 12, tzinfo=UTC), "r")
    >>> moments([point], [VersionSince("A", "2", datetime(2026, 3, 1, tzinfo=UTC))])
    (datetime.date(2026, 1, 5), datetime.date(2026, 3, 1))
    """
    scored = {_day(score.created) for score in scores}
    if not scored:
        return ()
    first = min(scored)
    days = sorted(scored | {day for version in versions if (day := _day(version.since)) > first})
    if len(days) <= most:
        return tuple(days)
    start, end = days[0].toordinal(), days[-1].toordinal()
    ordinals = {round(start + (end - start) * step / (most - 1)) for step in range(most)}
    return tuple(date.fromordinal(ordinal) for ordinal in sorted(ordinals))


def mean_history(
    tree: Tree,
    scores: Sequence[ScorePoint],
    versions: Iterable[VersionSince],
    there: Mapping[str, datetime],
    days: Sequence[date],
    nodes: Sequence[str],
) -> dict[str, tuple[MeanPoint, ...]]:
    """Return the means of one model on several days."""
    known: dict[str, list[VersionSince]] = {}
    for version in sorted(versions, key=lambda version: (version.since, version.version)):
        known.setdefault(version.benchmark, []).append(version)
    born = {name: min([there[name], *(version.since for version in known.get(name, ()))]) for name in tree.benchmarks}
    since = {name: _until_current(tree[name].version, known.get(name, ())) for name in tree.benchmarks}
    history: dict[str, list[MeanPoint]] = {node: [] for node in nodes}
    for benchmarks, ends in _days_by_benchmarks(tree, born, days):
        pruned = _unversioned(tree.pruned(benchmarks))
        values, errors = _values(pruned, scores, since, ends)
        means = averages(pruned, values, errors)
        place = {node: number for number, node in enumerate(means.nodes)}
        for node in (node for node in nodes if node in place):
            at = place[node]
            for row, end in enumerate(ends):
                n_scored = int(means.n_scored[row, at])
                shown = bool(covered(means.n_scored[row, at], means.n_all[at], COVERAGE))
                value, error = (float(part[row, at]) if shown else None for part in (means.values, means.errors))
                error = None if error is None or not np.isfinite(error) else error
                history[node].append(MeanPoint(_day(end), value, error, n_scored, int(means.n_all[at])))
    return {node: tuple(points) for node, points in history.items()}


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


def means_lines(histories: Sequence[MeanHistory]) -> tuple[tuple[str, str, str, str], ...]:
    """Return means over time as text: mean, day, value, benchmarks."""
    return tuple(
        (history.title, f"{point.day}", point.text, f"{point.n_scored} of {point.n_all}")
        for history in histories
        for point in history.points
    )


def history_lines(rescored: Sequence[Rescored]) -> tuple[dict[str, Any], ...]:
    """Return the lines of benchmarks with more than one result."""
    return tuple(
        {
            "benchmark": results.benchmark,
            "chart": _spark(results),
            "points": tuple(
                {
                    "version": point.version or "?",
                    "text": estimate(point.value, point.error, point.low, point.high)
                    if point.state == "scored"
                    else point.state,
                    "day": f"{point.created:%Y-%m-%d}",
                    "receipt": point.receipt,
                }
                for point in results.points
            ),
        }
        for results in rescored
    )


def _until_current(current: int | str | None, versions: Sequence[VersionSince]) -> Sequence[VersionSince]:
    """Return the versions up to the one that counts today; empty if all versions count."""
    if current is None:
        return ()
    places = [number for number, version in enumerate(versions) if version.version == str(current)]
    return versions[: places[0] + 1] if places else versions or (VersionSince("", str(current), _EVER),)


def _days_by_benchmarks(
    tree: Tree, born: Mapping[str, datetime], days: Sequence[date]
) -> Iterable[tuple[tuple[str, ...], list[datetime]]]:
    """Group days with the same benchmarks: return these benchmarks, and the ends of the days."""
    groups: dict[tuple[str, ...], list[datetime]] = {}
    for day in sorted(days):
        end = datetime.combine(day + timedelta(days=1), time(), tzinfo=UTC) - timedelta(microseconds=1)
        there = tuple(name for name in tree.benchmarks if born[name] <= end)
        if there:
            groups.setdefault(there, []).append(end)
    return groups.items()


def _values(
    tree: Tree, scores: Sequence[ScorePoint], since: Mapping[str, Sequence[VersionSince]], ends: Sequence[datetime]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values and errors that count at each time, as arrays of times × benchmarks, by the leaderboard's rule."""
    scores = [score for score in scores if score.state != NOT_RUN]
    column = {name: number for number, name in enumerate(tree.benchmarks)}
    chosen: list[tuple[int, int, int]] = []  # time, benchmark, score
    for row, end in enumerate(ends):
        current = {name: _version_at(since[name], end) for name in column}
        for number, score in enumerate(scores):
            if score.benchmark not in column or score.created > end:
                continue
            version = current[score.benchmark]
            of_every = not score.version and score.state in ("failed", "not applicable")
            if version is None or score.version == version or of_every:
                chosen.append((row, column[score.benchmark], number))
    table = np.array(chosen, dtype=np.intp).reshape(-1, 3)
    rows = table[:, 2]
    selected = counting(
        tree,
        table[:, 0],
        table[:, 1],
        n_models=len(ends),
        versions=np.full(len(rows), "", dtype=object),
        states=np.array([LEAF_STATES.index(score.state) for score in scores], dtype=np.int8)[rows],  # type: ignore[arg-type] # texts of the database
        created=np.array([score.created.timestamp() for score in scores])[rows],
        scores=np.array([or_nan(score.value) for score in scores])[rows],
        errors=np.array([or_nan(score.error) for score in scores])[rows],
    )
    return selected.values, selected.errors


def _version_at(versions: Sequence[VersionSince], end: datetime) -> str | None:
    """Return the version that counted at a time; None for all. Before the first version, the current one counts."""
    if not versions:
        return None
    return next((version.version for version in reversed(versions) if version.since <= end), versions[-1].version)


def _unversioned(tree: Tree) -> Tree:
    """Return the same tree without versions, since scores of other versions are already excluded."""
    return Tree(
        TreeNode(identifier=name, parent=tree[name].parent, benchmark=tree[name].benchmark, order=tree[name].order)
        for name in tree
    )


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _spark(results: Rescored) -> SafeString:
    """Draw results on one benchmark over time; those of other versions are hollow."""
    values = [or_nan(value) for point in results.points for value in (point.value, point.low, point.high)]
    return spark(
        axis_of(values),
        [
            (point.created.timestamp(), point.value, point.low, point.high, point.version == results.current)
            for point in results.points
        ],
    )


CAUSES = ("new benchmarks", "new versions", "new code", "new receipts", "other models")
"""What a step is split into."""

_SCORED, _MISSING, _OUTDATED = (STATES.index(state) for state in ("scored", "missing", "outdated"))
_OF_EVERY_VERSION = [STATES.index(state) for state in ("failed", "not applicable")]
_VALUE = NUMBERS.index("value")


@dataclass(frozen=True, kw_only=True)
class RankStep:
    """How the rank of a model changed between the ends of two days."""

    # start, end: the days
    start: date
    end: date
    # before, after: ranks; 0 if the model was not ranked
    before: int
    after: int
    # ranked_before, ranked_after: number of ranked models
    ranked_before: int
    ranked_after: int
    # the rank before, and after the exchange of each of :data:`CAUSES`; 0 if the model was not ranked then
    ranks: tuple[int, ...]

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


class _Day(NamedTuple):
    """What counted at the end of a day; arrays of models × benchmarks with an index of the score, or -1."""

    day: date
    exists: NDArray[np.bool_]
    versions: tuple[str, ...]
    score: NDArray[np.int64]
    outdated: NDArray[np.bool_]


def rank_steps(snapshot: Snapshot, model: str, days: Sequence[date]) -> tuple[RankStep, ...]:
    """Return the steps between these days in which the rank changed, or a cause moved it."""
    history = _History(snapshot, model)
    ends = [datetime.combine(day, time.max, UTC) for day in days]
    states = [history.at(day, end, then) for day, end, then in zip(days, ends, versions_on(ends), strict=True)]
    steps = [history.step(start, end) for start, end in pairwise(states)]
    return tuple(step for step in steps if any(step.texts))


class _History:
    """The scores of all models of a snapshot, and the ranks that they had."""

    def __init__(self, snapshot: Snapshot, model: str) -> None:
        self.snapshot = snapshot
        self.row = snapshot.model_index[model]
        root = next((name for name in snapshot.tree.roots if not snapshot.tree[name].benchmark), None)
        names = snapshot.tree.benchmarks if root else ()
        self.names = tuple(name for name in names if root in snapshot.tree.ancestors(name))
        self.tree = snapshot.tree.pruned(self.names)
        self.columns = {name: number for number, name in enumerate(self.names)}
        scores = all_scores()
        rows = {one.pk: number for number, one in enumerate(snapshot.models)}
        columns = {snapshot.benchmarks[snapshot.benchmark_index[name]].pk: self.columns[name] for name in self.names}
        row = _lookup(scores.model, rows)
        column = _lookup(scores.benchmark, columns)
        kept = np.flatnonzero((row >= 0) & (column >= 0))
        self.rows, self.at_columns = row[kept], column[kept]
        self.pk, self.created, self.state = scores.pk[kept], scores.created[kept], scores.state[kept]
        self.version, version_names = pd.factorize(scores.version[kept])
        self.version_codes = {name: code for code, name in enumerate(version_names)}
        self.values = np.nan_to_num(scores.numbers[_VALUE][kept]) - self._biases()
        self.codes = self._codes(snapshot.models[self.row].pk)
        self.weights: dict[bytes, NDArray[np.float64]] = {}

    def _biases(self) -> NDArray[np.float64]:
        """Return the known bias of each score, which ranks subtract."""
        stored = dict(StoredInfluence.objects.exclude(bias=0.0).order_by().values_list("score_id", "bias"))
        return np.array([stored.get(pk, 0.0) for pk in self.pk.tolist()]) if stored else np.zeros(len(self.rows))

    def _codes(self, model: int) -> Mapping[int, Any]:
        """Return the hash of the model's code in each of its receipts, by primary key of the score."""
        rows = Score.objects.filter(model=model).order_by().values_list("pk", "document__model__plugin__sha256")
        return dict(rows)

    def at(self, day: date, end: datetime, then: Mapping[str, str]) -> _Day:
        """Return what counted at the end of a day with these versions, by the rule of the leaderboard."""
        exists = np.array([name in then for name in self.names], dtype=bool)
        versions = tuple(then.get(name, "") for name in self.names)
        n = int(np.searchsorted(self.created, np.datetime64(end.replace(tzinfo=None), "us"), side="right"))
        wanted = np.array([self.version_codes.get(version, -1) for version in versions], dtype=np.int64)
        any_version = np.array([not version for version in versions], dtype=bool)
        columns, states = self.at_columns[:n], self.state[:n]
        unversioned = (self.version[:n] == self.version_codes.get("", -2)) & np.isin(states, _OF_EVERY_VERSION)
        counts = (self.version[:n] == wanted[columns]) | any_version[columns] | unversioned
        counts &= exists[columns]
        score = np.full((len(self.snapshot.models), len(self.names)), -1, dtype=np.int64)
        score[self.rows[:n][counts], columns[counts]] = np.flatnonzero(counts)  # sorted by time: the newest is last
        outdated = np.zeros(score.shape, dtype=bool)
        outdated[self.rows[:n], columns] = True
        return _Day(day, exists, versions, score, outdated & (score < 0))

    def step(self, first: _Day, second: _Day) -> RankStep:
        """Return the step between two days."""
        new = second.exists & ~first.exists
        other_version = np.array([a != b for a, b in zip(first.versions, second.versions, strict=True)]) & ~new
        own = np.zeros(first.score.shape, dtype=bool)
        own[self.row] = True
        recoded = own & self._other_code(first.score, second.score)
        masks = [
            np.broadcast_to(new, own.shape),
            np.broadcast_to(other_version, own.shape),
            recoded,
            own,
            np.ones(own.shape, dtype=bool),
        ]
        differs = (first.score != second.score) | (first.outdated != second.outdated)
        exchanged = np.zeros(own.shape, dtype=bool)
        places = [self._rank(first.score, first.outdated, first.exists)]
        for number, mask in enumerate(masks):
            if not (differs & mask & ~exchanged).any() and not (number == 0 and new.any()):
                places.append(places[-1])
                continue
            exchanged = exchanged | mask
            score = np.where(exchanged, second.score, first.score)
            outdated = np.where(exchanged, second.outdated, first.outdated)
            places.append(self._rank(score, outdated, second.exists))
        return RankStep(
            start=first.day,
            end=second.day,
            before=places[0][0],
            after=places[-1][0],
            ranked_before=places[0][1],
            ranked_after=places[-1][1],
            ranks=tuple(rank for rank, _ in places),
        )

    def _other_code(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for which benchmarks the model's code differs between two results; as one row of flags."""
        differs = np.zeros(len(self.names), dtype=bool)
        for column in np.flatnonzero((first[self.row] != second[self.row]) & (first[self.row] >= 0)).tolist():
            keys = self.pk[[first[self.row, column], second[self.row, column]]].tolist()
            before, after = (self.codes.get(key) for key in keys)
            differs[column] = before is not None and after is not None and before != after
        return differs

    def _rank(
        self, score: NDArray[np.int64], outdated: NDArray[np.bool_], exists: NDArray[np.bool_]
    ) -> tuple[int, int]:
        """Return the rank of the model and the number of ranked models; rank 0 if it is not ranked."""
        if not exists.any():
            return 0, 0
        states = np.where(score >= 0, self.state[score], np.where(outdated, _OUTDATED, _MISSING))
        scored = states == _SCORED
        listed = scored.any(axis=1)
        ranked = listed & covered(scored.sum(axis=1), np.full(len(scored), exists.sum()), COVERAGE)
        counts = exists.copy()
        counts[exists] = counting_benchmarks(states[:, exists].astype(np.int8), ranked, COVERAGE)
        weights = self._weights(counts)
        values = np.where(scored, self.values[score], 0.0) @ weights
        ranked &= scored[:, counts].any(axis=1)
        if not ranked[self.row]:
            return 0, int(ranked.sum())
        higher = values[ranked] > values[self.row] + 1e-12
        return 1 + int(higher.sum()), int(ranked.sum())

    def _weights(self, counts: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weights of the benchmarks in the mean over those that count."""
        key = counts.tobytes()
        if key not in self.weights:
            rows = self.snapshot.benchmarks
            kept = [name for name, counted in zip(self.names, counts.tolist(), strict=True) if counted]
            pairs = [(self.columns[name], rows[self.snapshot.benchmark_index[name]]) for name in kept]
            weights = np.zeros(len(self.names))
            if kept:
                columns, shares = mean_parts(board_nodes(self.tree.pruned(kept), pairs), 0)
                weights[columns] = shares
            self.weights[key] = weights
        return self.weights[key]


def _lookup(keys: NDArray[np.int64], places: Mapping[int, int]) -> NDArray[np.int64]:
    """Return the place of each key; -1 for a key without one."""
    table = np.full(max([int(keys.max(initial=0)), *places], default=0) + 1, -1, dtype=np.int64)
    for key, place in places.items():
        table[key] = place
    return table[keys]
