"""Status of a submission and of its pairs for the submitter, and signals for the app that scores pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count
from django.dispatch import Signal

from brainscore_web.environment import email_destination
from brainscore_web.leaderboard.models import VisionModel, Visitor
from brainscore_web.submissions.models import Revision, Step, Submission

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


# sent in the transaction of the change
published = Signal()
"""A `submission` was published: its pairs are planned."""

scoring_retried = Signal()
"""A user (`by`) retries the failed pairs of a `submission`."""

scoring_cancelled = Signal()
"""A user (`by`) cancels the open pairs of a `submission`."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Numbers of pairs by state.

    Examples
    --------
    >>> one = Progress(total=5, waiting=1, running=1, scored=2, failed=1)
    >>> one.open, one.ended, one.words, one.outcome
    (2, 3, '2 scored, 1 failed, 1 running, 1 waiting', '2 scored, 1 failed')

    Pairs that the site could not run have ended, although it tries them again later.
    """

    total: int = 0
    waiting: int = 0
    running: int = 0
    scored: int = 0
    not_applicable: int = 0
    undefined: int = 0
    failed: int = 0
    cancelled: int = 0
    not_run: int = 0

    @property
    def open(self) -> int:
        """Number of pairs that have not ended."""
        return self.waiting + self.running

    @property
    def ended(self) -> int:
        """Number of pairs that have ended."""
        return self.total - self.open

    def of(self, state: str) -> int:
        """Return the number of pairs in a state of jobs."""
        return int(getattr(self, state.replace(" ", "_")))

    @property
    def words(self) -> str:
        """The numbers in words; zeros are left out."""
        names = ("scored", "not_applicable", "undefined", "failed", "not_run", "cancelled", "running", "waiting")
        phrases = [f"{getattr(self, name):,} {name.replace('_', ' ')}" for name in names if getattr(self, name)]
        return ", ".join(phrases) or "nothing to score"

    @property
    def outcome(self) -> str:
        """The numbers of pairs that have ended, in words."""
        names = ("scored", "failed", "undefined", "not_applicable", "cancelled", "not_run")
        labels = {name: name.replace("_", " ") for name in names} | {"not_run": "not run yet"}
        return ", ".join(f"{getattr(self, name)} {labels[name]}" for name in names if getattr(self, name)) or (
            "there was nothing to score"
        )


def progress(submission: Submission, visitor: Visitor | None = None) -> Progress:
    """Count a submission's pairs by state."""
    return progress_of([submission], visitor)[submission.pk]


def progress_of(submissions: Collection[Submission], visitor: Visitor | None = None) -> dict[Any, Progress]:
    """Count the pairs of several submissions, as `progress` does, in one query; primary key → numbers."""
    visible = {} if visitor is None else {"jobs__model__in": VisionModel.objects.visible_to(visitor)}
    rows = Submission.objects.filter(
        pk__in=[submission.pk for submission in submissions], jobs__isnull=False, **visible
    )
    counts: dict[Any, dict[str, int]] = {submission.pk: {} for submission in submissions}
    for key, state, number in rows.order_by().values_list("pk", "jobs__state").annotate(Count("jobs")):
        counts[key][state.replace(" ", "_")] = number
    return {key: Progress(total=sum(numbers.values()), **numbers) for key, numbers in counts.items()}
