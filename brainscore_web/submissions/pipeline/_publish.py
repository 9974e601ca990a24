"""The last automatic step: everything of a revision goes live in one transaction, with what is to be scored."""

from __future__ import annotations

from django.db import transaction

from brainscore_core.errors import UserError
from brainscore_vision.submission import Finding, examine
from brainscore_web.leaderboard import revision as shown
from brainscore_web.leaderboard.writing import writing_alone
from brainscore_web.submissions.models import Revision, Step, Submission
from brainscore_web.submissions.names import clashes, holders
from brainscore_web.submissions.pipeline._check import package_of
from brainscore_web.submissions.pipeline._claims import Claim
from brainscore_web.submissions.pipeline._outcome import Failed, Outcome
from brainscore_web.submissions.pipeline._rows import describe, write_rows
from brainscore_web.submissions.pipeline._states import Event, after
from brainscore_web.submissions.pipeline._transitions import apply, locked, scoring_ended
from brainscore_web.submissions.publishing import folder_with, unpacked

__all__ = ["publish"]


def publish(claim: Claim) -> Outcome | None:
    """Do the step.

    Parameters
    ----------
    claim : Claim
        Of the step.
    """
    from brainscore_web.scoring.api import plan_for

    revision = claim.step.revision
    results = dict(Step.objects.filter(revision=revision).values_list("kind", "result"))
    plugins = describe(revision, unpacked(revision), results[Step.Kind.TEST].get("about", {}))
    folder_with(revision)  # where there is no room for it, it does not go live
    private = any(one["private"] for one in results[Step.Kind.CHECK].get("files", ()))
    with writing_alone():  # locks in the order of who ingests
        submission = locked(revision.submission_id)
        if not claim.mine().exists():
            return None
        steps = dict(Step.objects.filter(revision=revision).values_list("kind", "state"))
        change = after(Event.PASSED, submission.state, steps, kind="publish")
        if change is None:
            return None
        revision.submission = submission
        _require_names(revision, submission)
        try:
            write_rows(revision, plugins, private_files=private)
        except UserError as error:
            raise Failed(error.message, findings=[*revision.findings]) from error
        shown.bump()
        apply(revision, submission, change)
        planned = plan_for(submission)
        Step.objects.filter(revision=revision, kind=Step.Kind.PUBLISH).update(
            reason="", internal="", result={"planned": planned}
        )
        key = submission.pk
        transaction.on_commit(lambda: scoring_ended(key), robust=True)  # where nothing was planned
    return None


def _require_names(revision: Revision, submission: Submission) -> None:
    """Somebody else may have published under one of its names meanwhile."""
    package = package_of(revision)
    found = [
        *examine(package, taken=holders(package, owner=submission.owner, submission=submission)),
        *clashes(package, owner=submission.owner, submission=submission),
    ]
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise Failed(_said(errors), findings=[*revision.findings, *(one.as_dict() for one in errors)])


def _said(errors: list[Finding]) -> str:
    return f"it can no longer be published: {errors[0].message}"
