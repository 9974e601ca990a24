"""Decisions of reviewers: who may decide what, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User, owns
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.models import (
    ASPECTS,
    Comment,
    Review,
    Revision,
    Step,
    Submission,
    reviews_submissions,
)
from brainscore_web.submissions.notifications import notify_verdict
from brainscore_web.submissions.review.assignments import reviewer_key
from brainscore_web.submissions.review.checklist import checklist_of
from brainscore_web.submissions.review.comments import open_threads

_V = Review.Verdict
_S = Submission.State
_AUTOMATIC = ("check", "test")
_ANNOUNCED = 20  # threads
_EARLY = (_S.QUEUED, _S.CHANGES, _S.REVIEW)


class VerdictRefused(UserError):
    """A decision is not possible; ``late`` if the submission has changed in the meantime."""

    def __init__(self, message: str, remedy: str, *, late: bool = False) -> None:
        super().__init__(message, remedy)
        self.late = late


@dataclass(frozen=True)
class ReviewCase:
    """The facts that determine whether a decision is possible."""

    state: str  # the state of the submission
    state_label: str = ""  # the state in words
    newer: int = 0  # the number of the newest revision if there is a newer one, else 0
    own: bool = False  # whether it is the reviewer's own submission
    unpassed: tuple[str, ...] = ()  # the automatic steps that have not passed
    open: int = 0  # the number of open comments
    holder: str = ""  # the name of another assigned reviewer, if any
    by: str = ""  # the last decision on this revision and its author


def refusal(case: ReviewCase, verdict: str, aspects: Mapping[str, Any], text: str) -> VerdictRefused | None:
    """Return why a decision is not possible, or None if it is."""
    if case.own:
        return VerdictRefused("this is your own submission", "another reviewer must review it")
    if case.newer:
        why = f"revision {case.newer} has been sent in the meantime"
        return VerdictRefused(why, "review that one: only the newest can be decided on", late=True)
    if case.state not in (_EARLY if verdict == _V.REJECTED else (_S.REVIEW,)):
        why = f"{case.by}; its state is “{case.state_label}”" if case.by else f"its state is “{case.state_label}”"
        return VerdictRefused(why, "nothing was changed; reload the page to see its state", late=True)
    if case.holder:
        return VerdictRefused(f"{case.holder} is reviewing it", "take it over first, or leave it to them", late=True)
    if verdict == _V.APPROVED:
        return _not_approvable(case, aspects)
    if verdict == _V.CHANGES and not text and not case.open:
        return VerdictRefused("the changes are not described", "describe them, or comment on the lines to be changed")
    if verdict == _V.REJECTED and not text:
        return VerdictRefused("the reason is missing", "write why the submission is rejected")
    return None


def record_verdict(
    revision: Revision, reviewer: User, verdict: str, *, aspects: Mapping[str, Any], text: str
) -> Review:
    """Record a decision; the e-mail to the submitter is queued in the same transaction."""
    text = text.strip()
    with transaction.atomic():
        submission = Submission.objects.select_for_update(of=("self",)).get(pk=revision.submission_id)
        why = refusal(review_case(submission, revision, reviewer), verdict, aspects, text)
        if why is not None:
            raise why
        revision.submission = submission
        checklist = [item.as_dict() for item in checklist_of(revision, reviewer)]
        judged = {"verdict": verdict, "aspects": dict(aspects), "checklist": checklist, "text": text}
        review = Review.objects.create(revision=revision, reviewer=reviewer, **judged)
        decide = {"approved": pipeline.approve, "changes": pipeline.request_changes, "rejected": pipeline.reject}
        decide[verdict](revision, review)
        notify_verdict(review)
    return review


def review_case(submission: Submission, revision: Revision, reviewer: User) -> ReviewCase:
    """Collect the facts on a revision for a reviewer."""
    newest = submission.revisions.order_by("-number").values_list("number", flat=True)[0]
    steps = {step.kind: step for step in revision.steps.defer("log")}
    passed = {kind for kind, step in steps.items() if step.state == Step.State.PASSED}
    review = steps.get("review")
    key = reviewer_key(review.result) if review else None
    holder = User.objects.filter(pk=key, is_active=True).first() if key and key != reviewer.pk else None
    last = revision.reviews.select_related("reviewer").order_by("-created", "-pk").first()
    return ReviewCase(
        state=submission.state,
        state_label=submission.get_state_display(),
        newer=newest if newest != revision.number else 0,
        own=is_own(submission, reviewer),
        unpassed=tuple(Step.Kind(kind).label.lower() for kind in _AUTOMATIC if kind not in passed),
        open=Comment.objects.filter(revision__submission=submission, resolved=None).count(),
        holder=str(holder) if holder is not None and reviews_submissions(holder) else "",
        by=f"{last.reviewer or 'a former user'} decided: {last.get_verdict_display()}" if last else "",
    )


def is_own(submission: Submission, user: User) -> bool:
    """Whether the user owns the submission or sent a revision of it."""
    return owns(user, submission) or submission.revisions.filter(by=user).exists()


def _not_approvable(case: ReviewCase, aspects: Mapping[str, Any]) -> VerdictRefused | None:
    if case.unpassed:
        return VerdictRefused(f"it was not successfully {' and '.join(case.unpassed)}", "request changes instead")
    missing = [label for name, label in ASPECTS.items() if name not in aspects]
    if missing:
        return VerdictRefused(f"not judged: {', '.join(missing)}", "mark each as fine or not applicable")
    wrong = [label for name, label in ASPECTS.items() if aspects[name].get("fine") is False]
    if wrong:
        return VerdictRefused(f"not fine: {', '.join(wrong)}", "request changes instead, or judge them again")
    return None


def reviews_of(submission: Submission) -> list[dict[str, Any]]:
    """Return the decisions on all revisions, newest first, with their judgement of each aspect."""
    rows = Review.objects.filter(revision__submission=submission)
    rows = rows.select_related("reviewer", "revision").defer("revision__archive").order_by("-created", "-pk")
    return [{"review": row, "aspects": _judged_aspects(row)} for row in rows]


def _judged_aspects(review: Review) -> list[tuple[str, str, str]]:
    """Return labels, judgements and notes."""
    words = {True: "fine", False: "not fine", None: "does not apply"}
    judged = [(label, review.aspects.get(name)) for name, label in ASPECTS.items()]
    return [(label, words[row.get("fine")], row.get("note", "")) for label, row in judged if isinstance(row, dict)]


def announced_decision(submission: Submission, latest: Revision) -> dict[str, Any] | None:
    """Return the decision that the state of a submission announces, with what its submitter is to read."""
    verdicts = {_S.CHANGES: _V.CHANGES, _S.REJECTED: _V.REJECTED}
    if submission.state not in verdicts:
        return None
    decisions = (row for row in reviews_of(submission) if row["review"].verdict == verdicts[_S(submission.state)])
    decision = next((row for row in decisions if row["review"].revision_id == latest.pk), None)
    if decision is None:
        return None
    threads = open_threads(submission)
    return {**decision, "threads": threads[:_ANNOUNCED], "more": max(len(threads) - _ANNOUNCED, 0)}


def earlier_notes(submission: Submission) -> dict[str, str]:
    """Return the notes of the last decision, as initial values of the form: they stay until they are changed."""
    last = Review.objects.filter(revision__submission=submission).order_by("-created", "-pk").first()
    aspects = last.aspects if last is not None else {}
    return {f"note-{name}": str(judged.get("note", "")) for name, judged in aspects.items() if isinstance(judged, dict)}
