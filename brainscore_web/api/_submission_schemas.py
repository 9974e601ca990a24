"""What answers about submissions look like."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from brainscore_web.api._schemas import Strict

__all__ = ["SubmissionCard", "SubmissionEntry"]

_State = Literal["queued", "changes", "review", "publishing", "scoring", "done", "rejected", "withdrawn"]


class SubmissionEntry(Strict):
    """A submission."""

    id: str
    title: str = Field(description="Names of its plugins.")
    visibility: Literal["public", "private"] = Field(description="Of its models.")
    state: _State
    words: str = Field(description="How it stands.")
    next: str = Field(description="What to do now.")
    open: bool = Field(description="Whether it may still change.")
    created: datetime
    changed: datetime = Field(description="When its state last changed.")
    url: str = Field(description="Of its page.")
    revision: int = Field(description="Number of the newest revision.")


class SubmittedRegistration(Strict):
    """What a plugin registers."""

    registry: str = Field(description="Such as `model_registry`.")
    key: str = Field(description="The identifier.")
    line: int = Field(description="Of its `__init__.py`.")


class PluginEntry(Strict):
    """A plugin of a revision."""

    kind: str = Field(description="models, benchmarks, data or metrics.")
    name: str = Field(description="Of its folder.")
    registrations: list[SubmittedRegistration]


class FindingEntry(Strict):
    """Something about a revision that its submitter should know."""

    severity: Literal["error", "warning", "note"] = Field(description="With an error nothing is run.")
    check: str = Field(description="What was looked at.")
    file: str = Field(description="Path in the submission; empty: it is about all of it.")
    line: int | None = Field(description="From 1.")
    message: str
    remedy: str = Field(description="What to do about it.")


class StepEntry(Strict):
    """One step of a revision's way."""

    kind: Literal["check", "test", "review", "publish", "score"]
    name: str = Field(description="In words.")
    state: Literal["waiting", "running", "passed", "failed", "skipped", "cancelled"]
    attempts: int = Field(description="How often it was begun.")
    started: datetime | None
    ended: datetime | None
    reason: str = Field(description="Why it failed or was left out.")
    log: str = Field(description="What was printed.")


class RevisionEntry(Strict):
    """One state of a submission's files."""

    number: int = Field(description="1, 2, …")
    created: datetime
    origin: Literal["zip", "git", "pull"]
    address: str = Field(description="Of the repository; or the name of the file.")
    commit: str
    note: str = Field(description="What its submitter says about it.")
    digest: str = Field(description="SHA-256 of the archive.")
    size: int = Field(description="Bytes of the archive.")
    plugins: list[PluginEntry]
    findings: list[FindingEntry]
    steps: list[StepEntry]


class PairCounts(Strict):
    """How many pairs of a model and a benchmark are in which state."""

    total: int = Field(description="All.")
    waiting: int = Field(description="To be scored.")
    running: int = Field(description="Being scored.")
    scored: int = Field(description="With a score.")
    not_applicable: int = Field(description="The model cannot do what the benchmark asks.")
    undefined: int = Field(description="The score is not defined.")
    failed: int = Field(description="With an error.")
    cancelled: int = Field(description="Given up.")


class SubmissionCard(SubmissionEntry):
    """A submission with its revisions."""

    revisions: list[RevisionEntry] = Field(description="The first one first.")
    pairs: PairCounts | None = Field(description="Once it is published.")
