"""Automatic steps of submissions: claims, logs and outcomes."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Case, F, Q, QuerySet, When
from django.utils import timezone

from brainscore_web.jobs.queue import wake
from brainscore_web.submissions.models import Step

__all__ = [
    "MAX_ATTEMPTS",
    "STALE_AFTER",
    "Claim",
    "Outcome",
    "StepFailed",
    "StepLog",
    "StepPostponed",
    "claim_next_step",
    "due_steps",
    "shortened",
    "stale_steps",
    "wake_for_steps",
]

LOG_LIMIT = 256_000
"""Number of characters of a log that are kept, from its beginning and its end."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a step.

    Attributes
    ----------
    passed : bool
        Whether the step passed.
    reason, internal : str
        The reason for the submitter, and the one for administrators.
    log : str
        The log of the step.
    result : dict
        Plain values, stored with the step.
    findings : sequence of dict or None
        New findings of the revision; None if they are unchanged.
    gave_up : bool
        Whether the failure is the site's.
    """

    passed: bool
    reason: str = ""
    internal: str = ""
    log: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Mapping[str, Any]] | None = None
    gave_up: bool = False


class StepFailed(Exception):
    """The step has failed for a reason that its submitter can fix."""

    def __init__(self, reason: str, **others: Any) -> None:
        super().__init__(reason)
        self.outcome = Outcome(passed=False, reason=reason, **others)


class StepPostponed(Exception):
    """The step must wait for something that the site lacks, for as long as it takes."""

    def __init__(self, reason: str, *, internal: str, pause: timedelta = timedelta(minutes=5)) -> None:
        super().__init__(reason)
        self.reason, self.internal, self.pause = reason, internal, pause


def shortened(text: str, limit: int = LOG_LIMIT) -> str:
    """Leave out the middle of a long text.

    Examples
    --------
    >>> shortened("a" * 50 + "b" * 50, 60).count("a")
    20
    """
    if len(text) <= limit:
        return text
    half = max((limit - 20) // 2, 0)
    return f"{text[:half]}\n… cut here …\n{text[len(text) - half :]}"


STALE_AFTER = timedelta(minutes=2)
"""A process that has not renewed its claim for this time is considered dead."""
MAX_ATTEMPTS = 5
"""Number of attempts before the site gives up on a step."""
_HEARTBEAT = 10.0  # seconds
_AUTOMATIC = (Step.Kind.CHECK, Step.Kind.TEST, Step.Kind.PUBLISH)
_LONG = Case(When(kind=Step.Kind.TEST, then=1), default=0)  # a test may take an hour, the others seconds
_log = logging.getLogger(__name__)


def due_steps() -> QuerySet[Step]:
    """Return the automatic steps that are due: quick ones first, then in order of arrival."""
    waiting = Step.objects.filter(kind__in=_AUTOMATIC, state=Step.State.WAITING, claim="", due__lte=timezone.now())
    return waiting.order_by(_LONG, "due", "pk")


def stale_steps() -> QuerySet[Step]:
    """Return the running automatic steps whose claim was not renewed for `STALE_AFTER`."""
    expired = Q(claimed=None) | Q(claimed__lt=timezone.now() - STALE_AFTER)
    return Step.objects.filter(expired, kind__in=_AUTOMATIC, state=Step.State.RUNNING)


def wake_for_steps() -> None:
    """Wake a worker for due steps."""
    wake("brainscore_web.submissions.tasks.do_next_step")


class Claim:
    """A claim on a step; a process that has lost it writes nothing more.

    Attributes
    ----------
    step : Step
        The step at the time of the claim.
    """

    def __init__(self, step: Step, token: str) -> None:
        self.step = step
        self._token = token
        self._lost = threading.Event()

    def mine(self) -> QuerySet[Step]:
        """Return the step's row if the claim is still valid, otherwise no row."""
        return Step.objects.filter(pk=self.step.pk, state=Step.State.RUNNING, claim=self._token)

    def lost(self) -> bool:
        """Whether the claim is known to be lost, to another process or by cancellation."""
        return self._lost.is_set()

    def note(self, **values: Any) -> None:
        """Write attributes of the running step, such as its log, and renew the claim."""
        if not self.mine().update(claimed=timezone.now(), **values):
            self._lost.set()

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Renew the claim regularly in the background."""
        ended = threading.Event()

        def renew() -> None:
            try:
                while not ended.wait(_HEARTBEAT):
                    try:
                        self.note()
                    except DatabaseError as error:  # it may come back before the claim is stale
                        _log.warning("Step %s: the claim could not be renewed: %s", self.step.pk, error)
                        connection.close()
            finally:
                connection.close()

        thread = threading.Thread(target=renew, name=f"step {self.step.pk}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def claim_next_step(only: int | None = None) -> Claim | None:
    """Claim the next due step; return None if none is due."""
    rows = due_steps() if only is None else due_steps().filter(pk=only)
    for key in rows.values_list("pk", flat=True)[:20]:
        token, now = uuid.uuid4().hex, timezone.now()
        taken = (
            Step.objects.filter(pk=key, state=Step.State.WAITING, claim="", due__lte=now)
            .update(
                state=Step.State.RUNNING, claim=token, claimed=now, started=now, ended=None, attempts=F("attempts") + 1
            )
        )  # fmt: skip
        if taken:
            return Claim(Step.objects.select_related("revision__submission").get(pk=key), token)
    return None


class StepLog:
    """Lines that the submitter can read while a step runs."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._text = ""
        self._lock = threading.Lock()
        self._written = time.monotonic()

    @property
    def text(self) -> str:
        """The log; if it is long, without its middle."""
        return shortened(self._text)

    def say(self, line: str) -> None:
        """Add a line."""
        self.add(f"{line}\n")
        self.flush()

    def add(self, text: str) -> None:
        """Add text; may be called from any thread."""
        with self._lock:
            self._text = shortened(self._text + text.replace("\0", "").encode(errors="replace").decode())

    def flush(self) -> None:
        """Store the log so far, at most every few seconds."""
        if time.monotonic() - self._written > _LOG_INTERVAL:
            self._written = time.monotonic()
            self._claim.note(log=self._text)


_LOG_INTERVAL = 2.0  # seconds between two updates of a stored log
