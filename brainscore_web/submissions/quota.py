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
    """What is taken; sizes in bytes.

    Attributes
    ----------
    size : int
        Of one submission: the ZIP that is sent, and the one that is kept.
    person : int
        What all revisions of a person's submissions may take up together.
    open : int
        How many submissions of a person may be open at a time.
    day : int
        How many revisions a person may send in 24 hours.
    fetching : float
        How many seconds fetching from a Git repository may take while its sender waits.
    fetches : int
        How many such a process of the server does at a time.
    """

    size: int = 20_000_000
    person: int = 500_000_000
    open: int = 20
    day: int = 50
    fetching: float = 20.0
    fetches: int = 2


def limits() -> Limits:
    """What the settings say; what they leave out is as above."""
    known = {one.name for one in fields(Limits)}
    return Limits(**{name: value for name, value in settings.SUBMISSIONS.items() if name in known})


CLOSED = (Submission.State.DONE, Submission.State.REJECTED, Submission.State.WITHDRAWN)
"""States in which nothing is to come."""

_DAY = timedelta(hours=24)


class Refused(UserError):
    """A submission is not taken; `status` is that of the answer."""

    def __init__(self, message: str, remedy: str, *, status: int = 400) -> None:
        super().__init__(message, remedy)
        self.status = status


@dataclass(frozen=True)
class Use:
    """What a person has sent.

    Attributes
    ----------
    open : int
        Submissions that are open.
    day : int
        Revisions of the last 24 hours.
    size : int
        Bytes of all revisions.
    """

    open: int
    day: int
    size: int


def use_of(user: User) -> Use:
    """Count what a person has sent. Lock their row before, where something is decided by the answer."""
    sent = Revision.objects.filter(by=user).aggregate(day=Count("pk", filter=Q(created__gt=timezone.now() - _DAY)))
    kept = Revision.objects.filter(submission__owner=user).aggregate(size=Sum("size"))
    return Use(
        open=Submission.objects.filter(owner=user).exclude(state__in=CLOSED).count(),
        day=sent["day"],
        size=kept["size"] or 0,
    )


def require_room(user: User, *, new: bool, size: int = 0) -> None:
    """Refuse what goes beyond the limits.

    Parameters
    ----------
    user : User
        Who sends.
    new : bool
        Whether it is a new submission, rather than a revision of one.
    size : int
        Its bytes, as far as they are known.

    Raises
    ------
    Refused
        Naming the limit, and what frees room.
    """
    use, most = use_of(user), limits()
    if new and use.open >= most.open:
        raise Refused(
            f"you have {use.open} open submissions, and {most.open} are possible",
            "wait until some are done, or withdraw some",
            status=429,
        )
    if use.day >= most.day:
        raise Refused(
            f"you have sent {use.day} times in 24 hours, and {most.day} are possible", "try again tomorrow", status=429
        )
    if use.size + size > most.person:
        raise Refused(
            f"your submissions take up {use.size / 1e6:,.1f} of {most.person / 1e6:,.0f} MB, and this needs "
            f"{size / 1e6:,.1f} MB",
            "ask the administrators for more room",
            status=413,
        )
