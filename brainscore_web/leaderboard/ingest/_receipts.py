"""Receipts one by one, as they are posted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_core.scoring import Receipt
from brainscore_web.leaderboard.ingest._report import IngestReport
from brainscore_web.leaderboard.ingest._rows import Row, row_of
from brainscore_web.leaderboard.ingest._writing import Writer
from brainscore_web.leaderboard.models import Visibility

if TYPE_CHECKING:
    from brainscore_web.accounts.models import User

__all__ = ["BATCH", "add", "ingest_receipts"]

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
