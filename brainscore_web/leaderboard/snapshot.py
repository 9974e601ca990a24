"""Snapshots: the data of the leaderboard that a visitor may see, as arrays, loaded once per revision of the data."""

from __future__ import annotations

import hashlib
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from django.db import connections
from django.db.models import Func, QuerySet, TextField
from numpy.typing import NDArray

from brainscore_core.domain_names import FIRST
from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.results.aggregates import LEAF_STATES, Tree, TreeNode, counting
from brainscore_core.training_data import Training
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.clean import or_nan
from brainscore_web.leaderboard.exposure import exposure_matrix, names_in, trainings, verification_codes
from brainscore_web.leaderboard.influence import clear_influences, influences_of
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    Score,
    StoredAssessment,
    StoredInfluence,
    Visibility,
    VisionModel,
    Visitor,
)
from brainscore_web.leaderboard.reasons import NOT_RUN
from brainscore_web.leaderboard.revision import Cache


class ModelRow(NamedTuple):
    """A model."""

    pk: int  # primary key of the `VisionModel`
    # identifier, title: if the model has no title, the title is its identifier
    identifier: str
    title: str
    private: bool  # whether the model is private
    mine: bool  # whether the model is private, and the visitor owns it, alone or with a lab
    # architecture, family, training_data: empty if not known
    architecture: str
    family: str
    parameters: int | None  # number of parameters
    size_mb: float | None  # size of the weights in MB
    training_data: str
    runnable: bool  # whether the model can be loaded from published code and weights
    # what it was trained on, including the models it was fine-tuned from that the visitor may see
    training: Training = Training((), complete=False)
    published: int | None = None  # year in the model's citation


class BenchmarkRow(NamedTuple):
    """A benchmark, with the version whose scores count."""

    pk: int  # primary key of the `Benchmark`
    # identifier, title: if the benchmark has no title, the title is its identifier
    identifier: str
    title: str
    version: str  # the version whose scores count; empty if all versions count
    parent: str  # identifier of the mean that includes it; empty for a benchmark outside the tree
    # region, species, task, stimuli, metric: empty if not known
    region: str
    species: str
    task: str
    stimuli: str
    metric: str
    access: str  # access to stimuli and measurements: ``'public'`` or ``'private'``
    control: bool  # whether it is a control, which tests the method of scoring and is not included in means
    in_tree: bool  # whether means include it
    # ceiling, ceiling_error, ceiling_low, ceiling_high: naN if not available
    ceiling: float
    ceiling_error: float
    ceiling_low: float
    ceiling_high: float
    ceiling_meaning: str  # meaning of the ceiling, such as ``'reliability'``
    # audit, recovery: outcomes of the newest audit and recovery of this version that the visitor may see, as of
    # `StoredAssessment`; empty if there is none, and on earlier days
    audit: str = ""
    recovery: str = ""
    taken_from: tuple[str, ...] | None = None  # data sets that hold the stimuli, as of today; None if it is not known
    n_stimuli: int | None = None  # number of stimuli
    n_neuroids: int | None = None  # number of neuroids
    since: date | None = None  # day when the version whose scores count was first seen; None if it is not known
    condition: str = ""  # for which few subjects or groups alone scores hold; empty if they hold for new ones


NUMBERS = ("value", "error", "low", "high", "raw", "raw_error", "raw_low", "raw_high")
"""Numeric columns of scores."""

_LARGEST_SHOWN = 1e12  # larger values, stored before `clean.LARGEST` was introduced, are clipped
_CHUNK = 2000  # rows; small chunks need little memory, and cause few runs of the garbage collector
_YEAR = re.compile(r"\byear\s*=\s*[{\"]?\s*((?:19|20)\d\d)\b", re.IGNORECASE)
_log = logging.getLogger(__name__)
_STATE_CODES = {state: code for code, state in enumerate((*LEAF_STATES, "undetermined", NOT_RUN))}


class Structure(NamedTuple):
    """The tree, and all benchmarks: those of the tree in its order, then those outside the tree, then controls."""

    tree: Tree
    benchmarks: tuple[BenchmarkRow, ...]


class Scores(NamedTuple):
    """Columns with one row per receipt, oldest first; receipts of one pair with equal times are sorted by id.

    `receipt` has their ranks in the order of ids; -1 if a receipt has just been deleted. `numbers` has the shape
    (:data:`NUMBERS`, receipts), with NaN for missing or invalid numbers.
    """

    pk: NDArray[np.int64]
    model: NDArray[np.int64]
    benchmark: NDArray[np.int64]
    version: NDArray[np.object_]
    state: NDArray[np.int8]
    created: NDArray[np.datetime64]
    undetermined: NDArray[np.bool_]
    verification: NDArray[np.int8]
    receipt: NDArray[np.intp]
    numbers: NDArray[np.float64]


class Receipts(NamedTuple):
    """Columns with one row per receipt, sorted by id; `counts` marks those that count now."""

    pk: NDArray[np.int64]
    model: NDArray[np.int64]
    benchmark: NDArray[np.int64]
    version: NDArray[np.object_]
    state: NDArray[np.int8]
    created: NDArray[np.datetime64]
    counts: NDArray[np.bool_]


def load_models(visitor: Visitor, domain: str, *, sees_all: bool) -> list[ModelRow]:
    """Load a domain's models that the visitor may see, sorted by identifier; `sees_all`: of an administrator."""
    fields = (
        "pk", "identifier", "title", "visibility", "architecture", "family", "parameters", "size_mb",
        "training_data", "runnable", "trained_on", "fine_tuned_from", "bibtex",
    )  # fmt: skip
    rows = list(VisionModel.objects.visible_to(visitor).filter(domain=domain).order_by("identifier").values(*fields))
    training_of = trainings(rows)
    models = []
    for row in rows:
        row["training"] = training_of(row["identifier"])
        del row["trained_on"], row["fine_tuned_from"]
        private = row.pop("visibility") != Visibility.PUBLIC
        row["title"] = row["title"] or row["identifier"]
        year = _YEAR.search(row.pop("bibtex"))
        row["published"] = int(year[1]) if year else None
        models.append(ModelRow(private=private, mine=private and not sees_all, **row))
    return sorted(models, key=lambda row: row.identifier)  # independent of the database's collation


def load_structure(domain: str, until: datetime | None) -> Structure:
    """Load a domain's benchmarks and their tree, with the current versions or, if `until` is given, those then."""
    rows = list(
        Benchmark.objects.filter(domain=domain).order_by().values(
            "pk", "identifier", "title", "version", "parent_id", "is_mean", "order", "control", "in_tree", "access",
            "region", "species", "task", "stimuli", "n_stimuli", "n_neuroids", "metric", "created",
            "taken_from",
        )
    )  # fmt: skip
    versions = _versions(rows, until)
    names = {row["pk"]: row["identifier"] for row in rows}
    parents = {row["pk"]: row["parent_id"] for row in rows if row["is_mean"]}
    means = {names[pk] for pk in parents if _has_root(pk, parents)}
    misplaced = {names[pk] for pk in parents} - means
    misplaced |= {row["identifier"] for row in rows if row["parent_id"] is not None and row["parent_id"] not in parents}
    if misplaced:
        _log_broken_tree(tuple(sorted(misplaced)))
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
    taken_from = _taken_from(rows)
    benchmarks: dict[str, BenchmarkRow] = {}
    for row in rows:
        if row["is_mean"] or row["pk"] not in versions:
            continue
        version, ceiling = versions[row["pk"]]
        parent = names.get(row["parent_id"], "")
        counts = row["in_tree"] and not row["control"] and parent in means
        benchmarks[row["identifier"]] = BenchmarkRow(
            **{name: row[name] for name in ("pk", "identifier", "access", "control")},
            **{
                name: row[name]
                for name in ("region", "species", "task", "stimuli", "n_stimuli", "n_neuroids", "metric")
            },
            title=row["title"] or row["identifier"],
            version=version,
            parent=parent if counts else "",
            in_tree=counts,
            taken_from=taken_from[row["identifier"]],
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
    outside = [row for row in benchmarks.values() if not row.in_tree]
    outside.sort(key=lambda row: (row.control, row.identifier))
    return Structure(tree, (*(benchmarks[name] for name in tree.benchmarks), *outside))


def _taken_from(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...] | None]:
    """Return what the stimuli of benchmarks are taken from; a composed benchmark has those of its recordings."""
    known = {row["identifier"]: names_in(row["taken_from"]) for row in rows}
    of_recordings = {name.rpartition("-")[0]: names for name, names in known.items() if names is not None}
    return {
        name: of_recordings.get(name.partition(":")[0]) if names is None and ":" in name else names
        for name, names in known.items()
    }


def with_outcomes(benchmarks: Sequence[BenchmarkRow], visitor: Visitor) -> tuple[BenchmarkRow, ...]:
    """Add the outcomes of the newest audits and recoveries, of the versions that count, that the visitor may see."""
    counting_versions = {row.pk: row.version for row in benchmarks}
    rows = StoredAssessment.objects.visible_to(visitor).newest().exclude(outcome="").order_by("identifier")
    found: dict[tuple[int, str], str] = {}
    for pk, part, version, outcome in rows.values_list("benchmark_id", "part", "version", "outcome"):
        counts = counting_versions.get(pk)
        if not version or not counts or version == counts:
            found[pk, part] = outcome  # the newest is last
    if not found:
        return tuple(benchmarks)
    return tuple(
        row._replace(audit=found.get((row.pk, "audit"), ""), recovery=found.get((row.pk, "recovery"), ""))
        for row in benchmarks
    )


def _has_root(pk: int, parents: Mapping[int, int | None]) -> bool:
    """Whether the ancestors of a mean end at a root, that is, do not form a cycle."""
    visited: set[int] = set()
    current: int | None = pk
    while current is not None and current in parents:
        if current in visited:
            return False
        visited.add(current)
        current = parents[current]
    return True


@lru_cache(maxsize=16)  # log each problem only once per process
def _log_broken_tree(names: tuple[str, ...]) -> None:
    _log.error(
        "The benchmark tree is invalid: parents form a cycle, or are not means. Correct the parents of %s; until then, "
        "benchmarks below them are not included in means.",
        ", ".join(names[:20]) + (" and others" if len(names) > 20 else ""),
    )


class _FastTime(Func):
    """A UTC time in the form that is fastest to read: text from SQLite, microseconds since 1970 from PostgreSQL."""

    template = "CAST(%(expressions)s AS text)"
    arity = 1
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        template = "CAST(EXTRACT(EPOCH FROM %(expressions)s) * 1000000 AS bigint)"
        return self.as_sql(compiler, connection, template=template, **context)


def load_scores() -> Scores:
    """Load all scores. Callers must select the scores of models that the visitor may see."""
    query = Score.objects.order_by().values_list(
        "pk", "model_id", "benchmark_id", "version", "state", _FastTime("created"), "undetermined", *NUMBERS
    )
    versions: dict[str, str] = {}  # so that rows with the same version share one string
    chunks = [_columns(rows, versions) for rows in _read(query)] or [_columns([], versions)]
    scores = Scores._make(np.concatenate(columns, axis=-1) for columns in zip(*chunks, strict=True))
    ordered = [pk for rows in _read(Score.objects.order_by("receipt").values_list("pk")) for (pk,) in rows]
    scores = scores._replace(
        verification=verification_codes(scores.pk), receipt=pd.Index(ordered).get_indexer(pd.Index(scores.pk))
    )
    order = np.lexsort((scores.receipt, scores.created))
    return Scores._make(column[..., order] for column in scores)


def _read(query: QuerySet[Score, tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Read rows in chunks, without the conversions of the ORM, which would take most of the time."""
    with connections[query.db].cursor() as cursor:
        cursor.execute(*query.query.sql_with_params())
        while rows := cursor.fetchmany(_CHUNK):
            yield rows


def _columns(rows: Sequence[tuple[Any, ...]], versions: dict[str, str]) -> Scores:
    """Convert rows of the database to columns, with strings of versions from `versions`, which grows as needed."""
    columns = list(zip(*rows, strict=True)) or [()] * (7 + len(NUMBERS))
    pk, model, benchmark, version, state, created, undetermined = columns[:7]
    shared_versions = np.empty(len(rows), dtype=object)
    shared_versions[:] = [versions.setdefault(text, text) for text in version]
    is_text = any(isinstance(time_read, str) for time_read in created[:1])
    times = np.array(created, dtype="datetime64[us]" if is_text else np.int64).astype("datetime64[us]")
    numbers = np.array(columns[7:], dtype=np.float64).reshape(len(NUMBERS), len(rows))
    numbers[~np.isfinite(numbers)] = np.nan
    np.clip(numbers, -_LARGEST_SHOWN, _LARGEST_SHOWN, out=numbers)
    for name in ("error", "raw_error"):
        errors = numbers[NUMBERS.index(name)]
        errors[errors < 0] = np.nan
    return Scores(
        pk=np.array(pk, dtype=np.int64),
        model=np.array(model, dtype=np.int64),
        benchmark=np.array(benchmark, dtype=np.int64),
        version=shared_versions,
        state=np.array([_STATE_CODES[name] for name in state], dtype=np.int8),
        created=times,
        undetermined=np.array(undetermined, dtype=bool),
        verification=np.zeros(len(rows), dtype=np.int8),  # of all scores at once, afterwards
        receipt=np.zeros(len(rows), dtype=np.intp),  # the same
        numbers=numbers,
    )


def _versions(rows: Sequence[dict[str, Any]], until: datetime | None) -> dict[int, tuple[str, dict[str, Any]]]:
    """Return the version that counts and its ceiling for each benchmark, by primary key.

    If `until` is given, these are the versions at that time, and benchmarks that did not exist are omitted.
    """
    no_ceiling: dict[str, Any] = dict.fromkeys(_CEILING, math.nan) | {
        "ceiling_meaning": "", "condition": "", "since": None,
    }  # fmt: skip
    current = {}
    known = load_versions(rows)
    for row in rows:
        at = known[row["identifier"]].at(until)
        if at is None:
            continue
        counts, versions = at
        matching = (version for version in reversed(versions) if version["version"] == counts or not counts)
        ceiling = next(matching, no_ceiling)
        of_ceiling = {name: ceiling[name] for name in no_ceiling}
        current[row["pk"]] = counts, of_ceiling | {"since": ceiling["since"] and ceiling["since"].date()}
    return current


_CEILING = ("ceiling", "ceiling_error", "ceiling_low", "ceiling_high")


class VersionHistory:
    """The versions of a benchmark over time."""

    def __init__(self, counts: str, created: datetime, versions: Sequence[dict[str, Any]]) -> None:
        self.counts, self.versions = counts, versions  # the version that counts today: all if empty; all in their order
        self.start = min([created, *(version["since"] for version in versions)])
        names = [version["version"] for version in versions]
        # later versions do not count
        self._until_current = versions[: names.index(counts) + 1] if counts in names else versions

    def at(self, until: datetime | None) -> tuple[str, Sequence[dict[str, Any]]] | None:
        """Return the version that counts, and the versions up to `until`; None before the benchmark existed."""
        if until is None:
            return self.counts, self.versions
        if until < self.start:
            return None
        versions = [version for version in self._until_current if version["since"] <= until]
        return versions[-1]["version"] if self.counts and versions else self.counts, versions


def load_versions(rows: Iterable[dict[str, Any]] | None = None) -> dict[str, VersionHistory]:
    """Read the versions of the benchmarks of these rows, or of all benchmarks, by identifier."""
    if rows is None:
        rows = Benchmark.objects.filter(is_mean=False).order_by().values("pk", "identifier", "version", "created")
    known: dict[int, list[dict[str, Any]]] = {}
    query = BenchmarkVersion.objects.order_by("since", "version")
    for version in query.values("benchmark_id", "version", "since", "ceiling_meaning", "condition", *_CEILING):
        version.update({name: or_nan(version[name]) for name in _CEILING})
        known.setdefault(version["benchmark_id"], []).append(version)
    for versions in known.values():
        if all(version["version"].isascii() and version["version"].isdigit() for version in versions):
            versions.sort(key=lambda version: int(version["version"]))
    return {row["identifier"]: VersionHistory(row["version"], row["created"], known.get(row["pk"], [])) for row in rows}


STATES = (*_STATE_CODES, "left out", "too few scores")
"""States of a model on a benchmark or mean; arrays contain indices into this tuple.

A snapshot does not use three of them: a score whose ceiling may be 0 has the state *scored*. Boards of scores relative
to ceilings show it as *undetermined*; what the filter on exposure leaves out is *left out*; a mean over fewer scores
than the coverage requires has no value and *too few scores*.
"""

_SCORED, _FAILED, _NOT_RUN = (STATES.index(state) for state in ("scored", "failed", NOT_RUN))
_OF_ANY_VERSION = (STATES.index("not applicable"), _FAILED, _NOT_RUN)
"""States of pairs that may have ended before the benchmark was loaded; without a version, they count for all."""
_OUTSIDE_NODE = "\x00outside"  # temporary parent of benchmarks outside the tree, while scores are selected


class SnapshotKey(NamedTuple):
    """Identifies a snapshot."""

    revision: int
    audience: str
    at: date | None
    domain: str


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """The data of a domain that an audience may see, as read-only arrays of models × benchmarks.

    An audience is all visitors who may see the same data.
    """

    revision: int  # revision number of the site's data
    # ``'public'``; ``'all'`` for administrators; otherwise a digest of the private models that the visitor sees
    audience: str
    at: date | None  # the snapshot shows the end of this day (UTC); None: the current data
    domain: str  # name of the domain
    models: tuple[ModelRow, ...]  # models with at least one receipt, sorted by identifier
    # benchmarks of the tree in its order, then those outside the tree, then controls
    benchmarks: tuple[BenchmarkRow, ...]
    tree: Tree  # the tree of means and benchmarks
    state: NDArray[np.int8]  # indices into :data:`STATES`
    # value, error, low, high: ceiled scores with standard errors and confidence limits; NaN if not available
    value: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    # raw, raw_error, raw_low, raw_high: the same numbers before normalisation by the ceiling
    raw: NDArray[np.float64]
    raw_error: NDArray[np.float64]
    raw_low: NDArray[np.float64]
    raw_high: NDArray[np.float64]
    # whether the ceiling of a score may be 0, so that the score relative to the ceiling is meaningless
    undetermined: NDArray[np.bool_]
    # primary key of the `Score` that is shown, including failed and outdated ones; -1 if there is none
    score: NDArray[np.int64]
    # whether a score was computed by a remote worker and is in doubt: indices into `exposure.VERIFICATIONS`
    verification: NDArray[np.int8]
    # whether there is a score, and the influences of units on it, which comparisons of models need, are stored
    comparable: NDArray[np.bool_]
    # model_index, benchmark_index: row of each model, and column of each benchmark, by identifier
    model_index: dict[str, int]
    benchmark_index: dict[str, int]

    def __repr__(self) -> str:
        when = f", {self.at}" if self.at else ""
        size = f"{len(self.models)} × {len(self.benchmarks)}"
        return f"<Snapshot {self.revision}, {self.domain}, {self.audience}{when}: {size}>"

    @cached_property
    def digest(self) -> str:
        """Hash of everything except the revision: it stays the same while this audience sees the same data."""
        digest = hashlib.sha256(repr((self.audience, self.at, self.domain, self.models, self.benchmarks)).encode())
        for identifier in self.tree:
            digest.update(repr(self.tree[identifier]).encode())
        for name in ("state", "score", "undetermined", "comparable", "exposure", "verification", *NUMBERS):
            digest.update(getattr(self, name).tobytes())
        return digest.hexdigest()[:32]

    @cached_property
    def exposure(self) -> NDArray[np.int8]:
        """Whether models were trained on the stimuli of benchmarks: indices into `exposure.EXPOSURES`."""
        matrix = exposure_matrix([row.training for row in self.models], [row.taken_from for row in self.benchmarks])
        matrix.flags.writeable = False
        return matrix

    @property
    def key(self) -> SnapshotKey:
        """The key that identifies the snapshot."""
        return SnapshotKey(self.revision, self.audience, self.at, self.domain)

    def names(self, columns: NDArray[np.intp]) -> list[str]:
        """Return the identifiers of some benchmarks."""
        return [self.benchmarks[column].identifier for column in columns.tolist()]

    def influences(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> list[list[ScoreInfluence | None]]:
        """Return the influences of units on the scores of some models and benchmarks; None if they are not stored."""
        block = np.ix_(rows, columns)
        stored, keys, values = self.comparable[block], self.score[block], self.value[block]
        influences = influences_of(dict(zip(keys[stored].tolist(), values[stored].tolist(), strict=True)))
        return [
            [influences.get(key) if is_stored else None for key, is_stored in zip(*row, strict=True)]
            for row in zip(keys.tolist(), stored.tolist(), strict=True)
        ]


_scores: Cache[int, Scores] = Cache(most=2)
_receipts: Cache[int, Receipts] = Cache(most=1)
_snapshots: Cache[SnapshotKey, Snapshot] = Cache(most=8)
_past: Cache[SnapshotKey, Snapshot] = Cache(most=4)  # separate, so that past days do not displace current snapshots


def snapshot_for(visitor: Visitor, domain: str = FIRST, *, at: date | None = None) -> Snapshot:
    """Return the snapshot of a domain for a visitor; it is cached until the data change."""
    key = SnapshotKey(revision.current(), _audience(visitor), at, domain)

    def load() -> Snapshot:
        _scores.drop(lambda cached_revision: cached_revision < key.revision)
        for cache in (_snapshots, _past):
            cache.drop(lambda cached_key: cached_key.revision < key.revision)
        return _load(visitor, key)

    return (_snapshots if at is None else _past).get(key, load)


def scores_at(key: int) -> Scores:
    """Return all scores of a revision from the cache; callers select those that the visitor may see."""
    return _scores.get(key, load_scores)


def receipts_in_order() -> Receipts:
    """Return all receipts of the site from the cache; callers select those that the visitor may see.

    As on the leaderboard, the newest receipt of a model on the current version of a benchmark counts; of several with
    the same time, the one with the last id.
    """
    key = revision.current()
    return _receipts.get(key, lambda: _in_order(scores_at(key)))


def _in_order(scores: Scores) -> Receipts:
    versions = dict(Benchmark.objects.order_by().values_list("pk", "version"))
    benchmarks, columns = np.unique(scores.benchmark, return_inverse=True)
    current = np.array([versions.get(pk, "") for pk in benchmarks.tolist()], dtype=object)[columns]
    of_any_version = (scores.version == "") & np.isin(scores.state, _OF_ANY_VERSION)
    current_version = (current == "") | (scores.version == current) | of_any_version
    not_run = scores.state == _NOT_RUN
    # the last one of each pair counts; scores are sorted by time, and any result is after pairs that were not run
    rows = np.concatenate([np.flatnonzero(current_version & some) for some in (not_run, ~not_run)])[::-1]
    pairs = scores.model[rows] * len(benchmarks) + columns[rows]
    counts = np.zeros(len(scores.pk), dtype=bool)
    counts[rows[np.unique(pairs, return_index=True)[1]]] = True
    order = np.argsort(scores.receipt)[np.count_nonzero(scores.receipt < 0) :]
    shown = (scores.pk, scores.model, scores.benchmark, scores.version, scores.state, scores.created, counts)
    return Receipts._make(column[order] for column in shown)


def clear_snapshots() -> None:
    """Clear the cached snapshots, scores and influences of this process; `board.clear_caches` also clears boards."""
    for cache in (_scores, _receipts, _snapshots, _past):
        cache.clear()
    clear_influences()


def _audience(visitor: Visitor) -> str:
    """Return `Snapshot.audience` of a visitor."""
    if not visitor.is_authenticated:
        return "public"
    if visitor.is_active and visitor.has_perm("leaderboard.view_private"):
        return "all"
    private = VisionModel.objects.visible_to(visitor).exclude(visibility=Visibility.PUBLIC)
    seen = sorted(private.order_by().values_list("pk", flat=True))
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:32] if seen else "public"


def _load(visitor: Visitor, key: SnapshotKey) -> Snapshot:
    until = None if key.at is None else datetime.combine(key.at, time.max, UTC)
    models = load_models(visitor, key.domain, sees_all=key.audience == "all")
    tree, benchmarks = load_structure(key.domain, until)
    if until is None:
        benchmarks = with_outcomes(benchmarks, visitor)
    scores = scores_at(key.revision)
    numbers = dict(zip(NUMBERS, scores.numbers, strict=True))
    n_scores = (
        len(scores.pk) if until is None else int(np.searchsorted(scores.created, _datetime64(until), side="right"))
    )

    rows = pd.Index([model.pk for model in models]).get_indexer(pd.Index(scores.model[:n_scores]))
    columns = pd.Index([benchmark.pk for benchmark in benchmarks]).get_indexer(pd.Index(scores.benchmark[:n_scores]))
    has_receipt = np.zeros(len(models), dtype=bool)
    has_receipt[rows[rows >= 0]] = True
    models = [model for model, shown in zip(models, has_receipt.tolist(), strict=True) if shown]
    visible = np.flatnonzero((rows >= 0) & (columns >= 0))  # scores of models and benchmarks of this snapshot
    rows, columns = (np.cumsum(has_receipt) - 1)[rows[visible]], columns[visible]

    outside = [
        TreeNode(
            identifier=row.identifier, parent=_OUTSIDE_NODE, benchmark=True, version=row.version or None, order=order
        )
        for order, row in enumerate(benchmarks)
        if not row.in_tree
    ]
    everything = tree.extended([TreeNode(identifier=_OUTSIDE_NODE, order=2**62), *outside])
    not_run = scores.state[visible] == _NOT_RUN
    selected = counting(
        everything,
        rows,
        columns,
        n_models=len(models),
        versions=scores.version[visible],
        states=np.where(not_run, _FAILED, scores.state[visible]),
        # scores are sorted by time, so their indices can replace it; any result counts before a pair that was not run
        created=np.where(not_run, visible - n_scores, visible),
        scores=numbers["value"][visible],
        errors=numbers["error"][visible],
    )
    is_scored = selected.states == _SCORED
    failed = selected.states == _FAILED
    selected.states[failed] = np.where(not_run[selected.rows[failed]], _NOT_RUN, _FAILED)

    def of_pairs(column: NDArray[Any], where: NDArray[np.bool_], missing: Any) -> NDArray[Any]:
        array = np.full(selected.rows.shape, missing, dtype=column.dtype)
        array[where] = column[visible[selected.rows[where]]]
        return array

    score = of_pairs(scores.pk, selected.rows >= 0, -1)
    with_influences = StoredInfluence.objects.order_by().exclude(parts=[]).values_list("score_id", flat=True)
    arrays: dict[str, NDArray[Any]] = {
        **{name: of_pairs(column, is_scored, np.nan) for name, column in numbers.items()},
        "state": selected.states,
        "undetermined": of_pairs(scores.undetermined, is_scored, False),
        "score": score,
        "verification": of_pairs(scores.verification, is_scored, 0),
        "comparable": is_scored & np.isin(score, np.fromiter(with_influences, dtype=np.int64)),
    }
    for array in arrays.values():
        array.flags.writeable = False
    return Snapshot(
        revision=key.revision,
        audience=key.audience,
        at=key.at,
        domain=key.domain,
        models=tuple(models),
        benchmarks=benchmarks,
        tree=tree,
        model_index={model.identifier: row for row, model in enumerate(models)},
        benchmark_index={benchmark.identifier: column for column, benchmark in enumerate(benchmarks)},
        **arrays,
    )


def _datetime64(time_: datetime) -> np.datetime64:
    """Convert a time with a time zone to UTC."""
    return np.datetime64(time_.astimezone(UTC).replace(tzinfo=None), "us")
