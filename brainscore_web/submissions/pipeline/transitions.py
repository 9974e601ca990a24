"""The state machine of submissions.

`change_after` is a pure function: what an event changes in a submission and its steps. Each transition applies a
change in one transaction that locks the submission's row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.db import transaction
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import BenchmarkAssessment, Review, Revision, Step, Submission
from brainscore_web.submissions.notifications import notify_done
from brainscore_web.submissions.review.comments import open_threads
from brainscore_web.submissions.status import progress, scoring_cancelled, scoring_retried
from brainscore_web.submissions.steps import wake_for_steps

_S: Any = Submission.State
_K: Any = Step.Kind
_T: Any = Step.State
_ORDER = (_K.CHECK, _K.TEST, _K.REVIEW, _K.PUBLISH, _K.SCORE)
_AUTOMATIC = (_K.CHECK, _K.TEST, _K.PUBLISH)
_STATE_OF = {_K.CHECK: _S.QUEUED, _K.TEST: _S.QUEUED, _K.PUBLISH: _S.PUBLISHING}
"""The state of a submission while one of its steps waits or runs."""
_UNENDED = (_T.WAITING, _T.RUNNING)


class Event(Enum):
    """An event in the processing of a submission."""

    STARTED = "started"
    STARTED_WITH_ERRORS = "started with errors"
    PASSED = "passed"
    FAILED = "failed"
    APPROVED = "approved"
    CHANGES = "changes"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    RETRIED = "retried"
    CANCELLED = "cancelled"
    SCORED = "scored"


@dataclass(frozen=True)
class Change:
    """The result of an event."""

    state: str  # the new state of the submission
    steps: Mapping[str, str] = field(default_factory=dict)  # kind → new state, for the steps that change
    due: str = ""  # kind of the automatic step that is due now; empty if none is


def change_after(
    event: Event, state: str, steps: Mapping[str, str], *, kind: str = "", review: bool = True
) -> Change | None:
    """Return the change that an event causes."""
    match event:
        case Event.STARTED if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW):
            return Change(_S.QUEUED, due=_K.CHECK)
        case Event.STARTED_WITH_ERRORS if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW):
            return Change(_S.CHANGES, {_K.CHECK: _T.FAILED})
        case Event.PASSED if steps.get(kind) == _T.RUNNING and state == _STATE_OF.get(_K(kind)):
            return _passed(kind, review)
        case Event.FAILED if steps.get(kind) == _T.RUNNING and state == _STATE_OF.get(_K(kind)):
            return Change(_S.CHANGES, {kind: _T.FAILED})
        case Event.APPROVED if _in_review(state, steps):
            return Change(_S.PUBLISHING, {_K.REVIEW: _T.PASSED}, due=_K.PUBLISH)
        case Event.CHANGES if _in_review(state, steps):
            return Change(_S.CHANGES, {_K.REVIEW: _T.FAILED})
        case Event.REJECTED if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW):
            return Change(_S.REJECTED, {**_ended(steps), _K.REVIEW: _T.FAILED})
        case Event.WITHDRAWN if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW, _S.PUBLISHING):
            return Change(_S.WITHDRAWN, _ended(steps))
        case Event.RETRIED:
            return _retried(state, steps, kind)
        case Event.CANCELLED:
            return _cancelled(state, steps)
        case Event.SCORED if state == _S.SCORING:
            return Change(_S.DONE, {_K.SCORE: _T.PASSED})
    return None


def _passed(kind: str, review: bool) -> Change:
    if kind == _K.CHECK:
        return Change(_S.QUEUED, {kind: _T.PASSED}, due=_K.TEST)
    if kind == _K.TEST and review:
        return Change(_S.REVIEW, {kind: _T.PASSED})
    if kind == _K.TEST:
        return Change(_S.PUBLISHING, {kind: _T.PASSED, _K.REVIEW: _T.SKIPPED}, due=_K.PUBLISH)
    return Change(_S.SCORING, {kind: _T.PASSED, _K.SCORE: _T.RUNNING})


def _in_review(state: str, steps: Mapping[str, str]) -> bool:
    return state == _S.REVIEW and steps.get(_K.REVIEW) == _T.WAITING


def _ended(steps: Mapping[str, str]) -> dict[str, str]:
    return {kind: _T.CANCELLED for kind, state in steps.items() if state in _UNENDED}


def _retried(state: str, steps: Mapping[str, str], kind: str) -> Change | None:
    if kind == _K.SCORE:  # its jobs have the results
        return Change(_S.SCORING, {kind: _T.RUNNING}) if state == _S.DONE else None
    if state != _S.CHANGES or kind not in _AUTOMATIC or steps.get(kind) not in (_T.FAILED, _T.CANCELLED):
        return None
    return Change(_STATE_OF[_K(kind)], {kind: _T.WAITING}, due=kind)


def _cancelled(state: str, steps: Mapping[str, str]) -> Change | None:
    """Cancel the automatic step in progress; it can be retried."""
    if state == _S.SCORING:
        return Change(_S.DONE, {_K.SCORE: _T.CANCELLED})
    if state not in (_S.QUEUED, _S.PUBLISHING):
        return None
    turn = next((kind for kind in _AUTOMATIC if steps.get(kind) in _UNENDED), None)
    return None if turn is None else Change(_S.CHANGES, {turn: _T.CANCELLED})


def start(revision: Revision, *, has_errors: bool) -> None:
    """Start a new revision: create its steps, and make the first one due when the transaction is committed.

    Unfinished steps of earlier revisions are cancelled. Must be called in the transaction that creates the
    revision.
    """
    _require_transaction()
    submission = lock_submission(revision.submission_id)
    event = Event.STARTED_WITH_ERRORS if has_errors else Event.STARTED
    change = change_after(event, submission.state, {}, review=revision.needs_review)
    if change is None:
        raise UserError(
            f"{submission} is {submission.get_state_display()} and accepts no further revision",
            remedy="send a new submission",
        )
    now = timezone.now()
    Step.objects.filter(revision__submission=submission, state__in=(_T.WAITING, _T.RUNNING)).update(
        state=_T.CANCELLED, claim="", claimed=None, due=None, ended=now
    )
    _cancel_assessments(submission)
    # set now, since this step decides whether reviewers may see the submission
    states = {} if revision.needs_review else {_K.REVIEW: _T.SKIPPED}
    Step.objects.bulk_create(
        Step(revision=revision, kind=kind, order=order, state=states.get(kind, _T.WAITING))
        for order, kind in enumerate(_ORDER)
    )
    values = {}
    if has_errors:
        values = {_K.CHECK: {"reason": "the check on arrival found errors", "started": now}}
    apply_change(revision, submission, change, values)
    revision.submission.state, revision.submission.changed = submission.state, submission.changed


def approve(revision: Revision, review: Review) -> None:
    """Approve a revision, which is then published."""
    _reviewed(Event.APPROVED, revision, review)


def request_changes(revision: Revision, review: Review) -> None:
    """Request changes; the submission waits for another revision."""
    _reviewed(Event.CHANGES, revision, review)


def reject(revision: Revision, review: Review) -> None:
    """Reject a submission permanently; nothing of it is published."""
    _reviewed(Event.REJECTED, revision, review)


def _comments_in_words(revision: Revision) -> str:
    """Say where changes are described that a reviewer requests without an explanation."""
    count = len(open_threads(revision.submission))
    return f"The changes are described by {count} comment{'s' if count > 1 else ''} next to the code." if count else ""


def _reviewed(event: Event, revision: Revision, review: Review) -> None:
    reason = "" if event is Event.APPROVED else review.text or _comments_in_words(revision)
    row = revision.steps.filter(kind=_K.REVIEW).first()
    result = {**(row.result if row else {}), "review": review.pk}  # keeps the assigned reviewer
    values = {_K.REVIEW: {"reason": reason, "result": result}}
    if not _handle_event(event, revision.submission_id, revision=revision, values=values):
        raise UserError(f"{revision.submission} no longer waits for review", remedy="reload the page to see its state")


def withdraw(submission: Submission, by: User) -> None:
    """Withdraw a submission at its submitter's request; nothing of it is published."""
    if not _handle_event(Event.WITHDRAWN, submission.pk, reason=f"withdrawn by {by}"):
        raise UserError(
            "it can no longer be withdrawn",
            remedy="ask an administrator to remove what is published",
        )


def withdraw_abandoned(submission_id: Any) -> None:
    """Withdraw a submission whose submitter's account was deleted."""
    _handle_event(Event.WITHDRAWN, submission_id, reason="its submitter has deleted their account")


def retry(step: Step, by: User) -> None:
    """Retry an automatic step that failed or was cancelled; for scoring, retry the failed pairs."""
    with transaction.atomic():
        revision = step.revision
        values = {step.kind: {"reason": "", "internal": "", "log": "", "attempts": 0, "result": {}, "ended": None}}
        if not _handle_event(Event.RETRIED, revision.submission_id, revision=revision, kind=step.kind, values=values):
            raise UserError("this step cannot be retried", remedy="reload the page to see its state")
        if step.kind == _K.SCORE:
            scoring_retried.send(Submission, submission=revision.submission, by=by)
            key = revision.submission_id
            transaction.on_commit(lambda: scoring_ended(key), robust=True)  # if no pair had failed


def cancel(submission: Submission, by: User) -> None:
    """Cancel the automatic step in progress; it can be retried."""
    with transaction.atomic():
        scoring = lock_submission(submission.pk).state == Submission.State.SCORING
        if not _handle_event(Event.CANCELLED, submission.pk, reason=f"cancelled by {by}"):
            raise UserError("no step is in progress that could be cancelled", remedy="reload the page")
        if scoring:
            scoring_cancelled.send(Submission, submission=submission, by=by)


def scoring_ended(submission_id: Any) -> None:
    """Close a submission if all its pairs have ended. May be called any number of times.

    The numbers of pairs are not stored: they depend on which models a reader may see.
    """
    if not Submission.objects.filter(pk=submission_id, state=_S.SCORING).exists():
        return
    with transaction.atomic():
        submission = lock_submission(submission_id)
        if submission.state != _S.SCORING or progress(submission).open:
            return
        if _handle_event(Event.SCORED, submission.pk):
            notify_done(submission)


def lock_submission(key: Any) -> Submission:
    """Lock a submission until the transaction ends; all transitions lock it first."""
    return Submission.objects.select_for_update(of=("self",)).get(pk=key)


def apply_change(
    revision: Revision, submission: Submission, change: Change, values: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Write a change, in a transaction that has locked the submission."""
    now = timezone.now()
    submission.state, submission.changed = change.state, now
    submission.save(update_fields=["state", "changed"])
    for kind, state in change.steps.items():
        columns: dict[str, Any] = {"state": state, "claim": "", "claimed": None, "due": None}
        if state in (_T.WAITING, _T.RUNNING):
            columns |= {"started": now if state == _T.RUNNING else None, "ended": None}
        else:
            columns["ended"] = now
        Step.objects.filter(revision=revision, kind=kind).update(**columns | dict((values or {}).get(kind, {})))
    if change.state in (_S.REJECTED, _S.WITHDRAWN):
        _cancel_assessments(submission)
    if change.due:
        Step.objects.filter(revision=revision, kind=change.due, state=_T.WAITING).update(due=now)
        transaction.on_commit(wake_for_steps, robust=True)  # a failure is harmless: the sweep wakes workers as well


def _cancel_assessments(submission: Submission) -> None:
    """Cancel unfinished assessments of all revisions; a process that computes one loses its lease."""
    State = BenchmarkAssessment.State
    BenchmarkAssessment.objects.filter(
        revision__submission=submission, state__in=(State.WAITING, State.RUNNING)
    ).update(state=State.CANCELLED, claim="", claimed=None, due=None, ended=timezone.now())


def _handle_event(
    event: Event,
    key: Any,
    *,
    revision: Revision | None = None,
    kind: str = "",
    values: dict[str, dict[str, Any]] | None = None,
    reason: str = "",
) -> bool:
    """Apply an event to a submission; return False if its state does not allow it."""
    with transaction.atomic():
        submission = lock_submission(key)
        latest = submission.latest
        if revision is not None and revision.pk != latest.pk:
            return False
        steps = {step.kind: step.state for step in latest.steps.all()}
        change = change_after(event, submission.state, steps, kind=kind, review=latest.needs_review)
        if change is None:
            return False
        reasons: dict[str, dict[str, Any]] = {name: {"reason": reason} for name in change.steps} if reason else {}
        apply_change(latest, submission, change, reasons | (values or {}))
    return True


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError(
            "start() must be called in the transaction that creates the revision"
        )
