"""Runs the steps of submissions, records their outcomes, and resumes interrupted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.files import remove_abandoned_folders
from brainscore_core.isolation.sandbox import FOLDERS as CAGE_FOLDERS
from brainscore_web.accounts.models import User
from brainscore_web.jobs.leases import Lease
from brainscore_web.jobs.outbox import notify_administrators
from brainscore_web.jobs.workers import do_next
from brainscore_web.leaderboard.clean import json_value
from brainscore_web.leaderboard.models import Visibility, VisionModel
from brainscore_web.submissions.models import Plugin, PluginKind, PublishedVersion, Step, Submission
from brainscore_web.submissions.notifications import notify_changes_needed, notify_gave_up, notify_review_needed
from brainscore_web.submissions.pipeline.assessing import plan_assessments
from brainscore_web.submissions.pipeline.checking import check
from brainscore_web.submissions.pipeline.publishing import publish
from brainscore_web.submissions.pipeline.testing import TEST_FOLDERS, run_tests
from brainscore_web.submissions.pipeline.transitions import (
    Event,
    apply_change,
    cancel,
    change_after,
    lock_submission,
    scoring_ended,
    withdraw,
    withdraw_abandoned,
)
from brainscore_web.submissions.steps import LANES, LONG_LANE, Outcome, StepFailed, StepIsLong

_STEP_FUNCTIONS: Mapping[str, Callable[[Lease[Step]], Outcome | None]] = {
    "check": check,
    "test": run_tests,
    "publish": publish,
}
_GAVE_UP = "the site could not complete this step. Its administrators have been notified; you can retry it later."


def run_next_step(only: int | None = None, *, long: bool | None = None) -> bool:
    """Run the next due step, or the given one."""
    where = None if only is None else Q(pk=only)
    return any(
        do_next(queue, _run, give_up=_give_up, where=where)
        for queue in LANES
        if long is None or long == (queue.lane == LONG_LANE)
    )


def _run(lease: Lease[Step]) -> None:
    try:
        outcome = _STEP_FUNCTIONS[lease.row.kind](lease)
    except StepFailed as failed:
        outcome = failed.outcome
    except StepIsLong:
        lease.release(counts=False, long=True)
        return
    if outcome is not None:  # otherwise the step has recorded its own end
        _record_outcome(lease, outcome)


def _record_outcome(lease: Lease[Step], outcome: Outcome) -> bool:
    """Record the outcome of a step that this process still holds, with the next step and the e-mail."""
    step = lease.row
    with transaction.atomic():
        try:
            submission = lock_submission(step.revision.submission_id)
        except Submission.DoesNotExist:  # the submitter's account was deleted
            return False
        if not lease.rows().exists():
            return False
        steps = dict(Step.objects.filter(revision=step.revision).values_list("kind", "state"))
        event = Event.PASSED if outcome.passed else Event.FAILED
        change = change_after(event, submission.state, steps, kind=step.kind, review=step.revision.needs_review)
        if change is None:
            lease.finish(state=Step.State.CANCELLED, ended=timezone.now())
            return False
        if outcome.findings is not None:
            step.revision.findings = json_value(list(map(dict, outcome.findings)))
            step.revision.save(update_fields=["findings"])
        # output of the sandbox may contain characters that PostgreSQL cannot store
        values = {name: json_value(getattr(outcome, name)) for name in ("reason", "internal", "log")}
        values["result"] = json_value(dict(outcome.result))
        apply_change(step.revision, submission, change, {step.kind: values})
        if step.kind == Step.Kind.TEST and outcome.passed:
            plan_assessments(step.revision)
        if change.state == Submission.State.REVIEW:
            notify_review_needed(step.revision)
        elif change.state == Submission.State.CHANGES:
            (notify_gave_up if outcome.gave_up else notify_changes_needed)(submission, step, outcome)
            if outcome.gave_up:
                notify_administrators(f"{submission}: {step.get_kind_display().lower()} failed", outcome.internal)
    return True


def _give_up(lease: Lease[Step], why: str, internal: str) -> None:
    reason = f"{why}: {_GAVE_UP}" if why else _GAVE_UP
    _record_outcome(lease, Outcome(passed=False, gave_up=True, reason=reason, internal=internal, log=lease.row.log))


def remove_leftovers() -> int:
    """Remove temporary folders of tests and sandboxes whose process was killed; return their number."""
    return sum(remove_abandoned_folders(prefix) for prefix in (CAGE_FOLDERS, TEST_FOLDERS))


def close_scored() -> int:
    """Close submissions whose last worker was killed before it closed them; return how many are being scored."""
    keys = list(Submission.objects.filter(state=Submission.State.SCORING).values_list("pk", flat=True))
    for key in keys:
        scoring_ended(key)
    return len(keys)


def withdraw_of_deleted_accounts() -> int:
    """Withdraw unpublished submissions of deleted accounts, and return their number; live plugins stay."""
    state = Submission.State
    unended = (state.QUEUED, state.CHANGES, state.REVIEW, state.PUBLISHING)
    keys = list(Submission.objects.filter(owner=None, state__in=unended).values_list("pk", flat=True))
    for key in keys:
        withdraw_abandoned(key)
    return len(keys)


def delete_submissions_of(user: User) -> None:
    """Withdraw open submissions and delete those never published; live plugins stay, without an owner.

    The code of private models is deleted if the user has erased the models themselves.
    """
    for row in Submission.objects.filter(owner=user).order_by("created", "pk"):
        with suppress(UserError):  # it has ended or is live
            withdraw(row, user)
        with suppress(UserError):  # nothing is running
            cancel(row, user)
    for plugin in Plugin.objects.filter(owner=user, kind=PluginKind.MODELS).order_by("pk"):
        if _models_erased(plugin):
            PublishedVersion.objects.filter(domain=plugin.domain, kind=plugin.kind, name=plugin.name).delete()
            plugin.delete()
    live = Plugin.objects.filter(revision__submission__owner=user).values("revision__submission")
    Submission.objects.filter(owner=user).exclude(pk__in=live).delete()


def _models_erased(plugin: Plugin) -> bool:
    """Whether all of its models are erased except for their names."""
    rows = VisionModel.objects.filter(identifier__in=plugin.identifiers)
    return all(row.visibility == Visibility.PRIVATE and not row.plugin and not row.runnable for row in rows)
