"""Ingestion of receipts and of whole results stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_core.scoring import Problem, Receipt, ResultsStore
from brainscore_web.leaderboard.influence import keep_influences
from brainscore_web.leaderboard.ingest.assessments import keep_assessments
from brainscore_web.leaderboard.ingest.rows import IngestReport, Row, Writer, row_of
from brainscore_web.leaderboard.models import Score, Visibility

if TYPE_CHECKING:
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
