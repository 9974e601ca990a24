"""Submissions: sending them, and seeing how far they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from brainscore.web._records import read
from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from brainscore.web._connection import Connection

__all__ = [
    "Pairs",
    "Submission",
    "SubmissionCard",
    "SubmissionFinding",
    "SubmissionRevision",
    "SubmissionStep",
    "submit",
]


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A submission.

    Attributes
    ----------
    id, title, url : str
        The title names its plugins; `url` is its page.
    visibility : str
        Of its models: ``'public'`` or ``'private'``.
    state, words, next : str
        How it stands, in a word and in words; what to do now.
    open : bool
        Whether it may still change.
    created, changed : datetime
        When it came, and when its state last changed.
    revision : int
        Number of the newest.
    """

    id: str
    title: str
    visibility: str
    state: str
    words: str
    next: str
    open: bool
    created: datetime
    changed: datetime
    url: str
    revision: int


@dataclass(frozen=True, kw_only=True)
class SubmissionFinding:
    """Something about a revision: ``'error'``, ``'warning'`` or ``'note'``, where it is, and what to do."""

    severity: str
    check: str
    file: str
    line: int | None
    message: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class SubmissionStep:
    """One step of a revision's way; `reason` says why it failed or was left out."""

    kind: str
    name: str
    state: str
    attempts: int
    started: datetime | None
    ended: datetime | None
    reason: str
    log: str


@dataclass(frozen=True, kw_only=True)
class SubmissionRevision:
    """One state of a submission's files; `plugins` are dictionaries with kind, name and registrations."""

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
    """How many pairs of a model and a benchmark are in which state."""

    total: int
    waiting: int
    running: int
    scored: int
    not_applicable: int
    undefined: int
    failed: int
    cancelled: int


@dataclass(frozen=True, kw_only=True)
class SubmissionCard(Submission):
    """A submission, its revisions, the first one first, and how far scoring is (None: not begun)."""

    revisions: tuple[SubmissionRevision, ...]
    pairs: Pairs | None

    @property
    def latest(self) -> SubmissionRevision:
        """The revision that counts."""
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
    submission: str | None,
) -> SubmissionCard:
    """Send a submission, or a revision of one: see `Client.submit`."""
    if (archive is None) == (url is None):
        raise UserError("neither an archive nor an address is given, or both", remedy="pass one of them")
    fields: dict[str, Any] = {"note": note} if note else {}
    if visibility is not None and submission is None:
        fields["visibility"] = visibility
    if archive is not None:
        fields["archive"] = (name, archive, "application/zip")
    else:
        fields["url"] = str(url)
        if commit:
            fields["commit"] = commit
    path = "submissions" if submission is None else f"submissions/{submission}/revisions"
    return read(SubmissionCard, connection.send(path, fields))
