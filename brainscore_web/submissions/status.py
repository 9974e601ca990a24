"""Status of a submission in words for its submitter, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brainscore_web.submissions.models import Revision, Step, Submission

__all__ = ["Status", "status_of"]

_STATE_TEXTS: dict[str, tuple[str, str]] = {
    "queued": (
        "It is being checked and tested.",
        "This goes on by itself, also when you leave the page. A mail tells you how it ends.",
    ),
    "changes": ("It waits for changes from you.", "Mend what is said below, then send a new revision."),
    "review": (
        "It has passed its tests, and waits for a reviewer.",
        "A reviewer reads the code, mostly within two weeks. A mail tells you what they say.",
    ),
    "publishing": ("It is accepted, and being published.", "This takes a few minutes, and goes on by itself."),
    "scoring": (
        "It is published, and being scored.",
        "Each pair of a model and a benchmark appears on the leaderboard once it is done.",
    ),
    "done": ("It is done.", "The scores are on the leaderboard. To change something, send a new submission."),
    "rejected": ("It was rejected.", "The review says why. What you mend can be sent as a new submission."),
    "withdrawn": ("You have withdrawn it.", "Nothing of it was published. It can be sent again at any time."),
}
_POLLED = {"queued": 2, "publishing": 2, "scoring": 5, "review": 20}
_FAILED = {"check": "The checks failed.", "test": "The tests failed.", "publish": "Publishing failed."}
_AFTER_FAILURE = (
    "The reason and the log are below. Send a new revision; if nothing is wrong with your files, try again."
)
_RETRIED = ("check", "test", "publish")


@dataclass(frozen=True)
class Status:
    """How it stands.

    Attributes
    ----------
    words, next : str
        What happens, and what its submitter can do.
    seconds : int
        How often a page asks again; 0: nothing changes by itself.
    retry : Step or None
        An automatic step that can be done again.
    """

    words: str
    next: str
    seconds: int
    retry: Step | None


def status_of(submission: Submission, revision: Revision, steps: Iterable[Step]) -> Status:
    """Say how a submission stands.

    Parameters
    ----------
    submission : Submission
        Which.
    revision : Revision
        Its newest one.
    steps : iterable of Step
        Of that revision.
    """
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
            words, following = "Scoring was cancelled.", "What was scored before counts. Try again to score the rest."
            retry = score
        elif score.result.get("failed"):
            words = f"It is done; {score.result['failed']} pairs failed."
            following = "The table says why. Try them again, or send a new submission with what you mended."
            retry = score
    return Status(words, following, _POLLED.get(submission.state, 0), retry)


def _why_changes(revision: Revision, steps: dict[str, Step]) -> tuple[str, str]:
    count = _errors(revision)
    if count:
        what = f"{count} error{'s' if count > 1 else ''}"
        return f"{what} must be mended before anything is run.", "Mend what is found below, and send a new revision."
    if _reviewed(steps):
        return (
            "A reviewer asks for changes.",
            "Read the comments beside the code; answer there, or send a new revision with the changes.",
        )
    for step in steps.values():
        if step.state == "cancelled" and step.kind in _RETRIED and step.started:
            return "It was stopped.", "Try again, or send a new revision."
        if step.state == "failed":
            return _FAILED.get(step.kind, "A step failed."), _AFTER_FAILURE
    return _STATE_TEXTS["changes"]


def _where_in_queue(steps: dict[str, Step]) -> str:
    for kind, doing in (("check", "checked"), ("test", "tested")):
        step = steps.get(kind)
        if step is not None and step.state == "running":
            return f"It is being {doing} right now."
        if step is not None and step.state == "waiting":
            return f"It is in the queue to be {doing}."
    return ""


def _errors(revision: Revision) -> int:
    return sum(one["severity"] == "error" for one in revision.findings)


def _reviewed(steps: dict[str, Step]) -> bool:
    review = steps.get("review")
    return review is not None and review.state == "failed"
