"""The review queue, and the assignment of reviewers to submissions."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Prefetch, Subquery
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User, owns
from brainscore_web.submissions.models import PluginKind, Revision, Step, Submission


def reviewer_key(result: Any) -> int | None:
    """Return the primary key of the assigned reviewer, from the result of the review step."""
    key = result.get("reviewer") if isinstance(result, dict) else None
    return key if isinstance(key, int) else None


def assigned_since(result: Any) -> Any:
    """Return the time of the assignment, from the result of the review step."""
    since = result.get("since") if isinstance(result, dict) else None
    return parse_datetime(since) if isinstance(since, str) else None


def take_review(submission: Submission, reviewer: User, *, over: bool = False) -> None:
    """Assign a reviewer to a submission."""
    with transaction.atomic():
        step = _lock_review_step(submission, reviewer)
        holder = reviewer_key(step.result)
        if holder not in (None, reviewer.pk) and not over:
            name = User.objects.filter(pk=holder, is_active=True).first()
            if name is not None:
                raise UserError(f"{name} is already reviewing it", remedy="take it over if they do not have the time")
        step.result = {**step.result, "reviewer": reviewer.pk, "since": timezone.now().isoformat()}
        step.save(update_fields=["result"])


def release_review(submission: Submission, reviewer: User) -> None:
    """Remove the reviewer's assignment to a submission."""
    with transaction.atomic():
        step = _lock_review_step(submission, reviewer)
        if reviewer_key(step.result) == reviewer.pk:
            step.result = {name: value for name, value in step.result.items() if name not in ("reviewer", "since")}
            step.save(update_fields=["result"])


def carry_over_reviewer(revision: Revision) -> None:
    """Assign the reviewer of the previous revision to this one."""
    earlier = Step.objects.filter(
        revision__submission=revision.submission_id, revision__number__lt=revision.number, kind=Step.Kind.REVIEW
    )
    previous = next((row for row in earlier.order_by("-revision__number") if reviewer_key(row.result)), None)
    step = revision.steps.filter(kind=Step.Kind.REVIEW).first()
    if previous is not None and step is not None and not reviewer_key(step.result):
        step.result = {**step.result, **{name: previous.result.get(name) for name in ("reviewer", "since")}}
        step.save(update_fields=["result"])


def _lock_review_step(submission: Submission, reviewer: User) -> Step:
    row = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
    if owns(reviewer, row) or row.revisions.filter(by=reviewer).exists():
        raise UserError("it is your own submission", remedy="another reviewer must review it")
    if row.state not in (Submission.State.REVIEW, Submission.State.CHANGES, Submission.State.QUEUED):
        raise UserError(f"{row} is {row.get_state_display()}", remedy="it no longer needs review")
    step = Step.objects.filter(revision__submission=row, kind=Step.Kind.REVIEW).order_by("-revision__number").first()
    if step is None:
        raise UserError(f"{row} has no review", remedy="wait until its steps have been created")
    return step


_MOST = 1_000
_S = Submission.State
STATES = {
    "review": (_S.REVIEW,),
    "changes": (_S.CHANGES,),
    "queued": (_S.QUEUED,),
    "all": (_S.REVIEW, _S.CHANGES, _S.QUEUED),
}
"""States of the submissions that each filter of the queue shows."""


def queued_submissions(
    reader: User, *, state: str = "review", kind: str = "", who: str = "", text: str = ""
) -> list[dict[str, Any]]:
    """Return lines of `review/queue.html`: submissions that need review, oldest first."""
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
    matches = [row for row in rows[:_MOST] if row.needs_review and _matches_filter(row, kind, text)]
    reviews = {row.pk: [step for step in row.steps.all() if step.kind == Step.Kind.REVIEW] for row in matches}
    keys = {key: reviewer_key(steps[0].result) if steps else None for key, steps in reviews.items()}
    people = User.objects.in_bulk({key for key in keys.values() if key})
    queue = [_row(row, people.get(keys[row.pk] or 0), reader) for row in matches]
    if who == "mine":
        return [entry for entry in queue if entry["holder"] == reader]
    return [entry for entry in queue if entry["holder"] is None] if who == "nobody" else queue


def _row(revision: Revision, holder: User | None, reader: User) -> dict[str, Any]:
    submission = revision.submission
    return {
        "submission": submission,
        "revision": revision,
        "since": submission.changed,
        "steps": [step for step in revision.steps.all() if step.kind != Step.Kind.REVIEW],
        "holder": holder,
        "own": owns(reader, submission) or reader.pk == revision.by_id,
        "errors": sum(finding.get("severity") == "error" for finding in revision.findings),
    }


def _matches_filter(revision: Revision, kind: str, text: str) -> bool:
    if kind in PluginKind.values and not any(plugin["kind"] == kind for plugin in revision.plugins):
        return False
    owner = revision.submission.owner
    return not text or text.casefold() in f"{revision.submission.title} {owner.public_name if owner else ''}".casefold()
