"""E-mails about submissions, queued in the transaction of the change that they report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from brainscore_web.accounts.models import User, owns
from brainscore_web.jobs.models import Email
from brainscore_web.jobs.outbox import email_body, email_subject, queue_email, queue_emails
from brainscore_web.submissions.models import ASPECTS, Comment, Review, Revision, Step, Submission
from brainscore_web.submissions.permissions import recipients, reviewers
from brainscore_web.submissions.review.assignments import carry_over_reviewer, reviewer_key
from brainscore_web.submissions.review.comments import open_threads
from brainscore_web.submissions.status import progress
from brainscore_web.submissions.steps import Outcome

_SHOWN = 20
_NAMED = 5  # members of a group of equal reasons
_MOST_GROUPED = 5000


def notify_done(submission: Submission) -> None:
    """Report that all pairs have ended: numbers, and reasons of those that the reader may see, together if equal."""
    for reader in recipients(submission):
        failed = _groups_of_jobs(submission, reader, "failed")
        context = {
            "counts": progress(submission, reader).outcome,
            "failed": failed[:_SHOWN],
            "more": len(failed) > _SHOWN,
            "not_run": _groups_of_jobs(submission, reader, "not run")[:_SHOWN],
        }
        queue_email(reader, f"{submission} is done", "submissions/email/done.txt", context, submission)


def _groups_of_jobs(submission: Submission, reader: User, state: str) -> list[dict[str, str]]:
    """Return the reasons of pairs in a state, the most frequent first, each with the pairs that it concerns."""
    rows = submission.jobs.all().visible_to(reader).filter(state=state)
    rows = rows.select_related("model", "benchmark").defer("log")
    groups: dict[str, list[Any]] = {}
    for job in rows.order_by("model__identifier", "benchmark__identifier")[:_MOST_GROUPED]:
        first_line = "".join(job.reason_to(reader).strip().splitlines()[:1])[:300]
        groups.setdefault(first_line, []).append(job)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [{"what": _pairs_in_words(jobs), "reason": reason} for reason, jobs in ordered]


def _pairs_in_words(jobs: Sequence[Any]) -> str:
    """Describe some pairs, such as ``'gabor on 12 benchmarks (A, B, …)'``."""
    models = list(dict.fromkeys(job.model.identifier for job in jobs))
    benchmarks = list(dict.fromkeys(job.benchmark.identifier for job in jobs))
    if len(jobs) == 1:
        return f"{models[0]} on {benchmarks[0]}"
    if len(models) == 1:
        return f"{models[0]} on {len(benchmarks)} benchmarks ({_listed(benchmarks)})"
    if len(benchmarks) == 1:
        return f"{len(models)} models ({_listed(models)}) on {benchmarks[0]}"
    return f"{len(jobs)} pairs ({_listed([f'{job.model.identifier} on {job.benchmark.identifier}' for job in jobs])})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def notify_changes_needed(submission: Submission, step: Step, outcome: Outcome) -> None:
    """Report that the submission waits for changes, with the findings and failed tests, equal ones together."""
    findings: dict[tuple[str, str], list[str]] = {}
    for finding in outcome.findings or ():
        if finding["severity"] == "error":
            position = f"{finding['file']}:{finding['line']}" if finding["line"] else finding["file"]
            findings.setdefault((finding["message"], finding["remedy"]), []).append(position)
    tests: dict[str, list[str]] = {}
    for failure in outcome.result.get("failures", ()):
        tests.setdefault(failure["message"], []).append(failure["name"])
    context = {
        "step": _STEP_NAMES.get(step.kind, step.get_kind_display().lower()),
        "reason": outcome.reason,
        "findings": [
            {"places": _together(positions, "places"), "message": message, "remedy": remedy}
            for (message, remedy), positions in list(findings.items())[:_SHOWN]
        ],
        "tests": [
            {"what": _together(names, "tests or checks"), "message": text}
            for text, names in list(tests.items())[:_SHOWN]
        ],
        "more": max(len(findings), len(tests)) > _SHOWN,
    }
    subject = f"{submission} needs changes"
    queue_emails(recipients(submission), subject, f"{_MAIL}changes_needed.txt", context, submission)


def _together(names: Sequence[str], noun: str) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} {noun} ({_listed(names)})"


_STEP_NAMES = {"check": "check of the code", "test": "tests", "publish": "publication"}


def notify_gave_up(submission: Submission, step: Step, outcome: Outcome) -> None:
    """Report that the site could not complete a step."""
    context = {"step": _STEP_NAMES.get(step.kind, step.get_kind_display().lower()), "reason": outcome.reason}
    subject = f"{submission} could not be processed"
    queue_emails(recipients(submission), subject, f"{_MAIL}gave_up.txt", context, submission)


COMMENT_DELAY = timedelta(minutes=10)
"""Comments within this time are combined into one e-mail."""
_MAIL = "submissions/email/"


def notify_review_needed(revision: Revision) -> int:
    """Tell reviewers that a revision waits for review; return how many e-mails were queued.

    The first time, all reviewers get an e-mail; later, those who took part, if any. Called in the transaction in
    which the review step becomes due.
    """
    submission = revision.submission
    carry_over_reviewer(revision)
    readers = _involved_reviewers(submission) if revision.number > 1 else []
    return queue_emails(
        readers or reviewers(but=submission.owner),
        f"Waits for review{' again' if revision.number > 1 else ''}: {submission}",
        f"{_MAIL}review_waits.txt",
        {"revision": revision},
        submission,
    )


def notify_verdict(review: Review) -> None:
    """Report a decision to the submitters, with all open comments; pending e-mails about comments are dropped."""
    submission = review.revision.submission
    readers = recipients(submission)
    for reader in readers:
        _pending_comment_emails(reader, submission).delete()
    decision = {"approved": "Approved", "changes": "Changes requested", "rejected": "Rejected"}[review.verdict]
    aspects = [(label, review.aspects.get(name, {})) for name, label in ASPECTS.items()]
    notes = [(label, aspect) for label, aspect in aspects if aspect.get("note") or aspect.get("fine") is False]
    context = {"review": review, "revision": review.revision, "threads": open_threads(submission), "notes": notes}
    queue_emails(readers, f"{decision}: {submission}", f"{_MAIL}{review.verdict}.txt", context, submission)


def notify_comment(comment: Comment) -> None:
    """Report a comment to the other side, together with others that follow within a few minutes.

    The caller has locked the submission's row.
    """
    submission = comment.revision.submission
    by_submitter = owns(comment.author, submission)
    for reader in _involved_reviewers(submission) if by_submitter else recipients(submission):
        email = _pending_comment_emails(reader, submission).order_by("pk").first()
        first = email.created if email is not None else comment.created
        recent = Comment.objects.filter(revision__submission=submission, created__gte=first).exclude(author=reader)
        context = {"comments": recent.select_related("author", "revision").order_by("created", "pk")}
        if email is None:
            email = queue_email(reader, _comment_subject(submission), f"{_MAIL}comments.txt", context, submission)
            if email is not None:
                Email.objects.filter(pk=email.pk).update(created=first, due=timezone.now() + COMMENT_DELAY)
        else:
            body = email_body(reader, f"{_MAIL}comments.txt", context, submission)
            Email.objects.filter(pk=email.pk).update(body=body)


def _comment_subject(submission: Submission) -> str:
    return f"Comments on {submission}"


def _pending_comment_emails(reader: User, submission: Submission) -> QuerySet[Email]:
    subject = email_subject(_comment_subject(submission))
    pending = Email.objects.filter(sent=None, attempts=0, due__gt=timezone.now())
    return pending.filter(to=reader, submission=submission, subject=subject)


def _involved_reviewers(submission: Submission) -> list[User]:
    """Reviewers who commented on the submission, decided on it, or have taken its review."""
    steps = Step.objects.filter(revision__submission=submission, kind=Step.Kind.REVIEW).values_list("result", flat=True)
    holders = [key for key in map(reviewer_key, steps) if key]
    took_part = Q(submission_comments__revision__submission=submission) | Q(reviews__revision__submission=submission)
    keys = User.objects.filter(took_part | Q(pk__in=holders)).values("pk")
    return list(reviewers(but=submission.owner).filter(pk__in=keys))
