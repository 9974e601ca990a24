"""Scores as files, written a few thousand rows at a time."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, Literal

from django.db.models import QuerySet

from brainscore_web.api._score_queries import COLUMNS
from brainscore_web.leaderboard.clean import harmless
from brainscore_web.leaderboard.models import Score
from brainscore_web.leaderboard.withheld import withheld_reason

if TYPE_CHECKING:
    import pyarrow

__all__ = ["write_scores"]

_ROWS = 5000
_FIRST = ("model", "benchmark")
_TEXTS = frozenset({"receipt", "version", "state", "reason", "estimates", "error_reason", "scale"})


def write_scores(found: QuerySet[Score], form: Literal["csv", "parquet"]) -> tuple[IO[bytes], str]:
    """Write scores with `counts` and `shows_data` to a file that goes when it is closed.

    In CSV, a text that a spreadsheet would take for a formula gets an apostrophe before it.

    Returns
    -------
    file, digest
        From its beginning, and the SHA-256 of the content.
    """
    from pyarrow import csv, parquet

    file = tempfile.TemporaryFile()  # noqa: SIM115 (whoever sends it closes it)
    schema = _schema()
    writer = csv.CSVWriter(file, schema) if form == "csv" else parquet.ParquetWriter(file, schema, compression="zstd")
    with writer:
        for batch in _batches(found, schema, guarded=form == "csv"):
            writer.write_batch(batch)
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return file, digest


def _schema() -> pyarrow.Schema:
    import pyarrow

    kinds = {"created": pyarrow.timestamp("us", tz="UTC"), "counts": pyarrow.bool_()}
    kinds |= dict.fromkeys((*_TEXTS, *_FIRST), pyarrow.string())
    return pyarrow.schema([(name, kinds.get(name, pyarrow.float64())) for name in (*_FIRST, *COLUMNS, "counts")])


def _batches(found: QuerySet[Score], schema: pyarrow.Schema, *, guarded: bool) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    names = ("model__identifier", "benchmark__identifier", *COLUMNS, "counts", "shows_data")
    state, reason = names.index("state"), names.index("reason")
    rows: list[tuple[Any, ...]] = []

    def batch() -> pyarrow.RecordBatch:
        columns = []
        for field, column in zip(schema, zip(*rows, strict=True), strict=True):
            texts = guarded and field.type == pyarrow.string()
            columns.append(pyarrow.array(map(harmless, column) if texts else column, field.type, from_pandas=True))
        rows.clear()
        return pyarrow.record_batch(columns, schema=schema)

    for row in found.values_list(*names).iterator(chunk_size=_ROWS):
        *values, shown = row
        if not shown:
            values[reason] = withheld_reason(values[state], values[reason])
        rows.append(tuple(values))
        if len(rows) == _ROWS:
            yield batch()
    if rows:
        yield batch()
