"""Do one step: claim it, do it, write what came of it."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from brainscore_web.leaderboard.clean import json_value
from brainscore_web.submissions.models import Step, Submission
from brainscore_web.submissions.pipeline._claims import ATTEMPTS, Claim, claim_next, due
from brainscore_web.submissions.pipeline._ending import tell_changes, tell_gave_up, tell_keepers
from brainscore_web.submissions.pipeline._outcome import Failed, Later, Outcome
from brainscore_web.submissions.pipeline._states import Event, after
from brainscore_web.submissions.pipeline._transitions import apply, locked
from brainscore_web.uploads.storage import StorageFailure

__all__ = ["run_next"]

_log = logging.getLogger(__name__)
_PAUSE = timedelta(seconds=30)
_LONGEST_PAUSE = timedelta(minutes=30)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_GAVE_UP = "the site could not do this; its keepers were told. You can try it again later."


def run_next(only: int | None = None) -> bool:
    """Do the step that is next, or this very one.

    Parameters
    ----------
    only : int, optional
        Primary key of a step.

    Returns
    -------
    bool
        Whether there was one.
    """
    claim = claim_next(only)
    if claim is None:
        return False
    if due().exists():
        from brainscore_web.submissions.tasks import wake

        wake()  # somebody else can begin with the next one meanwhile; or this process does it afterwards
    step = claim.step
    if step.attempts > ATTEMPTS:
        _give_up(claim, "its worker ended in the midst each time")
        return True
    try:
        with claim.alive():
            outcome = _bodies()[step.kind](claim)
        if outcome is not None:  # else the step ended itself
            _end(claim, outcome)
    except Failed as failed:
        _end(claim, failed.outcome)
    except Later as later:
        _later(claim, later)
    except (StorageFailure, OSError) as error:
        _log.error("Step %s cannot be done now: %s", step.pk, error)
        full = isinstance(error, OSError) and error.errno in _FULL
        _again(claim, f"{type(error).__name__}: {error}", "the disk of the site is full" if full else "storage failed")
    except Exception as error:  # noqa: BLE001 # it is logged, and tried again
        _log.exception("Step %s cannot be done", step.pk)
        _again(claim, f"{type(error).__name__}: {error}", "an error of the site")
    return True


def _bodies() -> Mapping[str, Callable[[Claim], Outcome | None]]:
    from brainscore_web.submissions.pipeline._check import check
    from brainscore_web.submissions.pipeline._publish import publish
    from brainscore_web.submissions.pipeline._test import test

    return {"check": check, "test": test, "publish": publish}


def _end(claim: Claim, outcome: Outcome) -> bool:
    """Write how a step ended, if it is still this process's; with it, what comes next, and the letter."""
    step = claim.step
    with transaction.atomic():
        try:
            submission = locked(step.revision.submission_id)
        except Submission.DoesNotExist:  # its submitter has left
            return False
        if not claim.mine().exists():
            return False
        steps = dict(Step.objects.filter(revision=step.revision).values_list("kind", "state"))
        event = Event.PASSED if outcome.passed else Event.FAILED
        change = after(event, submission.state, steps, kind=step.kind, review=step.revision.needs_review)
        if change is None:
            claim.mine().update(state=Step.State.CANCELLED, claim="", claimed=None, ended=timezone.now())
            return False
        if outcome.findings is not None:
            step.revision.findings = json_value(list(map(dict, outcome.findings)))
            step.revision.save(update_fields=["findings"])
        # what comes out of the cage may hold what PostgreSQL cannot keep
        said = {name: json_value(getattr(outcome, name)) for name in ("reason", "internal", "log")}
        said["result"] = json_value(dict(outcome.result))
        apply(step.revision, submission, change, {step.kind: said})
        if change.state == Submission.State.REVIEW:
            from brainscore_web.submissions.review.telling import review_waits

            review_waits(step.revision)
        elif change.state == Submission.State.CHANGES:
            (tell_gave_up if outcome.gave_up else tell_changes)(submission, step, outcome)
            if outcome.gave_up:
                tell_keepers(f"{submission}: {step.get_kind_display().lower()} failed", outcome.internal)
    return True


def _later(claim: Claim, later: Later) -> None:
    """Wait: what the site lacks is no attempt of this step."""
    now = timezone.now()
    with transaction.atomic():
        mended = claim.mine().update(
            state=Step.State.WAITING,
            claim="",
            claimed=None,
            due=now + later.pause,
            attempts=F("attempts") - 1,
            reason=later.reason,
            internal=later.internal,
        )
        if mended:
            tell_keepers(later.reason, later.internal)


def _again(claim: Claim, internal: str, why: str) -> None:
    """Try it again after a while; after some attempts, give up."""
    attempts = claim.step.attempts
    if attempts >= ATTEMPTS:
        _give_up(claim, internal)
        return
    pause = min(_PAUSE * 4 ** (attempts - 1), _LONGEST_PAUSE)
    claim.mine().update(
        state=Step.State.WAITING,
        claim="",
        claimed=None,
        due=timezone.now() + pause,
        reason=f"{why}: it is tried again",
        internal=internal,
    )


def _give_up(claim: Claim, internal: str) -> None:
    _end(claim, Outcome(passed=False, gave_up=True, reason=_GAVE_UP, internal=internal, log=claim.step.log))
