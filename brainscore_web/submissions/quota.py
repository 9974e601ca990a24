"""Limits on submissions, and how much of them a user has used."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Revision, Submission

__all__ = ["CLOSED", "Limits", "Refused", "Use", "limits", "require_room", "use_of"]


@dataclass(frozen=True)
class Limits:
    """Limits on submissions; sizes in bytes.

    Attributes
    ----------
    size : int
        The size of one submission: of the ZIP file that is sent, and of the one that is stored.
    person : int
        The total size of all revisions of a user's submissions.
    open : int
        How many submissions of a user may be open at a time.
    day : int
        How many revisions a user may send in 24 hours.
    fetching : float
        How many seconds fetching from a Git repository may take while the user waits.
    fetches : int
        How many repositories a server process fetches at a time.
    """

    size: int = 20_000_000
    person: int = 500_000_000
    open: int = 20
    day: int = 50
    fetching: float = 20.0
    fetches: int = 2


def limits() -> Limits:
    """Return the limits in the settings, with the defaults above."""
    known = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in settings.SUBMISSIONS.items() if name in known})


CLOSED = (Submission.State.DONE, Submission.State.REJECTED, Submission.State.WITHDRAWN)
"""States in which a submission has ended."""

_DAY = timedelta(hours=24)


class Refused(UserError):
    """A submission is refused; `status` is the HTTP status of the response."""

    def __init__(self, message: str, remedy: str, *, status: int = 400) -> None:
        super().__init__(message, remedy)
        self.status = status


@dataclass(frozen=True)
class Use:
    """What a user has sent.

    Attributes
    ----------
    open : int
        Number of open submissions.
    day : int
        Number of revisions in the last 24 hours.
    size : int
        Total size of all revisions in bytes.
    """

    open: int
    day: int
    size: int


def use_of(user: User) -> Use:
    """Count what a user has sent. Lock the user's row first if a decision depends on the result."""
    sent = Revision.objects.filter(by=user).aggregate(day=Count("pk", filter=Q(created__gt=timezone.now() - _DAY)))
    kept = Revision.objects.filter(submission__owner=user).aggregate(size=Sum("size"))
    return Use(
        open=Submission.objects.filter(owner=user).exclude(state__in=CLOSED).count(),
        day=sent["day"],
        size=kept["size"] or 0,
    )


def require_room(user: User, *, new: bool, size: int = 0) -> None:
    """Refuse a submission that exceeds the limits.

    Parameters
    ----------
    user : User
        The submitter.
    new : bool
        Whether it is a new submission, rather than a revision of one.
    size : int
        Its size in bytes, if known.

    Raises
    ------
    Refused
        If a limit is exceeded; the message says which one and how to free space.
    """
    use, limit = use_of(user), limits()
    if new and use.open >= limit.open:
        raise Refused(
            f"you have {use.open} open submissions, and the limit is {limit.open}",
            "wait until some are done, or withdraw some",
            status=429,
        )
    if use.day >= limit.day:
        raise Refused(
            f"you have sent {use.day} revisions in 24 hours, and the limit is {limit.day}",
            "try again tomorrow",
            status=429,
        )
    if use.size + size > limit.person:
        raise Refused(
            f"your submissions take up {use.size / 1e6:,.1f} of {limit.person / 1e6:,.0f} MB, and this needs "
            f"{size / 1e6:,.1f} MB",
            "ask the administrators for more space",
            status=413,
        )
