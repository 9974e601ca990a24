"""How far the scoring of a submission is."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from brainscore_web.leaderboard.models import Visitor
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Submission

__all__ = ["Progress", "progress"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How many pairs are how far.

    Examples
    --------
    >>> one = Progress(total=5, waiting=1, running=1, scored=2, failed=1)
    >>> one.open, one.ended, one.words
    (2, 3, '2 scored, 1 failed, 1 running, 1 waiting')
    """

    total: int = 0
    waiting: int = 0
    running: int = 0
    scored: int = 0
    not_applicable: int = 0
    undefined: int = 0
    failed: int = 0
    cancelled: int = 0

    @property
    def open(self) -> int:
        """Pairs for which something is still to come."""
        return self.waiting + self.running

    @property
    def ended(self) -> int:
        """The others."""
        return self.total - self.open

    def of(self, state: str) -> int:
        """How many are in a state, as jobs call it."""
        return int(getattr(self, state.replace(" ", "_")))

    @property
    def words(self) -> str:
        """In words; what there is none of is left out."""
        names = ("scored", "not_applicable", "undefined", "failed", "cancelled", "running", "waiting")
        parts = [f"{getattr(self, name):,} {name.replace('_', ' ')}" for name in names if getattr(self, name)]
        return ", ".join(parts) or "nothing to score"


def progress(submission: Submission, visitor: Visitor | None = None) -> Progress:
    """Count a submission's pairs.

    Parameters
    ----------
    submission : Submission
        Whose.
    visitor : User or AnonymousUser, optional
        Count what they may see; by default all.
    """
    rows = Job.objects.filter(submissions=submission)
    if visitor is not None:
        rows = rows.visible_to(visitor)
    counts = dict(rows.order_by().values_list("state").annotate(Count("pk")))
    named = {state.replace(" ", "_"): number for state, number in counts.items()}
    return Progress(total=sum(counts.values()), **named)
