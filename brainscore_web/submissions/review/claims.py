"""Who looks at a submission: one reviewer at a time says so, in the result of the step of review."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Revision, Step, Submission

__all__ = ["give_up", "hand_on", "reviewer_key", "since", "take"]


def reviewer_key(result: Any) -> int | None:
    """Primary key of who looks at it, from the result of the step of review."""
    key = result.get("reviewer") if isinstance(result, dict) else None
    return key if isinstance(key, int) else None


def since(result: Any) -> Any:
    """When they said so."""
    said = result.get("since") if isinstance(result, dict) else None
    return parse_datetime(said) if isinstance(said, str) else None


def take(submission: Submission, reviewer: User, *, over: bool = False) -> None:
    """Say that somebody looks at it.

    Parameters
    ----------
    submission : Submission
        Which.
    reviewer : User
        Who.
    over : bool
        Whether it is taken from who said so before.

    Raises
    ------
    UserError
        If it is their own, has ended, or somebody else looks at it.
    """
    with transaction.atomic():
        step = _step(submission, reviewer)
        holder = reviewer_key(step.result)
        if holder not in (None, reviewer.pk) and not over:
            name = User.objects.filter(pk=holder, is_active=True).first()
            if name is not None:
                raise UserError(f"{name} reviews it already", remedy="take it over if they do not come to it")
        step.result = {**step.result, "reviewer": reviewer.pk, "since": timezone.now().isoformat()}
        step.save(update_fields=["result"])


def give_up(submission: Submission, reviewer: User) -> None:
    """Let somebody else look at it."""
    with transaction.atomic():
        step = _step(submission, reviewer)
        if reviewer_key(step.result) == reviewer.pk:
            step.result = {name: value for name, value in step.result.items() if name not in ("reviewer", "since")}
            step.save(update_fields=["result"])


def hand_on(revision: Revision) -> None:
    """Who looked at the revision before looks at this one, too."""
    earlier = Step.objects.filter(
        revision__submission=revision.submission_id, revision__number__lt=revision.number, kind=Step.Kind.REVIEW
    )
    before = next((one for one in earlier.order_by("-revision__number") if reviewer_key(one.result)), None)
    step = revision.steps.filter(kind=Step.Kind.REVIEW).first()
    if before is not None and step is not None and not reviewer_key(step.result):
        step.result = {**step.result, **{name: before.result.get(name) for name in ("reviewer", "since")}}
        step.save(update_fields=["result"])


def _step(submission: Submission, reviewer: User) -> Step:
    row = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
    if row.owner_id == reviewer.pk or row.revisions.filter(by=reviewer).exists():
        raise UserError("it is your own submission", remedy="another reviewer has to look at it")
    if row.state not in (Submission.State.REVIEW, Submission.State.CHANGES, Submission.State.QUEUED):
        raise UserError(f"{row} is {row.get_state_display()}", remedy="there is nothing to review any more")
    step = Step.objects.filter(revision__submission=row, kind=Step.Kind.REVIEW).order_by("-revision__number").first()
    if step is None:
        raise UserError(f"{row} has no review", remedy="wait until it is received")
    return step
