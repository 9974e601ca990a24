"""Ingestion of receipts, of whole results stores, and of exported tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.scoring import EXPORT_COLUMNS, Problem, Receipt, ResultsStore, State
from brainscore_web.leaderboard.clean import (
    FUTURE,
    LARGEST,
    LONGEST_TEXT,
    REPLACEMENT,
    check_identifier,
    check_receipt,
)
from brainscore_web.leaderboard.influence import keep_influences
from brainscore_web.leaderboard.ingest.assessments import keep_assessments
from brainscore_web.leaderboard.ingest.rows import MEASURED, IngestReport, Row, Tally, Writer, limits, row_of, too_large
from brainscore_web.leaderboard.models import Score, Visibility

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
    return writer.tally.report()


def add(rows: list[Row], document: Any, name: str, writer: Writer) -> None:
    """Add a receipt to the rows to be written, or report its problem."""
    try:
        rows.append(row_of(document))
    except UserError as error:
        writer.tally.add_problem(name, error.message, error.remedy)
    except (ValueError, RecursionError) as error:
        writer.tally.add_problem(name, str(error) or type(error).__name__)


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
        writer.tally.known = scan.known
        waiting: list[Row] = []
        new: list[Receipt] = []
        for place, item in enumerate(scan.found, start=1):
            if isinstance(item, Problem):
                writer.tally.add_problem(item.path, item.message, item.remedy)
            else:
                add(waiting, item, store.address_of(item), writer)
                new.append(item)
            if len(waiting) == BATCH or place == scan.unread:
                writer.write(waiting)
                waiting.clear()
                keep_influences(store, new)
                new.clear()
                if on_progress is not None:
                    on_progress(place, scan.unread)
        writer.write(waiting)  # the last number is not reached if a file has been deleted meanwhile
        keep_influences(store, [*new, *_without_influences(known)])
        keep_assessments(store, writer)
    return writer.tally.report()


def _without_influences(receipts: set[str]) -> Iterator[Receipt]:
    """Receipts that were ingested before, of scores whose influences have not been read."""
    rows = Score.objects.order_by("pk").filter(state=Score.State.SCORED, influence=None, document__isnull=False)
    for identifier, document in rows.values_list("receipt", "document").iterator(chunk_size=BATCH):
        if identifier in receipts and document.get("attachments"):
            with suppress(UserError):
                yield Receipt.from_dict(document)


_NEEDED = ("id", "created", "model", "benchmark", "version", "state", "score")
_NAMED = ("receipt", "model", "benchmark", "version", "state")  # too long values are refused rather than cut
_COLUMN = {
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
"""Columns of the table by attribute of `Row`, if their names differ."""
_FALLBACK = {"error_reason": "ci_reason", "ceiling_error_reason": "ceiling_ci_reason"}
"""Columns that replace missing values of others."""
_TYPES = {column.name: column.type for column in EXPORT_COLUMNS}
_STATES = frozenset(get_args(State))


def columns_of(schema: Any, path: str) -> list[str]:
    """Return the columns to read."""
    remedy = "ingest a file that brainscore results export FILE.parquet wrote"
    if missing := [name for name in _NEEDED if name not in schema.names]:
        raise UserError(f"{path} has no column {', '.join(map(repr, missing))}", remedy=remedy)
    row_columns = [_COLUMN.get(name, name) for name in Row._fields]
    columns = [name for name in _TYPES if name in {*row_columns, *_FALLBACK.values()} and name in schema.names]
    for name in columns:
        if schema.names.count(name) > 1:
            raise UserError(f"{path} has several columns {name!r}", remedy=remedy)
        actual = schema.field(name).type
        if not _fits(_TYPES[name], actual):
            raise UserError(
                f"the column {name!r} of {path} has type {actual}, not {_TYPES[name]}",
                remedy=remedy,
            )
    return columns


def rows_of(batch: Any, before: int, tally: Tally) -> list[Row]:
    """Return the valid rows of a batch; the others are reported."""
    names = [_COLUMN.get(name, name) for name in Row._fields]
    lists = [_values(batch, attribute, name) for attribute, name in zip(Row._fields, names, strict=True)]
    rows = []
    check, oversized = _checker(), _oversized(batch)
    for place, row in enumerate(map(Row._make, zip(*lists, strict=False)), start=before + 1):
        if problem := check(row) or (oversized and too_large(row, oversized)):
            tally.add_problem(f"row {place} ({row.receipt[:60]})", problem)
        else:
            rows.append(row)
    return rows


def _oversized(batch: Any) -> list[str]:
    """Return the attributes whose columns contain a number that is too large or infinite."""
    compute, attributes = _compute(), []
    for attribute in MEASURED:
        name = _COLUMN.get(attribute, attribute)
        if name in batch.schema.names:
            most = compute.max(compute.abs(_cast(batch.column(name), "float64"))).as_py()
            if most is not None and most > LARGEST:
                attributes.append(attribute)
    return attributes


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


def _values(batch: Any, attribute: str, name: str) -> Any:
    if name not in batch.schema.names:
        return repeat(Row._field_defaults.get(attribute, {"parent": None, "control": False}.get(attribute)))
    column = batch.column(name)
    if name in _FALLBACK and _FALLBACK[name] in batch.schema.names:
        column = _texts(column, None)
        column = _compute().coalesce(column, _texts(batch.column(_FALLBACK[name]), None))
    kind = _TYPES[name]
    if kind == "number":
        return _numbers(column)
    if kind == "time":
        return _moments(column)
    if kind == "truth":
        return _cast(column, "bool").fill_null(False).to_pylist()
    if attribute == "parent":
        return _texts(column, LONGEST_TEXT).to_pylist()
    limit = None if attribute in _NAMED else limits().get(attribute) or LONGEST_TEXT
    return _texts(column, limit).fill_null("").to_pylist()


def _compute() -> Any:
    import pyarrow.compute

    return pyarrow.compute


def _cast(column: Any, kind: str) -> Any:
    return column.cast(kind, safe=False)


def _numbers(column: Any) -> Any:
    compute, column = _compute(), _cast(column, "float64")
    return compute.if_else(compute.is_finite(column), column, None).to_pylist()


def _texts(column: Any, limit: int | None) -> Any:
    compute, column = _compute(), _cast(column, "string")
    if limit is None:
        return column
    if compute.any(compute.match_substring(column, "\0")).as_py():
        column = compute.replace_substring(column, "\0", REPLACEMENT)
    if (compute.max(compute.utf8_length(column)).as_py() or 0) > limit:
        short = compute.binary_join_element_wise(compute.utf8_slice_codeunits(column, 0, limit - 1), "…", "")
        column = compute.if_else(compute.greater(compute.utf8_length(column), limit), short, column)
    return column


def _moments(column: Any) -> Any:
    """Return times in UTC; None for times before 1970 or in the future."""
    import pyarrow

    compute = _compute()
    if pyarrow.types.is_null(column.type) or column.type.tz is None:
        column = compute.assume_timezone(_cast(column, pyarrow.timestamp("us")), "UTC")
    column = _cast(column, pyarrow.timestamp("us", tz="UTC"))
    first, last = pyarrow.scalar(0, column.type), pyarrow.scalar(timezone.now() + FUTURE, column.type)
    possible = compute.and_(compute.greater(column, first), compute.less(column, last))
    return compute.if_else(possible, column, None).to_pylist()


def _checker() -> Callable[[Row], str]:
    """Return a function that describes what is wrong with a row; each name is checked only once."""

    @lru_cache(maxsize=10_000)
    def name(value: str, what: str, limit: int) -> None:
        check_identifier(value, what, limit)

    most = {what: limits()[what] or 0 for what in ("model", "benchmark", "version")}

    def wrong(row: Row) -> str:
        try:
            check_receipt(row.receipt)
            name(row.model, "the model", most["model"])
            name(row.benchmark, "the benchmark", most["benchmark"])
            if row.version:
                name(row.version, "the version", most["version"])
        except ValueError as error:
            return str(error)
        if row.created is None:
            return "its time is missing or in the future"
        if row.state not in _STATES:
            return f"the state {row.state[:60]!r} is unknown"
        if (row.state == "scored") != (row.value is not None):
            return "it is scored but has no score" if row.value is None else f"it is {row.state} but has a score"
        if min(row.error or 0, row.raw_error or 0, row.ceiling_error or 0) < 0:
            return "a standard error is negative"
        return ""

    return wrong


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
                writer.write(rows_of(batch, done, writer.tally))
                done += batch.num_rows
                if on_progress is not None:
                    on_progress(done, total)
    return writer.tally.report()


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
            yield batch
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise UserError(f"{path} is damaged: {error}", remedy="export it again") from error
