"""Ingestion of receipts, of whole results stores, and of exported tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from django.db.models import QuerySet

from brainscore_core.errors import UserError
from brainscore_core.scoring import Problem, Receipt, ResultsStore, State
from brainscore_web.leaderboard.influence import keep_influences
from brainscore_web.leaderboard.ingest.assessments import keep_assessments
from brainscore_web.leaderboard.ingest.rows import COLUMNS, FALLBACK, TYPES, IngestReport, Row, Writer, row_from, row_of
from brainscore_web.leaderboard.models import Score, Visibility
from brainscore_web.leaderboard.outcomes import keep_outcomes, scores_without_outcomes

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

    from brainscore_web.accounts.models import User

BATCH = 500
"""Number of receipts that are written at once."""


def ingest_receipts(
    documents: Iterable[Mapping[str, Any] | Receipt],
    *,
    by: User | None,
    default_visibility: str = Visibility.PRIVATE,
    source: str = "posted",
) -> IngestReport:
    """Ingest receipts."""
    writer = Writer(by, default_visibility)
    with writer.ingesting(source):
        waiting: list[Row] = []
        for place, document in enumerate(documents, start=1):
            add(waiting, document, _name(place, document), writer)
            if len(waiting) == BATCH:
                writer.write(waiting)
                waiting.clear()
        writer.write(waiting)
    return writer.report


def add(rows: list[Row], document: Any, name: str, writer: Writer) -> None:
    """Add a receipt to the rows to be written, or report its problem."""
    try:
        rows.append(row_of(document))
    except UserError as error:
        writer.report.add_problem(name, error.message, error.remedy)
    except (ValueError, RecursionError) as error:
        writer.report.add_problem(name, str(error) or type(error).__name__)


def _name(place: int, document: Any) -> str:
    identifier = document.id if isinstance(document, Receipt) else None
    if isinstance(document, Mapping):
        identifier = document.get("id")
    return f"receipt {place} ({identifier[:60]})" if isinstance(identifier, str) and identifier else f"receipt {place}"


Progress = Callable[[int, int], None]
"""Called with the number of receipts read so far, and their total number."""


def ingest_store(
    address: str | Path,
    *,
    on_progress: Progress | None = None,
    default_visibility: str = Visibility.PUBLIC,
) -> IngestReport:
    """Ingest the new receipts and assessments of a results folder or bucket; known ones are not opened."""
    if not str(address).strip():
        raise UserError("the address is empty", remedy="name a results folder, or s3://bucket/prefix")
    if not str(address).startswith("s3:/") and not Path(address).expanduser().is_dir():
        raise UserError(f"there is no folder {address}", remedy="name a results folder, or s3://bucket/prefix")
    store = ResultsStore(address)
    writer = Writer(None, default_visibility)
    with writer.ingesting(store.address):
        known = set(Score.objects.order_by().values_list("receipt", flat=True).iterator(chunk_size=10_000))
        scan = store.scan(known)
        writer.report.known = scan.known
        waiting: list[Row] = []
        new: list[Receipt] = []
        for place, item in enumerate(scan.found, start=1):
            if isinstance(item, Problem):
                writer.report.add_problem(item.path, item.message, item.remedy)
            else:
                add(waiting, item, store.address_of(item), writer)
                new.append(item)
            if len(waiting) == BATCH or place == scan.unread:
                writer.write(waiting)
                waiting.clear()
                keep_influences(store, new)
                keep_outcomes(store, new)
                new.clear()
                if on_progress is not None:
                    on_progress(place, scan.unread)
        writer.write(waiting)  # the last number is not reached if a file has been deleted meanwhile
        keep_influences(store, [*new, *_ingested_before(known, Score.objects.filter(influence=None))])
        keep_outcomes(store, [*new, *_ingested_before(known, scores_without_outcomes())])
        keep_assessments(store, writer)
    return writer.report


def _ingested_before(receipts: set[str], scores: QuerySet[Score]) -> Iterator[Receipt]:
    """Receipts with attachments that were ingested before, of some scores."""
    rows = scores.order_by("pk").filter(state=Score.State.SCORED, document__isnull=False)
    for identifier, document in rows.values_list("receipt", "document").iterator(chunk_size=BATCH):
        if identifier in receipts and document.get("attachments"):
            with suppress(UserError):
                yield Receipt.from_dict(document)


_NEEDED = ("id", "created", "model", "benchmark", "version", "state", "score")
_STATES = frozenset(get_args(State))


def columns_of(schema: Any, path: str) -> list[str]:
    """Return the columns to read."""
    remedy = "ingest a file that brainscore results export FILE.parquet wrote"
    if missing := [name for name in _NEEDED if name not in schema.names]:
        raise UserError(f"{path} has no column {', '.join(map(repr, missing))}", remedy=remedy)
    columns = [name for name in TYPES if name in {*COLUMNS.values(), *FALLBACK.values()} and name in schema.names]
    for name in columns:
        if schema.names.count(name) > 1:
            raise UserError(f"{path} has several columns {name!r}", remedy=remedy)
        actual = schema.field(name).type
        if not _fits(TYPES[name], actual):
            raise UserError(
                f"the column {name!r} of {path} has type {actual}, not {TYPES[name]}",
                remedy=remedy,
            )
    return columns


def rows_of(batch: Any, before: int, report: IngestReport) -> list[Row]:
    """Return the valid rows of a batch; the others are reported."""
    rows = []
    for place, values in enumerate(batch.to_pylist(), start=before + 1):
        try:
            rows.append(_row(values))
        except ValueError as error:
            report.add_problem(f"row {place} ({(values['id'] or '')[:60]})", str(error))
    return rows


def _row(values: Mapping[str, Any]) -> Row:
    """Validate a row of a table, and return what the site shows of it."""
    row = row_from(values)
    if row.state not in _STATES:
        raise ValueError(f"the state {row.state[:60]!r} is unknown")
    if (row.state == "scored") != (row.value is not None):
        raise ValueError("it is scored but has no score" if row.value is None else f"it is {row.state} but has a score")
    if min(row.error or 0, row.raw_error or 0, row.ceiling_error or 0) < 0:
        raise ValueError("a standard error is negative")
    return row


def _fits(kind: str, actual: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(actual):
        actual = actual.value_type
    if types.is_null(actual):
        return True
    return {
        "text": types.is_string(actual) or types.is_large_string(actual),
        "number": types.is_floating(actual) or types.is_integer(actual),
        "truth": types.is_boolean(actual),
        "time": types.is_timestamp(actual),
        "integer": types.is_integer(actual),
    }[kind]


_BATCH = 10_000


def ingest_table(
    path: str | Path,
    *,
    on_progress: Progress | None = None,
    default_visibility: str = Visibility.PUBLIC,
) -> IngestReport:
    """Ingest a Parquet file that ``brainscore results export`` wrote.

    It is processed in batches of 10,000 rows. NaN, infinities and null all count as missing.
    """
    with _opened(Path(path).expanduser()) as file:
        columns = columns_of(file.schema_arrow, str(path))
        total = file.metadata.num_rows
        writer = Writer(None, default_visibility)
        done = 0
        with writer.ingesting(str(path)):
            for batch in _batches(file, columns, str(path)):
                writer.write(rows_of(batch, done, writer.report))
                done += batch.num_rows
                if on_progress is not None:
                    on_progress(done, total)
    return writer.report


def _opened(path: Path) -> ParquetFile:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise UserError(
            "Parquet files require pyarrow, which is not installed", remedy='pip install "brainscore[tables]"'
        ) from error
    try:
        return ParquetFile(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise UserError(
            f"{path} cannot be read: {error}", remedy="name a file that brainscore results export FILE.parquet wrote"
        ) from error


def _batches(file: ParquetFile, columns: list[str], path: str) -> Iterator[Any]:
    import pyarrow

    try:
        for batch in file.iter_batches(_BATCH, columns=columns):
            batch.validate(full=True)  # finds text that is not UTF-8
            created = batch.schema.get_field_index("created")
            if pyarrow.types.is_timestamp(batch.column(created).type):  # times of Python have microseconds
                kind = pyarrow.timestamp("us", tz=batch.column(created).type.tz)
                batch = batch.set_column(created, "created", batch.column(created).cast(kind, safe=False))
            yield batch
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise UserError(f"{path} is damaged: {error}", remedy="export it again") from error
