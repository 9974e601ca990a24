"""Why the rank of a model moved: each step split into new benchmarks, versions, code, receipts, and other models.

Between two days, results are exchanged in this order, and the model is ranked after each exchange; the differences of
these ranks add up to the step:

1. results on benchmarks that did not exist on the first day,
2. results on benchmarks of which another version counts,
3. results of the model that were made with other code of the model than its result before,
4. other results of the model,
5. results of other models.

Ranks are those of the leaderboard with today's tree and permissions, by default coverage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.results.board import covered
from brainscore_web.leaderboard.board import board_nodes, mean_parts
from brainscore_web.leaderboard.coverage import counting_benchmarks
from brainscore_web.leaderboard.models import Score, StoredInfluence
from brainscore_web.leaderboard.snapshot import NUMBERS, STATES, Snapshot, all_scores, versions_on
from brainscore_web.leaderboard.state import COVERAGE

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
