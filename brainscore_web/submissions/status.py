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
    "queued": ("It is being checked and tested.", "This continues when you leave the page."),
    "changes": ("Changes are needed from you.", "Fix the problems below, then send a new revision."),
    "review": ("It has passed its tests, and is waiting for a reviewer.", "A reviewer reads the code."),
    "publishing": ("It is accepted and being published.", "This takes a few minutes and needs no action from you."),
    "scoring": ("It is published and being scored.", "Each score is below and on the leaderboard once it is computed."),
    "done": ("It is done.", "The scores are below and on the leaderboard. To change something, send a new submission."),
    "rejected": ("It was rejected.", "You can send a corrected version as a new submission."),
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
        words, following, can_retry = _when_done(score, words, following)
        retry = score if can_retry else None
    if submission.state in _SENT and not email_destination(settings.EMAIL_BACKEND):
        following += f" You will get an e-mail with the {_SENT[submission.state]}."
    return Status(words, following, _POLLED.get(submission.state, 0), retry)


def _when_done(score: Step, words: str, following: str) -> tuple[str, str, bool]:
    """Return the status of a submission after its scoring, and whether scoring can be tried again."""
    failed, not_run = score.result.get("failed") or 0, score.result.get("not_run") or 0
    if score.state == "cancelled":
        return "Scoring was cancelled.", "Existing scores count. Try again to score the rest.", True
    if failed:
        words = f"It is done; {failed} pair{'s' if failed > 1 else ''} failed"
        words += f", and the site could not run {not_run} yet." if not_run else "."
        remedy = "Try them again, or send a corrected version as a new submission."
        return words, f"The table gives the reasons. {remedy}", True
    if not_run:
        words = f"It is done; the site could not run {not_run} pair{'s' if not_run > 1 else ''} yet."
        reason = "it is not a problem of your submission, and the site tries again by itself."
        return words, f"You need not do anything: {reason}", False
    if score.state == "passed" and not score.result.get("scored"):
        return "It is done, without a score.", "To change something, send a new submission.", False
    return words, following, False


def _why_changes(revision: Revision, steps: dict[str, Step]) -> tuple[str, str]:
    if count := _errors(revision):
        errors = f"{count} error{'s' if count > 1 else ''}"
        return f"{errors} must be fixed before anything is run.", "Fix the findings below, and send a new revision."
    if _reviewed(steps):
        remedy = "Send a new revision with the changes, or comment next to the code."
        return "A reviewer has requested changes.", remedy
    for step in steps.values():
        if step.state == "cancelled" and step.kind in _RETRIED and step.started:
            return "It was stopped.", "Try again, or send a new revision."
        if step.state == "failed":
            return _FAILED.get(step.kind, "A step failed."), _AFTER_FAILURE
    return _STATE_TEXTS["changes"]


def _where_in_queue(steps: dict[str, Step]) -> str:
    texts = {"running": "It is being {} right now.", "waiting": "It is in the queue to be {}."}
    for kind, action in (("check", "checked"), ("test", "tested")):
        if kind in steps and steps[kind].state in texts:
            return texts[steps[kind].state].format(action)
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
        return self._in_words(*names) or "nothing to score"

    @property
    def outcome(self) -> str:
        """The numbers of pairs that have ended, in words."""
        names = ("scored", "failed", "undefined", "not_applicable", "cancelled", "not_run")
        return self._in_words(*names, not_run="not run yet") or "there was nothing to score"

    def _in_words(self, *names: str, **labels: str) -> str:
        counts = {name: getattr(self, name) for name in names if getattr(self, name)}
        return ", ".join(f"{count:,} {labels.get(name, name.replace('_', ' '))}" for name, count in counts.items())


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
