"""The review queue, and which reviewer has taken on which submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Prefetch, Subquery
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import PluginKind, Revision, Step, Submission

__all__ = [
    "STATES",
    "QueuedSubmission",
    "assigned_since",
    "carry_over_reviewer",
    "queued_submissions",
    "release_review",
    "reviewer_key",
    "take_review",
]


def reviewer_key(result: Any) -> int | None:
    """Primary key of who looks at it, from the result of the step of review."""
    key = result.get("reviewer") if isinstance(result, dict) else None
    return key if isinstance(key, int) else None


def assigned_since(result: Any) -> Any:
    """When they said so."""
    said = result.get("since") if isinstance(result, dict) else None
    return parse_datetime(said) if isinstance(said, str) else None


def take_review(submission: Submission, reviewer: User, *, over: bool = False) -> None:
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


def release_review(submission: Submission, reviewer: User) -> None:
    """Let somebody else look at it."""
    with transaction.atomic():
        step = _step(submission, reviewer)
        if reviewer_key(step.result) == reviewer.pk:
            step.result = {name: value for name, value in step.result.items() if name not in ("reviewer", "since")}
            step.save(update_fields=["result"])


def carry_over_reviewer(revision: Revision) -> None:
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


_MOST = 1_000
_S = Submission.State
STATES = {
    "review": (_S.REVIEW,),
    "changes": (_S.CHANGES,),
    "queued": (_S.QUEUED,),
    "all": (_S.REVIEW, _S.CHANGES, _S.QUEUED),
}
"""What can be looked at, by word."""


@dataclass(frozen=True)
class QueuedSubmission:
    """A submission in the queue.

    Attributes
    ----------
    submission : Submission
        Which.
    revision : Revision
        Its newest one.
    since : datetime
        Since when it stands as it does.
    steps : list of Step
        The automatic ones.
    holder : User or None
        Who looks at it.
    own : bool
        Whether it is the reader's own.
    """

    submission: Submission
    revision: Revision
    since: datetime
    steps: list[Step]
    holder: User | None
    own: bool

    @property
    def errors(self) -> int:
        """How many errors were found."""
        return sum(one.get("severity") == "error" for one in self.revision.findings)


def queued_submissions(
    reader: User, *, state: str = "review", kind: str = "", who: str = "", text: str = ""
) -> list[QueuedSubmission]:
    """What needs a review, oldest first.

    Parameters
    ----------
    reader : User
        Who asks.
    state : str
        One of `STATES`.
    kind : str
        Only with plugins of this kind.
    who : str
        ``'mine'``: what the reader looks at; ``'nobody'``: what nobody looks at.
    text : str
        Only where title or owner have it.
    """
    numbers = Revision.objects.filter(submission=OuterRef("submission")).order_by("-number").values("number")[:1]
    steps = (
        Step.objects.exclude(kind__in=(Step.Kind.PUBLISH, Step.Kind.SCORE)).defer("log", "internal").order_by("order")
    )
    rows = (
        Revision.objects.annotate(newest=Subquery(numbers))
        .filter(number=F("newest"), submission__state__in=STATES.get(state, STATES["review"]))
        .select_related("submission__owner", "by")
        .defer("archive")
        .prefetch_related(Prefetch("steps", queryset=steps))
        .order_by("submission__changed", "submission")
    )
    wanted = [one for one in rows[:_MOST] if one.needs_review and _matches_filter(one, kind, text)]
    keys = {one.pk: _holder_key(one.steps.all()) for one in wanted}
    people = User.objects.in_bulk({key for key in keys.values() if key})
    found = [_row(one, people.get(keys[one.pk] or 0), reader) for one in wanted]
    if who == "mine":
        return [one for one in found if one.holder is not None and one.holder.pk == reader.pk]
    return [one for one in found if one.holder is None] if who == "nobody" else found


def _row(revision: Revision, holder: User | None, reader: User) -> QueuedSubmission:
    submission = revision.submission
    steps = [step for step in revision.steps.all() if step.kind != Step.Kind.REVIEW]
    own = reader.pk in (submission.owner_id, revision.by_id)
    return QueuedSubmission(submission, revision, submission.changed, steps, holder, own)


def _matches_filter(revision: Revision, kind: str, text: str) -> bool:
    if kind in PluginKind.values and not any(plugin["kind"] == kind for plugin in revision.plugins):
        return False
    owner = revision.submission.owner
    return not text or text.casefold() in f"{revision.submission.title} {owner.public_name if owner else ''}".casefold()


def _holder_key(steps: Sequence[Any]) -> int | None:
    return next((reviewer_key(step.result) for step in steps if step.kind == Step.Kind.REVIEW), None)
