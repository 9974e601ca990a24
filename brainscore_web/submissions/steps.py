"""Automatic steps of submissions: leases, logs and outcomes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Case, Q, When
from django.utils import timezone

from brainscore_web.jobs.leases import Lease, LeaseQueue, RetryPolicy, claim, expired_leases
from brainscore_web.jobs.queue import wake
from brainscore_web.submissions.models import Step

__all__ = [
    "STEPS",
    "Outcome",
    "StepFailed",
    "StepLog",
    "StepPostponed",
    "StepUnavailable",
    "claim_next_step",
    "resume_steps",
    "shortened",
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


class StepUnavailable(Exception):
    """The site cannot run the step now, such as without a network: it is retried, and finally given up by the site.

    Parameters
    ----------
    reason, internal : str
        The reason for the submitter, as a sentence without a full stop, and the one for administrators.
    """

    def __init__(self, reason: str, *, internal: str) -> None:
        super().__init__(reason)
        self.reason, self.internal = reason, internal


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


_AUTOMATIC = (Step.Kind.CHECK, Step.Kind.TEST, Step.Kind.PUBLISH)
_LONG = Case(When(kind=Step.Kind.TEST, then=1), default=0)  # a test may take an hour, the others seconds

STEPS = LeaseQueue(
    Step,
    waiting=Q(kind__in=_AUTOMATIC, state=Step.State.WAITING),
    held=Q(kind__in=_AUTOMATIC, state=Step.State.RUNNING),
    order=(_LONG, "due", "pk"),
    on_claim={"state": Step.State.RUNNING, "ended": None},
    on_release={"state": Step.State.WAITING},
    related=("revision__submission",),
    retry=RetryPolicy(timedelta(seconds=30), factor=4, longest=timedelta(minutes=30), attempts=5),
)
"""The automatic steps: quick ones first, then in order of arrival."""


def claim_next_step(only: int | None = None) -> Lease[Step] | None:
    """Claim the next due step, or the given one; return None if it is not due."""
    leases = claim(STEPS, where=None if only is None else Q(pk=only), started=timezone.now())
    return leases[0] if leases else None


def resume_steps() -> int:
    """Make interrupted steps due again, and wake a worker if any are due; return the number of due steps."""
    for lease in expired_leases(STEPS):
        lease.release(internal="its worker stopped responding")
    due = STEPS.due().count()
    if due:
        wake_for_steps()
    return due


def wake_for_steps() -> None:
    """Wake a worker for due steps."""
    wake("brainscore_web.submissions.tasks.do_next_step")


class StepLog:
    """Lines that the submitter can read while a step runs."""

    def __init__(self, lease: Lease[Any]) -> None:
        self._lease = lease
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
            self._lease.renew(log=self._text)


_LOG_INTERVAL = 2.0  # seconds between two updates of a stored log
