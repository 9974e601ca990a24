"""What people may ask of jobs: to be done again, or not at all."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visitor
from brainscore_web.scoring.ending import tell_submissions
from brainscore_web.scoring.models import OPEN, Job
from brainscore_web.submissions.models import Submission

__all__ = ["ASKED", "cancel_all", "cancel_job", "may_change", "retry_job"]

ASKED = "asked for"
"""Why a job is done that somebody asked for: also where there is a score."""

_FIRST = 10
_State = Job.State


def may_change(job: Job, visitor: Visitor) -> bool:
    """Whether a visitor may retry or cancel: who owns its model or a submission that it is done for; administrators."""
    if not visitor.is_authenticated or not Job.objects.filter(pk=job.pk).visible_to(visitor).exists():
        return False
    if visitor.is_staff or job.model.owner_id == visitor.pk:
        return True
    return job.submissions.filter(owner=visitor).exists()


def retry_job(job: Job, by: User | None) -> None:
    """Score a pair once more.

    Parameters
    ----------
    job : Job
        One that has ended.
    by : User or None
        Who asks; None: the site.

    Raises
    ------
    UserError
        If it has not ended, or the pair waits already.
    """
    now = timezone.now()
    try:
        with transaction.atomic():
            changed = Job.objects.filter(pk=job.pk).exclude(state__in=OPEN).update(
                state=_State.WAITING, asked_by=by, why=ASKED, priority=_FIRST, created=now, due=now, claim="",
                claimed=None, worker="", attempts=0, stop=False, started=None, ended=None, receipt="", reason="",
                log="",
            )  # fmt: skip
    except IntegrityError:
        changed = 0
    if not changed:
        raise UserError(f"{job} waits already, or is being scored", remedy="wait until it has ended")


def cancel_job(job: Job, by: User | None) -> None:
    """Give a pair up: at once where it waits, within seconds where it runs. What has ended stays as it is."""
    _cancel(Q(pk=job.pk), by)


def cancel_all(submission: Submission, by: User | None) -> int:
    """Give up what is done for a submission alone; pairs that others wait for, too, are done for these.

    Returns
    -------
    int
        How many pairs were open for it.
    """
    through = Job.submissions.through.objects
    with transaction.atomic():
        mine = set(Job.objects.open().filter(submissions=submission).order_by("pk").values_list("pk", flat=True))
        others = through.filter(job__submissions=submission, job__state__in=OPEN).exclude(submission=submission)
        shared = set(others.exclude(submission__state__in=_ENDED).values_list("job", flat=True))
        for part in _parts(sorted(shared)):
            through.filter(submission=submission, job__in=part).delete()
        for part in _parts(sorted(mine - shared)):
            _cancel(Q(pk__in=part), by)
    return len(mine)


_ENDED = (Submission.State.DONE, Submission.State.REJECTED, Submission.State.WITHDRAWN)


def _cancel(which: Q, by: User | None) -> None:
    reason = f"cancelled by {by.public_name}" if by is not None else "cancelled"
    with transaction.atomic():
        waiting = Job.objects.filter(which, state=_State.WAITING).select_for_update()
        keys = list(waiting.order_by("pk").values_list("pk", flat=True))
        Job.objects.filter(pk__in=keys, state=_State.WAITING).update(
            state=_State.CANCELLED, ended=timezone.now(), reason=reason, claim="", claimed=None
        )
        Job.objects.filter(which, state=_State.RUNNING).update(stop=True, reason=reason)
        tell_submissions(keys)


def _parts(keys: list[int]) -> list[list[int]]:
    return [keys[start : start + 500] for start in range(0, len(keys), 500)]
