"""Ingestion of receipts: files, and whole stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_core.scoring import Problem, Receipt, ResultsStore
from brainscore_web.leaderboard.ingest.rows import IngestReport, Row, Writer, row_of
from brainscore_web.leaderboard.models import Score, Visibility

if TYPE_CHECKING:
    from brainscore_web.accounts.models import User

__all__ = ["BATCH", "Progress", "ingest_receipts", "ingest_store"]

BATCH = 500
"""Receipts that are written at once."""


def ingest_receipts(
    documents: Iterable[Mapping[str, Any] | Receipt],
    *,
    by: User | None,
    default_visibility: str = Visibility.PRIVATE,
    source: str = "posted",
) -> IngestReport:
    """Take in receipts.

    Parameters
    ----------
    documents : iterable of mapping or Receipt
        Plain JSON types, of this or an earlier version of the schema.
    by : User or None
        Who posts them; models that are not known yet become theirs if they are made private.
    default_visibility : {'private', 'public'}
        Of models that are not known yet.
    source : str
        Where they come from, for the record.

    Returns
    -------
    IngestReport
        A receipt that breaks the schema, or that cannot be kept, is among the problems, named by its place and id; the
        others go in, each whole or not at all. Posted twice, also at the same time, one is kept once.
    """
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
    """Add a receipt to those that wait to be written; or say what is wrong with it."""
    try:
        rows.append(row_of(document))
    except UserError as error:
        writer.tally.wrong(name, error.message, error.remedy)
    except (ValueError, RecursionError) as error:
        writer.tally.wrong(name, str(error) or type(error).__name__)


def _name(place: int, document: Any) -> str:
    found = document.id if isinstance(document, Receipt) else None
    if isinstance(document, Mapping):
        found = document.get("id")
    return f"receipt {place} ({found[:60]})" if isinstance(found, str) and found else f"receipt {place}"


Progress = Callable[[int, int], None]
"""Called with how many receipts were read, and how many there are to read."""


def ingest_store(
    address: str | Path,
    *,
    by: User | None = None,
    on_progress: Progress | None = None,
    default_visibility: str = Visibility.PUBLIC,
) -> IngestReport:
    """Take in the receipts of a results folder or a bucket that are not known yet; the others are not even opened.

    Parameters
    ----------
    address : str or path
        A folder or ``s3://bucket/prefix``.
    by : User, optional
        Who asks for it.
    on_progress : callable, optional
        Called now and then with how many receipts were read, and how many there are to read.
    default_visibility : {'public', 'private'}
        Of models that are not known yet.

    Returns
    -------
    IngestReport
        Files that are no receipts are among the problems.

    Raises
    ------
    UserError
        If the address is empty, there is no such folder, or the bucket cannot be read.
    """
    if not str(address).strip():
        raise UserError("the address is empty", remedy="name a results folder, or s3://bucket/prefix")
    if not str(address).startswith("s3:/") and not Path(address).expanduser().is_dir():
        raise UserError(f"there is no folder {address}", remedy="name a results folder, or s3://bucket/prefix")
    store = ResultsStore(address)
    writer = Writer(by, default_visibility)
    with writer.ingesting(store.address):
        known = set(Score.objects.order_by().values_list("receipt", flat=True).iterator(chunk_size=10_000))
        scan = store.scan(known)
        writer.tally.known = scan.known
        waiting: list[Row] = []
        for place, found in enumerate(scan.found, start=1):
            if isinstance(found, Problem):
                writer.tally.wrong(found.path, found.message, found.remedy)
            else:
                add(waiting, found, store.address_of(found), writer)
            if len(waiting) == BATCH or place == scan.unread:
                writer.write(waiting)
                waiting.clear()
                if on_progress is not None:
                    on_progress(place, scan.unread)
        writer.write(waiting)  # where a file went away meanwhile, the last place was not reached
    return writer.tally.report()
