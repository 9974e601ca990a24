"""The leaderboard as arrays: what a visitor may see, loaded once for each revision."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from django.db import connections
from django.db.models import Func, TextField
from numpy.typing import NDArray

from brainscore_core.results.aggregates import LEAF_STATES, Tree, TreeNode, counting
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.cache import Cache
from brainscore_web.leaderboard.clean import or_nan
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    Score,
    Visibility,
    VisionModel,
    Visitor,
)

__all__ = [
    "NUMBERS",
    "STATES",
    "BenchmarkRow",
    "ModelRow",
    "Scores",
    "Snapshot",
    "SnapshotKey",
    "clear_snapshots",
    "load_models",
    "snapshot_for",
]


class ModelRow(NamedTuple):
    """A model.

    Attributes
    ----------
    pk : int
        Of `VisionModel`.
    identifier, title : str
        The title is the identifier where there is none.
    private : bool
        Whether others do not see it.
    mine : bool
        Whether it is private and seen because it is the visitor's own.
    architecture, family, training_data : str
        Empty where not known.
    parameters : int or None
        How many.
    size_mb : float or None
        Of the weights.
    runnable : bool
        Whether it can be loaded with what is published.
    """

    pk: int
    identifier: str
    title: str
    private: bool
    mine: bool
    architecture: str
    family: str
    parameters: int | None
    size_mb: float | None
    training_data: str
    runnable: bool


class BenchmarkRow(NamedTuple):
    """A benchmark, in the version whose scores count.

    Attributes
    ----------
    pk : int
        Of `Benchmark`.
    identifier, title : str
        The title is the identifier where there is none.
    version : str
        Whose scores count; empty: any version's.
    parent : str
        Identifier of the mean it counts in; empty where it stands apart.
    region, species, task, stimuli, metric : str
        Empty where not known.
    access : str
        ``'public'`` or ``'private'``: of stimuli and measurements.
    control : bool
        Whether it checks the method; counts in no mean.
    in_tree : bool
        Whether it counts in means.
    ceiling, ceiling_error, ceiling_low, ceiling_high : float
        NaN where there is none.
    ceiling_meaning : str
        Such as ``'reliability'``.
    """

    pk: int
    identifier: str
    title: str
    version: str
    parent: str
    region: str
    species: str
    task: str
    stimuli: str
    metric: str
    access: str
    control: bool
    in_tree: bool
    ceiling: float
    ceiling_error: float
    ceiling_low: float
    ceiling_high: float
    ceiling_meaning: str


NUMBERS = ("value", "error", "low", "high", "raw", "raw_error", "raw_low", "raw_high")
"""Columns of scores that hold numbers."""

_FARTHEST = 1e12  # what is kept from before there was a limit is drawn there
_CHUNK = 2000  # rows: what they are made into stays small, and the collector of garbage idle
_log = logging.getLogger(__name__)
_MOST_PARAMETERS = 500  # of SQLite's parameters
_STATE_CODES = {state: code for code, state in enumerate(LEAF_STATES)}


class Structure(NamedTuple):
    """Benchmarks: those in means in the tree's order, those that stand apart, controls; and the tree of the first."""

    tree: Tree
    benchmarks: tuple[BenchmarkRow, ...]


class Scores(NamedTuple):
    """Columns, one row a receipt, the oldest first; those of a model on a benchmark at the same moment by their ids.

    `numbers` are (:data:`NUMBERS`, receipts); NaN where there is none, or what cannot be one.
    """

    pk: NDArray[np.int64]
    model: NDArray[np.int64]
    benchmark: NDArray[np.int64]
    version: NDArray[np.object_]
    state: NDArray[np.int8]
    created: NDArray[np.datetime64]
    numbers: NDArray[np.float64]


def load_models(visitor: Visitor, *, all_seen: bool) -> list[ModelRow]:
    """Models that the visitor may see, by identifier."""
    fields = (
        "pk", "identifier", "title", "visibility", "architecture", "family", "parameters", "size_mb",
        "training_data", "runnable",
    )  # fmt: skip
    rows = VisionModel.objects.visible_to(visitor).order_by("identifier").values(*fields)
    found = []
    for row in rows:
        private = row.pop("visibility") != Visibility.PUBLIC
        row["title"] = row["title"] or row["identifier"]
        found.append(ModelRow(private=private, mine=private and not all_seen, **row))
    return sorted(found, key=lambda row: row.identifier)  # as Python sorts, whatever the database's collation


def load_structure(until: datetime | None) -> Structure:
    """Benchmarks and their tree, in the versions of now or of a moment."""
    rows = list(
        Benchmark.objects.order_by().values(
            "pk", "identifier", "title", "version", "parent_id", "is_mean", "order", "control", "in_tree", "access",
            "region", "species", "task", "stimuli", "metric", "created",
        )
    )  # fmt: skip
    versions = _versions(rows, until)
    names = {row["pk"]: row["identifier"] for row in rows}
    above = {row["pk"]: row["parent_id"] for row in rows if row["is_mean"]}
    means = {names[pk] for pk in above if _has_root(pk, above)}
    wrong = {names[pk] for pk in above} - means
    wrong |= {row["identifier"] for row in rows if row["parent_id"] is not None and row["parent_id"] not in above}
    if wrong:
        _complain(tuple(sorted(wrong)))
    nodes = [
        TreeNode(
            identifier=row["identifier"],
            parent=names[row["parent_id"]] if names.get(row["parent_id"]) in means else None,
            order=row["order"],
            title=row["title"] or None,
        )
        for row in rows
        if row["identifier"] in means
    ]
    made: dict[str, BenchmarkRow] = {}
    for row in rows:
        if row["is_mean"] or row["pk"] not in versions:
            continue
        version, ceiling = versions[row["pk"]]
        parent = names.get(row["parent_id"], "")
        counts = row["in_tree"] and not row["control"] and parent in means
        made[row["identifier"]] = BenchmarkRow(
            **{name: row[name] for name in ("pk", "identifier", "access", "control")},
            **{name: row[name] for name in ("region", "species", "task", "stimuli", "metric")},
            title=row["title"] or row["identifier"],
            version=version,
            parent=parent if counts else "",
            in_tree=counts,
            **ceiling,
        )
        if counts:
            nodes.append(
                TreeNode(
                    identifier=row["identifier"],
                    parent=parent,
                    benchmark=True,
                    version=version or None,
                    order=row["order"],
                    title=row["title"] or None,
                )
            )
    tree = Tree(nodes)
    apart = sorted((row for row in made.values() if not row.in_tree), key=lambda row: (row.control, row.identifier))
    return Structure(tree, (*(made[name] for name in tree.benchmarks), *apart))


def _has_root(pk: int, above: Mapping[int, int | None]) -> bool:
    """Whether the way up from a mean ends: where parents form a cycle it does not."""
    passed: set[int] = set()
    at: int | None = pk
    while at is not None and at in above:
        if at in passed:
            return False
        passed.add(at)
        at = above[at]
    return True


@lru_cache(maxsize=16)  # once in each process
def _complain(names: tuple[str, ...]) -> None:
    _log.error(
        "The tree is broken: parents form a cycle, or are no means. Correct the parents of %s; until then what is "
        "below them counts in no mean.",
        ", ".join(names[:20]) + (" and others" if len(names) > 20 else ""),
    )


class _Moment(Func):
    """A time in UTC as a database gives it quickest: SQLite as text, PostgreSQL as microseconds since 1970."""

    template = "CAST(%(expressions)s AS text)"
    arity = 1
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        template = "CAST(EXTRACT(EPOCH FROM %(expressions)s) * 1000000 AS bigint)"
        return self.as_sql(compiler, connection, template=template, **context)


def load_scores() -> Scores:
    """All scores, whoever may see them: who shows them picks those of models that its visitor may see."""
    query = Score.objects.order_by().values_list(
        "pk", "model_id", "benchmark_id", "version", "state", _Moment("created"), *NUMBERS
    )
    sql, parameters = query.query.sql_with_params()
    parts: list[Scores] = []
    versions: dict[str, str] = {}  # one text of each, however many rows have it
    with connections[query.db].cursor() as cursor:  # past the ORM's conversions, which take longer than all else
        cursor.execute(sql, parameters)
        while rows := cursor.fetchmany(_CHUNK):
            parts.append(_columns(rows, versions))
    if not parts:
        parts = [_columns([], versions)]
    found = Scores._make(np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True))
    order = np.lexsort((found.pk, _ties(found), found.created))
    return Scores._make(column[..., order] for column in found)


def _ties(scores: Scores) -> NDArray[np.int64]:
    """Order by the receipt's id where a model has several of the same moment on a benchmark; 0 elsewhere."""
    keys = scores.created, scores.model, scores.benchmark
    order = np.lexsort(keys)
    alike = np.logical_and.reduce([key[order][1:] == key[order][:-1] for key in keys])
    tied = order[np.append(alike, False) | np.append(False, alike)] if len(order) else order
    receipts: dict[int, str] = {}
    keys_of_tied = scores.pk[tied].tolist()
    for start in range(0, len(tied), _MOST_PARAMETERS):
        some = Score.objects.order_by().filter(pk__in=keys_of_tied[start : start + _MOST_PARAMETERS])
        receipts.update(some.values_list("pk", "receipt"))
    places = {receipt: place for place, receipt in enumerate(sorted(receipts.values()))}
    ties = np.zeros(len(order), dtype=np.int64)
    ties[tied] = [places.get(receipts.get(pk, ""), 0) for pk in keys_of_tied]
    return ties


def _columns(rows: Sequence[tuple[Any, ...]], versions: dict[str, str]) -> Scores:
    columns = list(zip(*rows, strict=True)) or [()] * (6 + len(NUMBERS))
    pk, model, benchmark, version, state, created = columns[:6]
    texts = np.empty(len(rows), dtype=object)
    texts[:] = [versions.setdefault(one, one) for one in version]
    are_texts = any(isinstance(one, str) for one in created[:1])
    moments = np.array(created, dtype="datetime64[us]" if are_texts else np.int64).astype("datetime64[us]")
    numbers = np.array(columns[6:], dtype=np.float64).reshape(len(NUMBERS), len(rows))
    numbers[~np.isfinite(numbers)] = np.nan
    np.clip(numbers, -_FARTHEST, _FARTHEST, out=numbers)
    for name in ("error", "raw_error"):
        errors = numbers[NUMBERS.index(name)]
        errors[errors < 0] = np.nan
    return Scores(
        pk=np.array(pk, dtype=np.int64),
        model=np.array(model, dtype=np.int64),
        benchmark=np.array(benchmark, dtype=np.int64),
        version=texts,
        state=np.array([_STATE_CODES[one] for one in state], dtype=np.int8),
        created=moments,
        numbers=numbers,
    )


def _versions(rows: Sequence[dict[str, Any]], until: datetime | None) -> dict[int, tuple[str, dict[str, Any]]]:
    """Of each benchmark that is there, the version that counts and its ceiling."""
    known: dict[int, list[dict[str, Any]]] = {}
    fields = ("ceiling", "ceiling_error", "ceiling_low", "ceiling_high")
    query = BenchmarkVersion.objects.order_by("since", "version")
    for one in query.values("benchmark_id", "version", "since", "ceiling_meaning", *fields):
        one.update({name: or_nan(one[name]) for name in fields})
        known.setdefault(one["benchmark_id"], []).append(one)
    none = dict.fromkeys(fields, math.nan) | {"ceiling_meaning": ""}
    found = {}
    for row in rows:
        versions, counts = known.get(row["pk"], []), row["version"]
        if all(one["version"].isascii() and one["version"].isdigit() for one in versions):
            versions.sort(key=lambda one: int(one["version"]))
        if until is not None:
            if min([row["created"], *(one["since"] for one in versions)]) > until:
                continue
            place = next((place for place, one in enumerate(versions) if one["version"] == counts), len(versions))
            versions = [one for one in versions[: place + 1] if one["since"] <= until]
            counts = versions[-1]["version"] if counts and versions else counts
        of = next((one for one in reversed(versions) if one["version"] == counts or not counts), none)
        found[row["pk"]] = counts, {name: of[name] for name in none}
    return found


STATES = LEAF_STATES
"""What came of a model on a benchmark; the place of a state is its code."""

_SCORED = STATES.index("scored")
_OUTSIDE_NODE = "\x00apart"  # gathers, for the choice of scores, the benchmarks that count in no mean


class SnapshotKey(NamedTuple):
    """What snapshots differ by."""

    revision: int
    audience: str
    at: date | None


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """What one kind of visitor may see; arrays are models × benchmarks and cannot be written to.

    Attributes
    ----------
    revision : int
        Of the site's data, when it was read.
    audience : str
        ``'public'``; ``'all'`` for administrators; else a digest of the private models that are seen.
    at : date or None
        The end of which day (UTC) it shows; None: now.
    models : tuple of ModelRow
        Those with at least one receipt, by identifier.
    benchmarks : tuple of BenchmarkRow
        Those that count in means, in the tree's order; those that stand apart; controls.
    tree : Tree
        Of the first of these.
    state : array of int8
        Places in :data:`STATES`.
    value, error, low, high : array
        Scores, ceiled, with standard errors and limits of their intervals; NaN where there is none.
    raw, raw_error, raw_low, raw_high : array
        The same before normalisation by the ceiling.
    score : array of int64
        Primary key of the `Score` that is shown, also where it failed or is outdated; -1 where there is none.
    model_index, benchmark_index : dict
        Rows and columns by identifier.
    """

    revision: int
    audience: str
    at: date | None
    models: tuple[ModelRow, ...]
    benchmarks: tuple[BenchmarkRow, ...]
    tree: Tree
    state: NDArray[np.int8]
    value: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    raw: NDArray[np.float64]
    raw_error: NDArray[np.float64]
    raw_low: NDArray[np.float64]
    raw_high: NDArray[np.float64]
    score: NDArray[np.int64]
    model_index: dict[str, int]
    benchmark_index: dict[str, int]

    def __repr__(self) -> str:
        when = f", {self.at}" if self.at else ""
        return f"<Snapshot {self.revision}, {self.audience}{when}: {len(self.models)} × {len(self.benchmarks)}>"

    @cached_property
    def digest(self) -> str:
        """Of everything in it but the revision: the same as long as this audience sees the same."""
        made = hashlib.sha256(repr((self.audience, self.at, self.models, self.benchmarks)).encode())
        for identifier in self.tree:
            made.update(repr(self.tree[identifier]).encode())
        for name in ("state", "score", *NUMBERS):
            made.update(getattr(self, name).tobytes())
        return made.hexdigest()[:32]

    @property
    def key(self) -> SnapshotKey:
        """What it differs from others by."""
        return SnapshotKey(self.revision, self.audience, self.at)


_scores: Cache[int, Scores] = Cache(most=2)
_snapshots: Cache[SnapshotKey, Snapshot] = Cache(most=8)
_earlier: Cache[SnapshotKey, Snapshot] = Cache(most=4)  # looking back does not displace what is shown to most


def snapshot_for(visitor: Visitor, *, at: date | None = None) -> Snapshot:
    """Everything that this visitor may see; kept until something changes.

    Parameters
    ----------
    visitor : User or AnonymousUser
        Private models of others do not enter.
    at : date, optional
        Show the leaderboard as of the end of this day (UTC): by the receipts made until then, in the benchmarks'
        versions of then. Who may see what, and the tree, are those of today.
    """
    key = SnapshotKey(revision.current(), _audience(visitor), at)

    def make() -> Snapshot:
        _scores.drop(lambda known: known < key.revision)
        for cache in (_snapshots, _earlier):
            cache.drop(lambda known: known.revision < key.revision)
        return _load(visitor, key)

    return (_snapshots if at is None else _earlier).get(key, make)


def clear_snapshots() -> None:
    """Clear the cached snapshots and scores of this process; `board.clear_caches` also clears the boards."""
    for cache in (_scores, _snapshots, _earlier):
        cache.clear()


def _audience(visitor: Visitor) -> str:
    if not visitor.is_authenticated:
        return "public"
    if visitor.is_active and visitor.has_perm("leaderboard.view_private"):
        return "all"
    private = VisionModel.objects.visible_to(visitor).exclude(visibility=Visibility.PUBLIC)
    seen = sorted(private.order_by().values_list("pk", flat=True))
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:32] if seen else "public"


def _load(visitor: Visitor, key: SnapshotKey) -> Snapshot:
    until = None if key.at is None else datetime.combine(key.at, time.max, UTC)
    models = load_models(visitor, all_seen=key.audience == "all")
    tree, benchmarks = load_structure(until)
    scores = _scores.get(key.revision, load_scores)
    numbers = dict(zip(NUMBERS, scores.numbers, strict=True))
    n_made = len(scores.pk) if until is None else int(np.searchsorted(scores.created, _moment(until), side="right"))

    of_model = _places(scores.model[:n_made], [model.pk for model in models])
    of_benchmark = _places(scores.benchmark[:n_made], [one.pk for one in benchmarks])
    has_receipt = np.zeros(len(models), dtype=bool)
    has_receipt[of_model[of_model >= 0]] = True
    models = [model for model, shown in zip(models, has_receipt.tolist(), strict=True) if shown]
    known = np.flatnonzero((of_model >= 0) & (of_benchmark >= 0))
    of_model, of_benchmark = (np.cumsum(has_receipt) - 1)[of_model[known]], of_benchmark[known]

    apart = [
        TreeNode(
            identifier=one.identifier, parent=_OUTSIDE_NODE, benchmark=True, version=one.version or None, order=place
        )
        for place, one in enumerate(benchmarks)
        if not one.in_tree
    ]
    everything = tree.extended([TreeNode(identifier=_OUTSIDE_NODE, order=2**62), *apart])
    found = counting(
        everything,
        of_model,
        of_benchmark,
        n_models=len(models),
        versions=scores.version[known],
        states=scores.state[known],
        created=known,  # the oldest first
        scores=numbers["value"][known],
        errors=numbers["error"][known],
    )
    there, counts = found.rows >= 0, found.states == _SCORED
    arrays: dict[str, NDArray[np.float64]] = {}
    for name in NUMBERS:
        arrays[name] = np.full(found.rows.shape, np.nan)
        arrays[name][counts] = numbers[name][known[found.rows[counts]]]
    score = np.full(found.rows.shape, -1, dtype=np.int64)
    score[there] = scores.pk[known[found.rows[there]]]
    made: list[NDArray[Any]] = [*arrays.values(), score, found.states]
    for array in made:
        array.flags.writeable = False
    return Snapshot(
        revision=key.revision,
        audience=key.audience,
        at=key.at,
        models=tuple(models),
        benchmarks=benchmarks,
        tree=tree,
        state=found.states,
        score=score,
        model_index={model.identifier: place for place, model in enumerate(models)},
        benchmark_index={one.identifier: place for place, one in enumerate(benchmarks)},
        **arrays,
    )


def _places(wanted: NDArray[np.int64], known: list[int]) -> NDArray[np.intp]:
    """The place of each key among those known; -1 where it is none of them."""
    if not known:
        return np.full(len(wanted), -1, dtype=np.intp)
    keys = np.array(known, dtype=np.int64)
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    return np.where(keys[order][at] == wanted, order[at], -1).astype(np.intp)


def _moment(moment: datetime) -> np.datetime64:
    return np.datetime64(moment.astimezone(UTC).replace(tzinfo=None), "us")
