"""The pairs of a submission: signals for the app that plans and scores them, and their numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.dispatch import Signal

from brainscore_web.leaderboard.models import VisionModel, Visitor
from brainscore_web.submissions.models import Submission

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
