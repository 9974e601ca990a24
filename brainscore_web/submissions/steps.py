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
]

LOG_LIMIT = 256_000
"""Characters of a log that are kept: its beginning and its end."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a step ended.

    Attributes
    ----------
    passed : bool
        Whether it did.
    reason, internal : str
        For its submitter; for the site's keepers.
    log : str
        What happened.
    result : dict
        Plain values.
    findings : sequence of dict or None
        Those of the revision, where they were looked for again.
    gave_up : bool
        Whether it is the site that failed.
    """

    passed: bool
    reason: str = ""
    internal: str = ""
    log: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Mapping[str, Any]] | None = None
    gave_up: bool = False


class StepFailed(Exception):
    """The step has failed, for a reason that its submitter can mend."""

    def __init__(self, reason: str, **others: Any) -> None:
        super().__init__(reason)
        self.outcome = Outcome(passed=False, reason=reason, **others)


class StepPostponed(Exception):
    """The site lacks something: the step waits, as long as it takes."""

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
"""After this a process that said nothing is taken for dead."""
MAX_ATTEMPTS = 5
"""How often a step is begun before the site gives up."""
_HEARTBEAT = 10.0  # seconds
_AUTOMATIC = (Step.Kind.CHECK, Step.Kind.TEST, Step.Kind.PUBLISH)
_LONG = Case(When(kind=Step.Kind.TEST, then=1), default=0)  # a test may take an hour, the others seconds
_log = logging.getLogger(__name__)


def due_steps() -> QuerySet[Step]:
    """Automatic steps that wait and whose time has come: the quick ones first, then as they came."""
    waiting = Step.objects.filter(kind__in=_AUTOMATIC, state=Step.State.WAITING, claim="", due__lte=timezone.now())
    return waiting.order_by(_LONG, "due", "pk")


def stale_steps() -> QuerySet[Step]:
    """Automatic steps whose process is silent for too long."""
    silent = Q(claimed=None) | Q(claimed__lt=timezone.now() - STALE_AFTER)
    return Step.objects.filter(silent, kind__in=_AUTOMATIC, state=Step.State.RUNNING)


class Claim:
    """A step that this process does; whoever lost it writes nothing more.

    Attributes
    ----------
    step : Step
        As it was when it was claimed.
    """

    def __init__(self, step: Step, word: str) -> None:
        self.step = step
        self._word = word
        self._lost = threading.Event()

    def mine(self) -> QuerySet[Step]:
        """The step's row, if it is still this process's."""
        return Step.objects.filter(pk=self.step.pk, state=Step.State.RUNNING, claim=self._word)

    def lost(self) -> bool:
        """Whether somebody else has it, or it was cancelled, as far as was noticed."""
        return self._lost.is_set()

    def note(self, **values: Any) -> None:
        """Write attributes of the step while it runs, such as its log so far."""
        if not self.mine().update(claimed=timezone.now(), **values):
            self._lost.set()

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Say every few seconds that somebody works on it."""
        ended = threading.Event()

        def beat() -> None:
            try:
                while not ended.wait(_HEARTBEAT):
                    try:
                        self.note()
                    except DatabaseError as error:  # it may come back before the claim is stale
                        _log.warning("Step %s: no sign of life could be written: %s", self.step.pk, error)
                        connection.close()
            finally:
                connection.close()

        thread = threading.Thread(target=beat, name=f"step {self.step.pk}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def claim_next_step(only: int | None = None) -> Claim | None:
    """Claim the step that is next; None where none is due."""
    rows = due_steps() if only is None else due_steps().filter(pk=only)
    for key in rows.values_list("pk", flat=True)[:20]:
        word, now = uuid.uuid4().hex, timezone.now()
        taken = (
            Step.objects.filter(pk=key, state=Step.State.WAITING, claim="", due__lte=now)
            .update(
                state=Step.State.RUNNING, claim=word, claimed=now, started=now, ended=None, attempts=F("attempts") + 1
            )
        )  # fmt: skip
        if taken:
            return Claim(Step.objects.select_related("revision__submission").get(pk=key), word)
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
        """All of it; the middle is left out where it is long."""
        return shortened(self._text)

    def say(self, line: str) -> None:
        """Add a line."""
        self.add(f"{line}\n")
        self.flush()

    def add(self, text: str) -> None:
        """Add text as it comes, from any thread."""
        with self._lock:
            self._text = shortened(self._text + text.replace("\0", "").encode(errors="replace").decode())

    def flush(self) -> None:
        """Let others read what there is, now and then."""
        if time.monotonic() - self._written > _LOG_INTERVAL:
            self._written = time.monotonic()
            self._claim.note(log=self._text)


_LOG_INTERVAL = 2.0  # seconds between two writings of a log
