"""Rows of scores: validation, creation of their models and benchmarks, and bulk insertion."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import DataError, IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone

from brainscore_core.domain_names import DOMAINS, FIRST
from brainscore_core.populations import UNRECORDED, condition_of_result
from brainscore_core.scoring import EXPORT_COLUMNS, Problem, Receipt
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.catalogue import fill_in, listed_benchmark, placement, sync_means
from brainscore_web.leaderboard.clean import (
    LARGEST,
    LONGEST_TEXT,
    check_identifier,
    check_receipt,
    json_value,
    moment,
    number,
    text,
)
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    Ingestion,
    Score,
    Visibility,
    VisionModel,
    chunks,
)
from brainscore_web.leaderboard.reasons import NOT_RUN, not_run_reason
from brainscore_web.leaderboard.revision import exclusive_write

if TYPE_CHECKING:
    from brainscore_web.accounts.models import User

_ROWS_PER_STATEMENT = 5000


def insert_scores(scores: Iterable[Score]) -> None:
    """Insert scores; those with a known receipt are skipped."""
    remaining = iter(scores)
    while batch := list(islice(remaining, _ROWS_PER_STATEMENT)):
        Score.objects.bulk_create(batch, ignore_conflicts=True)


_MAX_PROBLEMS = 1000


@dataclass
class IngestReport:
    """Result of an ingestion."""

    # added, known: number of new receipts, and of those that were already stored
    added: int = 0
    known: int = 0
    assessments: int = 0  # number of new assessments of benchmarks
    first_problems: list[Problem] = field(default_factory=list)
    n_further_problems: int = 0

    def add_problem(self, where: str, message: str, remedy: str | None = None) -> None:
        """Add a problem; only the first 1,000 are stored."""
        if len(self.first_problems) < _MAX_PROBLEMS:
            self.first_problems.append(Problem(json_value(where), json_value(message[:2000]), remedy))
        else:
            self.n_further_problems += 1

    @property
    def problems(self) -> list[Problem]:
        """Receipts that could not be read: at most the first 1,000, and the number of further ones."""
        further = f"{self.n_further_problems:,} more could not be read"
        return [*self.first_problems, *([Problem("further receipts", further)] if self.n_further_problems else [])]


_CEILING = (
    *("ceiling", "ceiling_error", "ceiling_low", "ceiling_high", "ceiling_level"),
    *("ceiling_meaning", "ceiling_estimates", "ceiling_reason", "lower_bound"),
)


def benchmarks_of(rows: Sequence[Row]) -> dict[str, Benchmark]:
    """Return the benchmarks and means of some rows by identifier; new benchmarks are created."""
    rows = sorted(rows, key=lambda row: row.created)
    oldest = {row.benchmark: row for row in reversed(rows)}  # whose domain is that of a new benchmark
    newest = {row.benchmark: row for row in rows if row.domain == oldest[row.benchmark].domain}
    benchmarks = _existing_benchmarks(newest)
    missing = [name for name in newest if name not in benchmarks]
    if missing:
        means = {domain: sync_means(domain).ids for domain in {newest[name].domain for name in missing}}
        new = []
        for name in missing:
            row = newest[name]
            if any(name in ids for ids in means.values()):
                continue  # sync_means has just created it
            benchmark = Benchmark(identifier=name, domain=row.domain, created=oldest[name].created)
            fill_in(benchmark, _values(row, means[row.domain]))
            new.append(benchmark)
        Benchmark.objects.bulk_create(new, ignore_conflicts=True)
        benchmarks |= _existing_benchmarks(missing)
    return benchmarks


def keep_versions(benchmarks: Mapping[str, Benchmark], rows: Iterable[Row]) -> None:
    """Store the versions in receipts, with the date of the first receipt and the ceiling of the newest one.

    For benchmarks that the installed package does not list, the newest version becomes the one that counts.
    """
    seen: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.version:
            seen.setdefault((row.benchmark, row.version), []).append(row)
    kept = _existing_versions({benchmarks[name].pk for name, _ in seen})
    changed = []
    for (name, version), version_rows in seen.items():
        pk, first = benchmarks[name].pk, min(row.created for row in version_rows)
        known = kept.get((pk, version))
        stored = known or BenchmarkVersion(benchmark_id=pk, version=version, since=first)
        earlier = first < stored.since
        if earlier:
            stored.since = first
        updated = [_update_ceiling(stored, version_rows), _update_condition(stored, version_rows)]
        if any(updated) or earlier or known is None:
            changed.append(stored)
            kept[pk, version] = stored
    BenchmarkVersion.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["benchmark", "version"],
        update_fields=["since", "synced", "condition", *_CEILING],
    )
    _choose_versions(benchmarks, seen, kept)


def _existing_benchmarks(names: Collection[str]) -> dict[str, Benchmark]:
    return {row.identifier: row for part in chunks(names) for row in Benchmark.objects.filter(identifier__in=part)}


def _existing_versions(benchmarks: Collection[int]) -> dict[tuple[int, str], BenchmarkVersion]:
    return {
        (row.benchmark_id, row.version): row
        for part in chunks(benchmarks)
        for row in BenchmarkVersion.objects.filter(benchmark__in=part)
    }


def _values(row: Row, means: Mapping[str, int]) -> dict[str, Any]:
    place = placement(row.domain, row.benchmark, means, parent=row.parent, control=row.control, version=row.version)
    return {**place._asdict(), "bibtex": row.bibtex, "plugin": row.benchmark_plugin}


def _update_ceiling(version: BenchmarkVersion, rows: Iterable[Row]) -> bool:
    """Update the ceiling unless it was edited; return whether it changed."""
    newest = max((row for row in rows if row.ceiling is not None), key=lambda row: row.created, default=None)
    if newest is None:
        return False
    moment, written = newest.created.isoformat(timespec="microseconds"), version.synced
    edited = any(getattr(version, name) not in (written.get(name), None, "") for name in _CEILING)
    if edited or moment <= written.get("created", ""):
        return False
    for name in _CEILING:
        setattr(version, name, getattr(newest, name))
    version.synced |= {**{name: getattr(newest, name) for name in _CEILING}, "created": moment}
    return True


def _update_condition(version: BenchmarkVersion, rows: Iterable[Row]) -> bool:
    """Read from the newest score that states it for which few subjects or groups alone it holds; return whether new."""
    scored = [(row.created, _condition_of(row)) for row in rows if row.value is not None]
    stated = [(created, condition) for created, condition in scored if condition != UNRECORDED]
    if not stated:
        unknown = bool(scored) and not version.condition and "condition_read" not in version.synced
        version.condition = UNRECORDED if unknown else version.condition
        return unknown
    created, condition = max(stated)
    moment = created.isoformat(timespec="microseconds")
    if moment <= version.synced.get("condition_read", ""):
        return False
    version.condition = text(condition, version._meta.get_field("condition").max_length)
    version.synced |= {"condition_read": moment}
    return True


def _condition_of(row: Row) -> str:
    raw = (row.document or {}).get("raw") or {}
    return condition_of_result(row.estimates, raw.get("ci_estimates"))


def _choose_versions(
    benchmarks: Mapping[str, Benchmark],
    seen: Mapping[tuple[str, str], Sequence[Row]],
    kept: Mapping[tuple[int, str], BenchmarkVersion],
) -> None:
    versions_of: dict[int, list[BenchmarkVersion]] = {}
    for (pk, _), version in kept.items():
        versions_of.setdefault(pk, []).append(version)
    for name in {name for name, _ in seen}:
        benchmark = benchmarks[name]
        newest = _newest(versions_of[benchmark.pk]).version
        if listed_benchmark(benchmark.domain, name) is not None or newest == benchmark.version:
            continue
        values = {"version": newest}
        if (name, newest) in seen:
            values = _values(max(seen[name, newest], key=lambda row: row.created), sync_means(benchmark.domain).ids)
        if changed := fill_in(benchmark, values):
            Benchmark.objects.filter(pk=benchmark.pk).update(**{name: getattr(benchmark, name) for name in changed})


def _newest(versions: Sequence[BenchmarkVersion]) -> BenchmarkVersion:
    """Return the highest version if all are numbers, otherwise the one with the latest first receipt."""
    if all(row.version.isascii() and row.version.isdigit() for row in versions):
        return max(versions, key=lambda row: int(row.version))
    return max(versions, key=lambda row: row.since)


def model_ids(
    plugins: Mapping[str, str], domains: Mapping[str, str], *, owner: User | None, visibility: str
) -> dict[str, int]:
    """Return the primary keys of models, given with plugins (empty if not known) and domains; new ones are created.

    New private models belong to `owner`.
    """
    ids = _existing_models(plugins)
    missing = [name for name in plugins if name not in ids]
    if missing:
        new = []
        for name in missing:
            model = VisionModel(identifier=name, domain=domains[name], visibility=visibility)
            model.owner = owner if visibility == Visibility.PRIVATE else None
            fill_in(model, {"plugin": plugins[name]})
            new.append(model)
        VisionModel.objects.bulk_create(new, ignore_conflicts=True)
        ids |= _existing_models(missing)
    return ids


def _existing_models(names: Collection[str]) -> dict[str, int]:
    return {
        identifier: pk
        for part in chunks(names)
        for identifier, pk in VisionModel.objects.filter(identifier__in=part).values_list("identifier", "pk")
    }


class Row(NamedTuple):
    """A score and what its receipt says about the model, the benchmark and the ceiling, after validation."""

    receipt: str
    created: datetime
    model: str
    benchmark: str
    version: str
    parent: str | None
    control: bool
    state: str
    reason: str = ""
    value: float | None = None
    error: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    estimates: str = ""
    error_reason: str = ""
    undetermined: str = ""
    scale: str = ""
    unclamped: float | None = None
    raw: float | None = None
    raw_error: float | None = None
    raw_low: float | None = None
    raw_high: float | None = None
    ceiling: float | None = None
    ceiling_error: float | None = None
    ceiling_low: float | None = None
    ceiling_high: float | None = None
    ceiling_level: float | None = None
    ceiling_meaning: str = ""
    ceiling_estimates: str = ""
    ceiling_reason: str = ""
    lower_bound: float | None = None
    seconds: float | None = None
    model_plugin: str = ""
    benchmark_plugin: str = ""
    bibtex: str = ""
    document: dict[str, Any] | None = None
    domain: str = FIRST


_MEASURED = (
    *("value", "error", "low", "high", "unclamped", "raw", "raw_error", "raw_low", "raw_high"),
    *("ceiling", "ceiling_error", "ceiling_low", "ceiling_high", "lower_bound"),
)
"""Attributes of `Row` that are numbers on the scale of scores."""


def _too_large(row: Row) -> str:
    """Return a message on the first number that is too large for a score; empty if there is none."""
    for name in _MEASURED:
        value = getattr(row, name)
        if isinstance(value, float) and abs(value) > LARGEST:
            what = {"value": "score"}.get(name, name.replace("_", " "))
            return f"its {what} is {value:g}; at most ±{LARGEST:,.0f} is allowed"
    return ""


@lru_cache(maxsize=1)
def limits() -> dict[str, int | None]:
    """Return the maximum length of columns by attribute of `Row`."""
    fields: dict[str, tuple[type[Model], str]] = {
        **{name: (Score, name) for name in ("version", "estimates", "error_reason", "undetermined", "scale")},
        **{name: (BenchmarkVersion, name) for name in ("ceiling_meaning", "ceiling_estimates", "ceiling_reason")},
        "model": (VisionModel, "identifier"),
        "benchmark": (Benchmark, "identifier"),
        "model_plugin": (VisionModel, "plugin"),
        "benchmark_plugin": (Benchmark, "plugin"),
    }
    return {name: model._meta.get_field(field).max_length for name, (model, field) in fields.items()}


NAMED = ("receipt", "model", "benchmark", "version", "state")
"""Attributes of `Row` whose values are refused rather than cut if they are too long."""
COLUMNS = {name: name for name in Row._fields} | {
    "receipt": "id",
    "value": "score",
    "low": "ci_low",
    "high": "ci_high",
    "level": "ci_level",
    "estimates": "ci_estimates",
    "raw_low": "raw_ci_low",
    "raw_high": "raw_ci_high",
    "ceiling_low": "ceiling_ci_low",
    "ceiling_high": "ceiling_ci_high",
    "ceiling_level": "ceiling_ci_level",
    "ceiling_estimates": "ceiling_ci_estimates",
    "ceiling_reason": "ceiling_error_reason",
    "lower_bound": "ceiling_lower_bound",
    "seconds": "seconds_total",
}
"""Columns of exported tables by attribute of `Row`."""
FALLBACK = {"error_reason": "ci_reason", "ceiling_error_reason": "ceiling_ci_reason"}
"""Columns that replace missing values of others."""
TYPES = {column.name: column.type for column in EXPORT_COLUMNS}
"""Types of the columns of exported tables."""
_READ = [column for column in EXPORT_COLUMNS if column.name in {*COLUMNS.values(), *FALLBACK.values()}]


def row_from(values: Mapping[str, Any]) -> Row:
    """Validate values by the columns of exported tables, and return what the site shows of them."""
    fields: dict[str, Any] = {"parent": None, "control": False}
    for attribute, column in COLUMNS.items():
        value = values.get(column)
        if value is None:
            value = values.get(FALLBACK.get(column, ""))
        if value is None and attribute not in NAMED:
            continue  # the default
        if TYPES[column] == "number":
            fields[attribute] = number(value)
        elif TYPES[column] == "text" and attribute not in NAMED:
            fields[attribute] = text(value, limits().get(attribute))
        else:
            fields[attribute] = "" if value is None else value
    check_receipt(fields["receipt"])
    for name in ("model", "benchmark", "version"):
        if fields[name] or name != "version":
            check_identifier(fields[name], f"the {name}", limits()[name] or 0)
    if "created" not in fields:
        raise ValueError("its time is missing")
    row = Row(**{**fields, "created": moment(fields["created"])})
    if problem := _too_large(row):
        raise ValueError(problem)
    return row


def row_of(document: Mapping[str, Any] | Receipt) -> Row:
    """Validate a receipt, and return what the site shows of it."""
    plain = json_value(document.to_dict() if isinstance(document, Receipt) else document)
    receipt = Receipt.from_dict(plain)
    if receipt.answer is not None:
        raise ValueError("it answers a question, and is not a score of the benchmark")
    if receipt.domain not in DOMAINS:
        raise ValueError(f"its domain is {receipt.domain[:60]!r}; domains of this site: {', '.join(DOMAINS)}")
    row, not_run = row_from({column.name: column.read(receipt) for column in _READ}), not_run_reason(receipt)
    finding = text(receipt.score.finding, limits()["error_reason"]) if receipt.score else ""
    bibtex = receipt.benchmark.bibtex or ""
    return row._replace(
        state=NOT_RUN if not_run else row.state,
        reason=not_run or row.reason,
        error_reason=finding or row.error_reason,
        bibtex=text(bibtex) if len(bibtex) < LONGEST_TEXT else "",
        document=plain,
    )


def _misplaced(row: Row, benchmark: Benchmark, domain_of_model: str) -> str:
    """Return why a row has no place on the site; empty if it has one."""
    if benchmark.is_mean:
        return f"{row.benchmark!r} is a mean of the leaderboard, not a benchmark"
    for name, domain in ((row.benchmark, benchmark.domain), (row.model, domain_of_model)):
        if domain != row.domain:
            return f"it is of the domain {row.domain}, but {name!r} is of the domain {domain} here"
    return ""


def domains_of_models(names: Collection[str]) -> dict[str, str]:
    """Return the domains of existing models by identifier."""
    rows = VisionModel.objects.order_by().values_list("identifier", "domain")
    return {name: domain for part in chunks(set(names)) for name, domain in rows.filter(identifier__in=part)}


_OF_SCORE = {field.name for field in Score._meta.concrete_fields}.intersection(Row._fields) - {"model", "benchmark"}


def known_receipts(ids: Collection[str]) -> set[str]:
    """Return those of these receipts that are already stored."""
    scores = Score.objects.order_by()
    return {
        receipt for part in chunks(ids) for receipt in scores.filter(receipt__in=part).values_list("receipt", flat=True)
    }


class Writer:
    """Writes rows in batches, each completely or not at all, and counts the results.

    `by` is the user who ingests, and becomes the owner of new private models.
    """

    def __init__(self, by: User | None, visibility: str) -> None:
        self._by = by
        self._visibility = visibility
        self.report = IngestReport()

    @contextmanager
    def ingesting(self, source: str) -> Iterator[None]:
        """Record the ingestion, even if it fails."""
        started = timezone.now()
        record = Ingestion.objects.create(source=text(source, 500), by=self._by, started=started)
        try:
            yield
        finally:
            record.added, record.known, record.finished = self.report.added, self.report.known, timezone.now()
            record.problems = [
                {"where": problem.path, "message": problem.message, "remedy": problem.remedy}
                for problem in self.report.problems
            ]
            # not `by`, which is null if the account has been deleted meanwhile
            record.save(update_fields=["added", "known", "finished", "problems"])

    def write(self, rows: Sequence[Row]) -> None:
        """Write those of these rows that are new."""
        if not rows:
            return
        with exclusive_write():
            known = known_receipts([row.receipt for row in rows])
            new = sorted({row.receipt: row for row in rows if row.receipt not in known}.values())
            n_new = len(new)
            benchmarks = benchmarks_of(new)
            domains = domains_of_models([row.model for row in new])
            domains = {row.model: domains.get(row.model, row.domain) for row in reversed(new)}  # as the first says
            problems = {row.receipt: _misplaced(row, benchmarks[row.benchmark], domains[row.model]) for row in new}
            for receipt, problem in problems.items():
                if problem:
                    self.report.add_problem(receipt, problem)
            new = [row for row in new if not problems[row.receipt]]
            models = self.models({row.model: row.model_plugin for row in new}, domains)
            written = self._insert(new, models, benchmarks)
            keep_versions(benchmarks, written)
            if n_new:
                revision.bump()  # in the same transaction, so that caches are invalidated even if the process is killed
        self.report.added += len(written)
        self.report.known += len(rows) - n_new

    def models(self, plugins: Mapping[str, str], domains: Mapping[str, str]) -> dict[str, int]:
        """Return the primary keys of models, given with plugins and domains; new ones have the writer's visibility."""
        return model_ids(plugins, domains, owner=self._by, visibility=self._visibility)

    def _insert(self, rows: list[Row], models: Mapping[str, int], benchmarks: Mapping[str, Benchmark]) -> list[Row]:
        """Insert scores and return them; those that the database refuses are reported."""
        scores = [
            Score(
                model_id=models[row.model],
                benchmark_id=benchmarks[row.benchmark].pk,
                **{name: getattr(row, name) for name in _OF_SCORE},
            )
            for row in rows
        ]
        try:
            with transaction.atomic():
                insert_scores(scores)
        except (DataError, IntegrityError) as error:
            if len(rows) == 1:
                self.report.add_problem(rows[0].receipt, f"the database refused it: {error}")
                return []
            return [row for row in rows if self._insert([row], models, benchmarks)]
        return rows
