"""The status of a submission and the next action, described for its submitter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.conf import settings

from brainscore_web.environment import email_destination
from brainscore_web.submissions.models import Revision, Step, Submission
from brainscore_web.submissions.pairs import Progress

_STATE_TEXTS: dict[str, tuple[str, str]] = {
    "queued": (
        "It is being checked and tested.",
        "This continues when you leave the page.",
    ),
    "changes": ("Changes are needed from you.", "Fix the problems below, then send a new revision."),
    "review": (
        "It has passed its tests, and is waiting for a reviewer.",
        "A reviewer reads the code.",
    ),
    "publishing": ("It is accepted and being published.", "This takes a few minutes and needs no action from you."),
    "scoring": (
        "It is published and being scored.",
        "Each score is below and on the leaderboard once it is computed.",
    ),
    "done": ("It is done.", "The scores are below and on the leaderboard. To change something, send a new submission."),
    "rejected": (
        "It was rejected.",
        "You can send a corrected version as a new submission.",
    ),
    "withdrawn": ("You have withdrawn it.", "Nothing of it was published. You can send it again at any time."),
}
_SENT = {"queued": "result", "review": "decision"}
"""What the submitter of a submission gets an e-mail with."""

_POLLED = {"queued": 2, "publishing": 2, "scoring": 5, "review": 20}
_FAILED = {"check": "The checks failed.", "test": "The tests failed.", "publish": "Publishing failed."}
_AFTER_FAILURE = "The reason and the log are below. Send a new revision, or try again if your files are correct."
_RETRIED = ("check", "test", "publish")


@dataclass(frozen=True)
class Status:
    """The status of a submission."""

    # words, next: the status in words, and what its submitter can do
    words: str
    next: str
    seconds: int  # interval in which a page asks for updates; 0 if nothing changes without an action
    retry: Step | None  # an automatic step that can be retried


_STEP_LABELS = {
    "check": "Checks", "test": "Tests", "review": "Review", "publish": "Publication", "score": "Scoring",
}  # fmt: skip
_STEP_WORDS = {
    ("review", "passed"): "approved",
    ("review", "failed"): "changes requested",
    ("publish", "passed"): "done",
    ("score", "passed"): "done",
}
_SYMBOLS = {"waiting": "○", "running": "◐", "passed": "✓", "failed": "✗", "skipped": "–", "cancelled": "⊘"}


def step_status(step: Step, submission: Submission) -> dict[str, str]:
    """Return the status of a step: its label, its outcome in words, the state that is drawn so, and its symbol.

    A request for changes is not a failure, scoring without scores is not a success.
    """
    words, style = _STEP_WORDS.get((step.kind, step.state), step.state), step.state
    if step.kind == "review" and step.state == "failed":
        rejected = submission.state == "rejected"
        words, style = ("rejected", "failed") if rejected else (words, "skipped")
    elif step.kind == "score" and step.state == "passed":
        counts = step.result
        if not counts.get("scored") or any(counts.get(name) for name in ("failed", "not_run", "cancelled")):
            words, style = "ended", "skipped"
    return {"label": _STEP_LABELS[step.kind], "words": words, "style": style, "symbol": _SYMBOLS[style]}


def count_pairs(steps: Iterable[Step], pairs: Progress) -> None:
    """Describe an ended scoring step by its pairs."""
    for step in steps:
        if (step.kind, step.state) == (Step.Kind.SCORE, Step.State.PASSED):
            step.result = asdict(pairs)
            step.reason = pairs.outcome


def status_of(submission: Submission, revision: Revision, steps: Iterable[Step]) -> Status:
    """Return the status of a submission."""
    by_kind = {step.kind: step for step in steps}
    words, following = _STATE_TEXTS[submission.state]
    retry = None
    if submission.state == "changes":
        words, following = _why_changes(revision, by_kind)
        ended = (by_kind.get(kind) for kind in _RETRIED)
        retry = next((step for step in ended if step and step.state in ("failed", "cancelled")), None)
        if retry is not None and (_errors(revision) or _reviewed(by_kind)):
            retry = None  # the same files would fail again
    elif submission.state == "queued":
        words = _where_in_queue(by_kind) or words
    elif submission.state == "done" and (score := by_kind.get("score")) is not None:
        if score.state == "cancelled":
            words, following = "Scoring was cancelled.", "Existing scores count. Try again to score the rest."
            retry = score
        elif score.result.get("failed"):
            count = score.result["failed"]
            not_run = score.result.get("not_run")
            addition = f", and the site could not run {not_run} yet" if not_run else ""
            words = f"It is done; {count} pair{'s' if count > 1 else ''} failed{addition}."
            following = "The table gives the reasons. Try them again, or send a corrected version as a new submission."
            retry = score
        elif score.result.get("not_run"):
            count = score.result["not_run"]
            words = f"It is done; the site could not run {count} pair{'s' if count > 1 else ''} yet."
            following = (
                "You need not do anything: it is not a problem of your submission, and the site tries again by itself."
            )
        elif score.state == "passed" and not score.result.get("scored"):
            words, following = "It is done, without a score.", "To change something, send a new submission."
    if submission.state in _SENT and not email_destination(settings.EMAIL_BACKEND):
        following += f" You will get an e-mail with the {_SENT[submission.state]}."
    return Status(words, following, _POLLED.get(submission.state, 0), retry)


def _why_changes(revision: Revision, steps: dict[str, Step]) -> tuple[str, str]:
    count = _errors(revision)
    if count:
        errors = f"{count} error{'s' if count > 1 else ''}"
        return f"{errors} must be fixed before anything is run.", "Fix the findings below, and send a new revision."
    if _reviewed(steps):
        return (
            "A reviewer has requested changes.",
            "Send a new revision with the changes, or comment next to the code.",
        )
    for step in steps.values():
        if step.state == "cancelled" and step.kind in _RETRIED and step.started:
            return "It was stopped.", "Try again, or send a new revision."
        if step.state == "failed":
            return _FAILED.get(step.kind, "A step failed."), _AFTER_FAILURE
    return _STATE_TEXTS["changes"]


def _where_in_queue(steps: dict[str, Step]) -> str:
    for kind, action in (("check", "checked"), ("test", "tested")):
        step = steps.get(kind)
        if step is not None and step.state == "running":
            return f"It is being {action} right now."
        if step is not None and step.state == "waiting":
            return f"It is in the queue to be {action}."
    return ""


def _errors(revision: Revision) -> int:
    return sum(finding["severity"] == "error" for finding in revision.findings)


def _reviewed(steps: dict[str, Step]) -> bool:
    review = steps.get("review")
    return review is not None and review.state == "failed"
