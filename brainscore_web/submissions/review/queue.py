"""What waits for reviewers, and what waits for submitters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Prefetch, Subquery

from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import PluginKind, Revision, Step, Submission
from brainscore_web.submissions.review.claims import reviewer_key

__all__ = ["STATES", "Waiting", "waiting"]

_MOST = 1_000
_S = Submission.State
STATES = {
    "review": (_S.REVIEW,),
    "changes": (_S.CHANGES,),
    "queued": (_S.QUEUED,),
    "all": (_S.REVIEW, _S.CHANGES, _S.QUEUED),
}
"""What can be looked at, by word."""


@dataclass(frozen=True)
class Waiting:
    """A submission in the queue.

    Attributes
    ----------
    submission : Submission
        Which.
    revision : Revision
        Its newest one.
    since : datetime
        Since when it stands as it does.
    steps : list of Step
        The automatic ones.
    holder : User or None
        Who looks at it.
    own : bool
        Whether it is the reader's own.
    """

    submission: Submission
    revision: Revision
    since: datetime
    steps: list[Step]
    holder: User | None
    own: bool

    @property
    def errors(self) -> int:
        """How many errors were found."""
        return sum(one.get("severity") == "error" for one in self.revision.findings)


def waiting(reader: User, *, state: str = "review", kind: str = "", who: str = "", text: str = "") -> list[Waiting]:
    """What needs a review, oldest first.

    Parameters
    ----------
    reader : User
        Who asks.
    state : str
        One of `STATES`.
    kind : str
        Only with plugins of this kind.
    who : str
        ``'mine'``: what the reader looks at; ``'nobody'``: what nobody looks at.
    text : str
        Only where title or owner have it.
    """
    numbers = Revision.objects.filter(submission=OuterRef("submission")).order_by("-number").values("number")[:1]
    steps = (
        Step.objects.exclude(kind__in=(Step.Kind.PUBLISH, Step.Kind.SCORE)).defer("log", "internal").order_by("order")
    )
    rows = (
        Revision.objects.annotate(newest=Subquery(numbers))
        .filter(number=F("newest"), submission__state__in=STATES.get(state, STATES["review"]))
        .select_related("submission__owner", "by")
        .defer("archive")
        .prefetch_related(Prefetch("steps", queryset=steps))
        .order_by("submission__changed", "submission")
    )
    wanted = [one for one in rows[:_MOST] if one.needs_review and _asked(one, kind, text)]
    keys = {one.pk: _holder_key(one.steps.all()) for one in wanted}
    people = User.objects.in_bulk({key for key in keys.values() if key})
    found = [_row(one, people.get(keys[one.pk] or 0), reader) for one in wanted]
    if who == "mine":
        return [one for one in found if one.holder is not None and one.holder.pk == reader.pk]
    return [one for one in found if one.holder is None] if who == "nobody" else found


def _row(revision: Revision, holder: User | None, reader: User) -> Waiting:
    submission = revision.submission
    steps = [step for step in revision.steps.all() if step.kind != Step.Kind.REVIEW]
    own = reader.pk in (submission.owner_id, revision.by_id)
    return Waiting(submission, revision, submission.changed, steps, holder, own)


def _asked(revision: Revision, kind: str, text: str) -> bool:
    if kind in PluginKind.values and not any(plugin["kind"] == kind for plugin in revision.plugins):
        return False
    owner = revision.submission.owner
    return not text or text.casefold() in f"{revision.submission.title} {owner.public_name if owner else ''}".casefold()


def _holder_key(steps: Sequence[Any]) -> int | None:
    return next((reviewer_key(step.result) for step in steps if step.kind == Step.Kind.REVIEW), None)
