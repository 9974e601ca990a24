"""What people are told: each letter is written in the transaction of the state that it tells of, and so once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.letters import write, write_all
from brainscore_web.submissions.models import Letter, Step, Submission
from brainscore_web.submissions.pipeline._outcome import Outcome

__all__ = ["counts_in_words", "counts_of", "tell_changes", "tell_done", "tell_gave_up", "tell_keepers"]

_log = logging.getLogger(__name__)
_NAMES = ("total", "waiting", "running", "scored", "not_applicable", "undefined", "failed", "cancelled")
_WORDS = {
    "scored": "scored",
    "failed": "failed",
    "undefined": "undefined",
    "not_applicable": "not applicable",
    "cancelled": "cancelled",
}
_SHOWN = 20
_ONCE = timedelta(days=1)


def counts_of(progress: Any) -> dict[str, int]:
    """Numbers of pairs, as plain values."""
    return {name: int(getattr(progress, name)) for name in _NAMES}


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Such as ``'12 scored, 1 failed'``.

    Examples
    --------
    >>> counts_in_words({"scored": 12, "failed": 1, "undefined": 0})
    '12 scored, 1 failed'
    """
    said = [f"{counts[name]} {word}" for name, word in _WORDS.items() if counts.get(name)]
    return ", ".join(said) or "there was nothing to score"


def tell_done(submission: Submission, counts: Mapping[str, int]) -> None:
    """All pairs have ended: how many, and what failed why."""
    jobs = Job.objects.filter(submissions=submission, state=Job.State.FAILED)
    failed = [
        {"pair": str(job), "reason": _first_line(job.reason_to(submission.owner or AnonymousUser()))}
        for job in jobs.select_related("model", "benchmark").order_by("model__identifier", "benchmark__identifier")[
            :_SHOWN
        ]
    ]
    context = {"counts": counts_in_words(counts), "failed": failed, "more": max(counts["failed"] - _SHOWN, 0)}
    write(submission.owner, f"{submission} is done", "submissions/email/done.txt", context, submission)


def tell_changes(submission: Submission, step: Step, outcome: Outcome) -> None:
    """It waits for changes: what was found, which tests failed."""
    findings = [one for one in outcome.findings or () if one["severity"] == "error"]
    context = {
        "step": step.get_kind_display().lower(),
        "reason": outcome.reason,
        "findings": findings[:_SHOWN],
        "tests": outcome.result.get("failures", [])[:_SHOWN],
    }
    write(submission.owner, f"{submission} needs changes", "submissions/email/changes_needed.txt", context, submission)


def tell_gave_up(submission: Submission, step: Step, outcome: Outcome) -> None:
    """The site failed."""
    context = {"step": step.get_kind_display().lower(), "reason": outcome.reason}
    write(
        submission.owner, f"{submission} could not be processed", "submissions/email/gave_up.txt", context, submission
    )


def tell_keepers(what: str, internal: str) -> None:
    """Tell administrators that something of the site must be mended; of the same thing once a day."""
    _log.error("%s: %s", what, internal)
    subject = " ".join(f"keepers: {what}".split())[:200]
    if Letter.objects.filter(subject__endswith=subject, created__gt=timezone.now() - _ONCE).exists():
        return
    keepers = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    write_all(keepers, subject, "submissions/email/keepers.txt", {"what": what, "internal": internal})


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0][:300] if lines else ""
