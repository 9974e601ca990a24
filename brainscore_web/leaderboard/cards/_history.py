"""How a model's means came to be what they are, and benchmarks on which it was scored more than once.

A mean of an earlier day is what the leaderboard showed then, of today's tree: scores made up to that day, of the
versions that benchmarks had, over the benchmarks that there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.results.aggregates import LEAF_STATES, Tree, TreeNode, averages, counting
from brainscore_web.leaderboard.clean import or_nan

__all__ = ["MeanPoint", "Rescored", "ScorePoint", "VersionSince", "mean_history", "moments", "rescored"]

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
    """Since when a benchmark has had a version."""

    benchmark: str
    version: str
    since: datetime


class MeanPoint(NamedTuple):
    """A mean on one day; None where nothing was scored."""

    day: date
    value: float | None
    error: float | None
    n_scored: int
    n_all: int


@dataclass(frozen=True, kw_only=True)
class Rescored:
    """A benchmark on which a model has more than one result, oldest first."""

    benchmark: str
    points: tuple[ScorePoint, ...]
    current: str

    @property
    def change(self) -> float | None:
        """Last score less the first, of those that are of one version; None where there are no two."""
        values = [
            point.value for point in self.points if point.version == self.points[-1].version and point.value is not None
        ]
        return values[-1] - values[0] if len(values) > 1 else None


def rescored(scores: Iterable[ScorePoint], order: Sequence[str], versions: Mapping[str, str]) -> tuple[Rescored, ...]:
    """Benchmarks with more than one result, in the order of the tree; `versions` are those that count."""
    of: dict[str, list[ScorePoint]] = {}
    for score in scores:
        of.setdefault(score.benchmark, []).append(score)
    place = {benchmark: number for number, benchmark in enumerate(order)}
    found = [
        Rescored(
            benchmark=name,
            points=tuple(sorted(points, key=lambda point: (point.created, point.receipt))),
            current=versions.get(name, ""),
        )
        for name, points in of.items()
        if len(points) > 1
    ]
    return tuple(sorted(found, key=lambda one: (place.get(one.benchmark, len(place)), one.benchmark)))


def moments(scores: Iterable[ScorePoint], versions: Iterable[VersionSince], *, most: int = 24) -> tuple[date, ...]:
    """Days to show means of: those on which they can have changed, since the first score; at most so many of them.

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
    days = sorted(scored | {day for one in versions if (day := _day(one.since)) > first})
    if len(days) <= most:
        return tuple(days)
    start, end = days[0].toordinal(), days[-1].toordinal()
    wanted = {round(start + (end - start) * step / (most - 1)) for step in range(most)}
    return tuple(date.fromordinal(ordinal) for ordinal in sorted(wanted))


def mean_history(
    tree: Tree,
    scores: Sequence[ScorePoint],
    versions: Iterable[VersionSince],
    there: Mapping[str, datetime],
    days: Sequence[date],
    nodes: Sequence[str],
) -> dict[str, tuple[MeanPoint, ...]]:
    """Means of one model on several days.

    Parameters
    ----------
    tree : Tree
        Today's.
    scores : sequence of ScorePoint
        All that the model has.
    versions : iterable of VersionSince
        Of all benchmarks; those after the version that counts today do not matter.
    there : mapping of str to datetime
        Since when each benchmark has been there, unless one of its versions has been longer.
    days : sequence of date
        Whatever happened until the end of a day (UTC) counts.
    nodes : sequence of str
        Means to give.

    Returns
    -------
    dict
        From node to a point each day; days before there was a benchmark below the node are left out.
    """
    known: dict[str, list[VersionSince]] = {}
    for one in sorted(versions, key=lambda one: (one.since, one.version)):
        known.setdefault(one.benchmark, []).append(one)
    born = {name: min([there[name], *(one.since for one in known.get(name, ()))]) for name in tree.benchmarks}
    since = {name: _until_current(tree[name].version, known.get(name, ())) for name in tree.benchmarks}
    found: dict[str, list[MeanPoint]] = {node: [] for node in nodes}
    for benchmarks, ends in _alike(tree, born, days):
        pruned = _unversioned(tree.pruned(benchmarks))
        values, errors = _values(pruned, scores, since, ends)
        made = averages(pruned, values, errors)
        place = {node: number for number, node in enumerate(made.nodes)}
        for node in (node for node in nodes if node in place):
            at = place[node]
            for row, end in enumerate(ends):
                n_scored = int(made.n_scored[row, at])
                value, error = (float(part[row, at]) if n_scored else None for part in (made.values, made.errors))
                error = None if error is None or not np.isfinite(error) else error
                found[node].append(MeanPoint(_day(end), value, error, n_scored, int(made.n_all[at])))
    return {node: tuple(points) for node, points in found.items()}


def _until_current(current: int | str | None, versions: Sequence[VersionSince]) -> Sequence[VersionSince]:
    """Versions up to the one that counts today; none where any version counts."""
    if current is None:
        return ()
    places = [number for number, one in enumerate(versions) if one.version == str(current)]
    return versions[: places[0] + 1] if places else versions or (VersionSince("", str(current), _EVER),)


def _alike(
    tree: Tree, born: Mapping[str, datetime], days: Sequence[date]
) -> Iterable[tuple[tuple[str, ...], list[datetime]]]:
    """Days with the same benchmarks together: those benchmarks, and the days' last moments."""
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
    """What counts at each moment: moments × benchmarks, by the rule of the leaderboard."""
    column = {name: number for number, name in enumerate(tree.benchmarks)}
    chosen: list[tuple[int, int, int]] = []  # moment, benchmark, score
    for row, end in enumerate(ends):
        current = {name: _version_at(since[name], end) for name in column}
        for number, score in enumerate(scores):
            if score.benchmark not in column or score.created > end:
                continue
            wanted = current[score.benchmark]
            of_every = not score.version and score.state in ("failed", "not applicable")
            if wanted is None or score.version == wanted or of_every:
                chosen.append((row, column[score.benchmark], number))
    table = np.array(chosen, dtype=np.intp).reshape(-1, 3)
    rows = table[:, 2]
    found = counting(
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
    return found.values, found.errors


def _version_at(versions: Sequence[VersionSince], end: datetime) -> str | None:
    """The version that counted; None: any. Before the first one there was none of them, and today's counts."""
    if not versions:
        return None
    return next((one.version for one in reversed(versions) if one.since <= end), versions[-1].version)


def _unversioned(tree: Tree) -> Tree:
    """The same tree, where every version counts: what does not is left out before."""
    return Tree(
        TreeNode(identifier=name, parent=tree[name].parent, benchmark=tree[name].benchmark, order=tree[name].order)
        for name in tree
    )


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
