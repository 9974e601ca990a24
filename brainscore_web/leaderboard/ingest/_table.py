"""A table that `brainscore results export` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.ingest._report import IngestReport
from brainscore_web.leaderboard.ingest._store import Progress
from brainscore_web.leaderboard.ingest._table_columns import columns_of, rows_of
from brainscore_web.leaderboard.ingest._writing import Writer
from brainscore_web.leaderboard.models import Visibility

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

    from brainscore_web.accounts.models import User

__all__ = ["ingest_table"]

_BATCH = 10_000


def ingest_table(
    path: str | Path,
    *,
    by: User | None = None,
    on_progress: Progress | None = None,
    default_visibility: str = Visibility.PUBLIC,
) -> IngestReport:
    """Take in a Parquet file that ``brainscore results export`` wrote.

    It is read and written in batches of 10,000 rows, whatever its size. NaN, infinities and null are all missing.

    Parameters
    ----------
    path : str or path
        The file.
    by, on_progress, default_visibility
        As for `ingest_store`; progress is counted in rows.

    Returns
    -------
    IngestReport
        A row that is no receipt's (no id, an unknown state, scored without a score …) is among the problems; the others
        go in. One whose receipt is known, also from a row before, counts as known, whatever else it says.

    Raises
    ------
    UserError
        If the file cannot be read, or columns are missing or of another type.
    """
    with _opened(Path(path).expanduser()) as file:
        columns = columns_of(file.schema_arrow, str(path))
        total = file.metadata.num_rows
        writer = Writer(by, default_visibility)
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
            "Parquet files need pyarrow, which is not installed", remedy='pip install "brainscore[tables]"'
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
            batch.validate(full=True)  # texts that are no UTF-8
            yield batch
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise UserError(f"{path} is damaged: {error}", remedy="export it again") from error
