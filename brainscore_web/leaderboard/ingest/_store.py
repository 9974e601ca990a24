"""Receipts of a results folder or a bucket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from brainscore_core.errors import UserError
from brainscore_core.scoring import Problem, ResultsStore
from brainscore_web.leaderboard.ingest._receipts import BATCH, add
from brainscore_web.leaderboard.ingest._report import IngestReport
from brainscore_web.leaderboard.ingest._rows import Row
from brainscore_web.leaderboard.ingest._writing import Writer
from brainscore_web.leaderboard.models import Score, Visibility

if TYPE_CHECKING:
    from brainscore_web.accounts.models import User

__all__ = ["Progress", "ingest_store"]

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
