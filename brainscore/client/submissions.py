"""Submissions of plugins, and of receipts, to a site."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from brainscore.client.connection import Connection
from brainscore.client.records import read_record
from brainscore_core.errors import UserError

_BATCH_BYTES = 1_000_000
_BATCH_RECEIPTS = 250


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A receipt that was rejected, with the reason and the remedy."""

    receipt: str
    message: str
    remedy: str | None


@dataclass(frozen=True, kw_only=True)
class Posted:
    """The number of new receipts, the number of receipts that the site had already, and the rejected receipts."""

    added: int
    known: int
    problems: tuple[Refused, ...]


def post_receipts(
    connection: Connection,
    receipts: Any,
    *,
    visibility: str,
    progress: Callable[[int, int], None] | None,
) -> Posted:
    """Send receipts: see `Client.post_receipts`."""
    unsent, rejected = _read_receipts(receipts)
    added = repeated = done = 0
    for batch in _batches(unsent):
        body = b"[" + b",".join(text for _, text in batch) + b"]"
        answer = connection.post("receipts", body, [("visibility", visibility)])
        added, repeated, done = added + answer["added"], repeated + answer["known"], done + len(batch)
        rejected += [
            Refused(receipt=problem["receipt"], message=problem["message"], remedy=problem["remedy"])
            for problem in answer["problems"]
        ]
        if progress is not None:
            progress(done, len(unsent))
    return Posted(added=added, known=repeated, problems=tuple(rejected))


def _read_receipts(receipts: Any) -> tuple[list[tuple[str, Any]], list[Refused]]:
    """Return all readable receipts, each with its id (or position), and the unreadable receipts."""
    from brainscore_core.scoring import Receipt, ResultsStore

    if isinstance(receipts, str | os.PathLike):
        if "://" not in os.fspath(receipts) and not Path(receipts).expanduser().is_dir():
            raise UserError(f"there is no folder {os.fspath(receipts)!r}", remedy="name a folder of receipts")
        receipts = ResultsStore(receipts)
    if isinstance(receipts, Receipt | Mapping):
        receipts = [receipts]
    unreadable = []
    if isinstance(receipts, ResultsStore):
        listing = receipts.listing()
        unreadable = [
            Refused(receipt=problem.path, message=problem.message, remedy=problem.remedy)
            for problem in listing.problems
        ]
        receipts = listing.receipts
    named = [(getattr(receipt, "id", "") or str(position), receipt) for position, receipt in enumerate(receipts, 1)]
    return named, unreadable


def _batches(receipts: Iterable[tuple[str, Any]]) -> Iterator[list[tuple[str, bytes]]]:
    """Convert receipts to JSON, in batches that the site accepts."""
    batch: list[tuple[str, bytes]] = []
    size = 0
    for name, receipt in receipts:
        content = receipt if isinstance(receipt, Mapping) else receipt.to_dict()
        try:
            text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            raise UserError(
                f"receipt {name} cannot be sent: {error}", remedy="send the result of Receipt.to_dict"
            ) from error
        if batch and (size + len(text) > _BATCH_BYTES or len(batch) == _BATCH_RECEIPTS):
            yield batch
            batch, size = [], 0
        batch.append((name, text))
        size += len(text)
    if batch:
        yield batch


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A submission, titled by the names of its plugins."""

    id: str
    title: str
    visibility: str  # of its models: 'public' or 'private'
    state: str
    words: str  # the state in words
    next: str  # what to do next
    open: bool  # whether its state may still change
    created: datetime
    changed: datetime  # when its state last changed
    url: str  # of its page
    revision: int  # number of the newest revision
    lab: str = ""  # the end of the URL of the lab that owns it with its submitter


@dataclass(frozen=True, kw_only=True)
class SubmissionFinding:
    """A finding of the automatic checks; `severity` is ``'error'``, ``'warning'`` or ``'note'``."""

    severity: str
    check: str
    file: str
    line: int | None
    message: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class SubmissionStep:
    """An automatic step for a revision, such as its tests; `reason` says why it failed or was skipped.

    `words` says what it has come to, such as ``'changes requested'``; sites of earlier versions do not send it.
    """

    kind: str
    name: str
    state: str
    attempts: int
    started: datetime | None
    ended: datetime | None
    reason: str
    log: str
    words: str = ""


@dataclass(frozen=True, kw_only=True)
class SubmissionRevision:
    """A version of a submission's files; `plugins` are dictionaries with kind, name and registrations."""

    number: int
    created: datetime
    origin: str
    address: str
    commit: str
    note: str
    digest: str
    size: int
    plugins: list[Mapping[str, Any]]
    findings: tuple[SubmissionFinding, ...]
    steps: tuple[SubmissionStep, ...]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Number of pairs of a model and a benchmark in each state."""

    total: int
    waiting: int
    running: int
    scored: int
    not_applicable: int
    undefined: int
    failed: int
    cancelled: int
    not_run: int = 0


@dataclass(frozen=True, kw_only=True)
class SubmissionCard(Submission):
    """A submission with its revisions, oldest first, and the progress of scoring its pairs (None: not started)."""

    revisions: tuple[SubmissionRevision, ...]
    pairs: Pairs | None

    @property
    def latest(self) -> SubmissionRevision:
        """The newest revision."""
        return self.revisions[-1]


def submit(
    connection: Connection,
    *,
    archive: bytes | None,
    name: str,
    url: str | None,
    commit: str,
    note: str,
    visibility: str | None,
    lab: str,
    submission: str | None,
) -> SubmissionCard:
    """Send a submission, or a revision of one: see `Client.submit`."""
    if (archive is None) == (url is None):
        raise UserError("exactly one of `archive` and `url` must be given", remedy="pass one of them")
    fields: dict[str, Any] = {"note": note} if note else {}
    if visibility is not None and submission is None:
        fields["visibility"] = visibility
    if lab:
        fields["lab"] = lab
    if archive is not None:
        fields["archive"] = (name, archive, "application/zip")
    else:
        fields["url"] = str(url)
        if commit:
            fields["commit"] = commit
    path = "submissions" if submission is None else f"submissions/{submission}/revisions"
    return read_record(SubmissionCard, connection.send(path, fields))
