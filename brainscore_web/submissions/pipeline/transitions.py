"""Transitions of submissions: each in one transaction that locks the submission's row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Review, Revision, Step, Submission
from brainscore_web.submissions.pipeline.states import Change, Event, change_after

__all__ = [
    "apply_change",
    "approve",
    "cancel",
    "lock_submission",
    "reject",
    "request_changes",
    "retry",
    "scoring_ended",
    "start",
    "withdraw",
    "withdraw_abandoned",
]

_K: Any = Step.Kind
_T: Any = Step.State
_ORDER = (_K.CHECK, _K.TEST, _K.REVIEW, _K.PUBLISH, _K.SCORE)


def start(revision: Revision, *, has_errors: bool) -> None:
    """Begin with a new revision: make its steps, and let the first be done once the transaction is through.

    Steps of earlier revisions that have not ended are given up. To be called in the transaction that makes the
    revision.

    Parameters
    ----------
    revision : Revision
        The newest one of its submission.
    has_errors : bool
        Whether looking at it found errors: then nothing is run, and the submission waits for changes.

    Raises
    ------
    UserError
        If the submission takes no further revision.
    """
    _require_transaction()
    submission = lock_submission(revision.submission_id)
    event = Event.STARTED_WITH_ERRORS if has_errors else Event.STARTED
    change = change_after(event, submission.state, {}, review=revision.needs_review)
    if change is None:
        raise UserError(
            f"{submission} is {submission.get_state_display()}: it takes no further revision",
            remedy="submit it anew",
        )
    now = timezone.now()
    Step.objects.filter(revision__submission=submission, state__in=(_T.WAITING, _T.RUNNING)).update(
        state=_T.CANCELLED, claim="", claimed=None, due=None, ended=now
    )
    # what needs no review never waits for one: by that it is known who may see it
    states = {} if revision.needs_review else {_K.REVIEW: _T.SKIPPED}
    Step.objects.bulk_create(
        Step(revision=revision, kind=kind, order=place, state=states.get(kind, _T.WAITING))
        for place, kind in enumerate(_ORDER)
    )
    said = {}
    if has_errors:
        said = {_K.CHECK: {"reason": "errors were found when it was received", "started": now}}
    apply_change(revision, submission, change, said)
    revision.submission.state, revision.submission.changed = submission.state, submission.changed


def approve(revision: Revision, review: Review) -> None:
    """A reviewer approves: publish it.

    Parameters
    ----------
    revision : Revision
        What was looked at.
    review : Review
        What was said of it, already saved.

    Raises
    ------
    UserError
        If it does not wait for review any more.
    """
    _reviewed(Event.APPROVED, revision, review)


def request_changes(revision: Revision, review: Review) -> None:
    """A reviewer wants changes: the submission waits for another revision.

    Raises
    ------
    UserError
        If it does not wait for review any more.
    """
    _reviewed(Event.CHANGES, revision, review)


def reject(revision: Revision, review: Review) -> None:
    """A reviewer rejects it, for good; nothing of it goes live.

    Raises
    ------
    UserError
        If it is published already, or was withdrawn.
    """
    _reviewed(Event.REJECTED, revision, review)


def _reviewed(event: Event, revision: Revision, review: Review) -> None:
    reason = "" if event is Event.APPROVED else review.text
    row = revision.steps.filter(kind=_K.REVIEW).first()
    result = {**(row.result if row else {}), "review": review.pk}  # with who took it on
    said = {_K.REVIEW: {"reason": reason, "result": result}}
    if not _handle_event(event, revision.submission_id, revision=revision, said=said):
        raise UserError(
            f"{revision.submission} does not wait for review any more", remedy="load the page again to see what it is"
        )


def withdraw(submission: Submission, by: User) -> None:
    """Its submitter takes it back; nothing of it goes live.

    Raises
    ------
    UserError
        If it is published already, or has ended.
    """
    if not _handle_event(Event.WITHDRAWN, submission.pk, reason=f"withdrawn by {by}"):
        raise UserError(
            "it cannot be withdrawn any more",
            remedy="what is published stays; ask an administrator if it has to go",
        )


def withdraw_abandoned(submission_id: Any) -> None:
    """Withdraw what has no submitter any more."""
    _handle_event(Event.WITHDRAWN, submission_id, reason="its submitter has left the site")


def retry(step: Step, by: User) -> None:
    """Do an automatic step again that failed or was cancelled; of scoring, the pairs that failed.

    Raises
    ------
    UserError
        If it is not its turn: it has not failed, or something newer was submitted.
    """
    with transaction.atomic():
        revision = step.revision
        said = {step.kind: {"reason": "", "internal": "", "log": "", "attempts": 0, "result": {}, "ended": None}}
        if not _handle_event(Event.RETRIED, revision.submission_id, revision=revision, kind=step.kind, said=said):
            raise UserError("this cannot be tried again", remedy="load the page again to see what it is")
        if step.kind == _K.SCORE:
            _retry_jobs(revision.submission, by)


def _retry_jobs(submission: Submission, by: User) -> None:
    from brainscore_web.scoring.models import Job
    from brainscore_web.scoring.services import retry_job

    for job in Job.objects.filter(submissions=submission, state=Job.State.FAILED).order_by("pk"):
        retry_job(job, by)
    key = submission.pk
    transaction.on_commit(lambda: scoring_ended(key), robust=True)  # where there was none


def cancel(submission: Submission, by: User) -> None:
    """Stop what is done automatically just now; it can be tried again.

    Raises
    ------
    UserError
        If nothing is being done.
    """
    with transaction.atomic():
        scoring = lock_submission(submission.pk).state == Submission.State.SCORING
        if not _handle_event(Event.CANCELLED, submission.pk, reason=f"cancelled by {by}"):
            raise UserError("nothing is being done that could be cancelled", remedy="load the page again")
        if scoring:
            from brainscore_web.scoring.services import cancel_all

            cancel_all(submission, by)


def scoring_ended(submission_id: Any) -> None:
    """Look whether all pairs of a submission have ended, and close it then. Any number of times.

    Parameters
    ----------
    submission_id : UUID
        Primary key of the submission.
    """
    from brainscore_web.scoring.services import progress
    from brainscore_web.submissions.notifications import counts_in_words, notify_done, pair_counts

    if not Submission.objects.filter(pk=submission_id, state=Submission.State.SCORING).exists():
        return
    with transaction.atomic():
        submission = lock_submission(submission_id)
        counts = pair_counts(progress(submission))
        if submission.state != Submission.State.SCORING or counts["waiting"] or counts["running"]:
            return
        said = {_K.SCORE: {"reason": counts_in_words(counts), "result": counts}}
        if _handle_event(Event.SCORED, submission.pk, said=said):
            notify_done(submission, counts)


def lock_submission(key: Any) -> Submission:
    """The submission, held until the transaction ends; all transitions take it first."""
    return Submission.objects.select_for_update(of=("self",)).get(pk=key)


def apply_change(
    revision: Revision, submission: Submission, change: Change, said: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Write a change, in a transaction that holds the submission.

    Parameters
    ----------
    revision : Revision
        Whose steps change.
    submission : Submission
        Its submission, as `lock_submission` gave it.
    change : Change
        What becomes of them.
    said : mapping, optional
        Kind → further attributes of a step.
    """
    now = timezone.now()
    submission.state, submission.changed = change.state, now
    submission.save(update_fields=["state", "changed"])
    for kind, state in change.steps.items():
        values: dict[str, Any] = {"state": state, "claim": "", "claimed": None, "due": None}
        if state in (_T.WAITING, _T.RUNNING):
            values |= {"started": now if state == _T.RUNNING else None, "ended": None}
        else:
            values["ended"] = now
        Step.objects.filter(revision=revision, kind=kind).update(**values | dict((said or {}).get(kind, {})))
    if change.due:
        Step.objects.filter(revision=revision, kind=change.due, state=_T.WAITING).update(due=now)
        transaction.on_commit(_wake, robust=True)  # it is committed, and the sweep wakes, too


def _wake() -> None:
    from brainscore_web.submissions.tasks import wake_for_steps

    wake_for_steps()


def _handle_event(
    event: Event,
    key: Any,
    *,
    revision: Revision | None = None,
    kind: str = "",
    said: dict[str, dict[str, Any]] | None = None,
    reason: str = "",
) -> bool:
    """Let an event happen to a submission; False where it is too late for that."""
    with transaction.atomic():
        submission = lock_submission(key)
        latest = submission.latest
        if revision is not None and revision.pk != latest.pk:
            return False
        steps = {step.kind: step.state for step in latest.steps.all()}
        change = change_after(event, submission.state, steps, kind=kind, review=latest.needs_review)
        if change is None:
            return False
        words: dict[str, dict[str, Any]] = {name: {"reason": reason} for name in change.steps} if reason else {}
        apply_change(latest, submission, change, words | (said or {}))
    return True


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("a pipeline begins in the transaction that makes the revision")
