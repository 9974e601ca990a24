"""What the site holds on a person's submissions, for themselves."""

from __future__ import annotations

import base64
from typing import Any

from brainscore_web.accounts.models import User
from brainscore_web.accounts.own_data import rows_of
from brainscore_web.submissions.models import Comment, Letter, Plugin, Review, Revision, Submission

__all__ = ["comments_of", "letters_of", "plugins_of", "reviews_of", "revisions_of", "submissions_of"]


def submissions_of(user: User) -> list[dict[str, Any]]:
    """A person's submissions."""
    return [
        {"key": str(row.pk), **_one(row)} for row in Submission.objects.filter(owner=user).order_by("created", "pk")
    ]


def revisions_of(user: User) -> list[dict[str, Any]]:
    """What they sent, with its files (a ZIP, in base 64) and what was found; with the steps that it went."""
    rows = Revision.objects.filter(submission__owner=user).order_by("submission__created", "submission", "number")
    hidden = ("revision_id", "claim", "claimed", "internal")
    return [
        {
            "submission": str(row.submission_id),
            **_one(row, "submission_id", "archive"),
            "archive": base64.b64encode(bytes(row.archive)).decode(),
            "steps": rows_of(row.steps.all(), *hidden),
        }
        for row in rows.prefetch_related("steps").iterator(chunk_size=20)
    ]


def comments_of(user: User) -> list[dict[str, Any]]:
    """What they said about code."""
    rows = Comment.objects.filter(author=user).order_by("created", "pk").values_list("revision__submission", "pk")
    where = {key: str(submission) for submission, key in rows}
    found = Comment.objects.filter(pk__in=where).order_by("created", "pk")
    return [{"submission": where[row.pk], **_one(row, "revision_id", "author_id")} for row in found]


def reviews_of(user: User) -> list[dict[str, Any]]:
    """How they judged."""
    rows = Review.objects.filter(reviewer=user).order_by("created", "pk").select_related("revision")
    return [
        {"submission": str(row.revision.submission_id), **_one(row, "revision_id", "reviewer_id")}
        for row in rows.defer("revision__archive")
    ]


def plugins_of(user: User) -> list[dict[str, Any]]:
    """What of theirs is live."""
    return rows_of(Plugin.objects.filter(owner=user).order_by("kind", "name"), "revision_id")


def letters_of(user: User) -> list[dict[str, Any]]:
    """What the site wrote to them."""
    return rows_of(Letter.objects.filter(to=user).order_by("created", "pk"), "to_id", "submission_id", "problem")


def _one(row: Any, *without: str) -> dict[str, Any]:
    return rows_of([row], *without)[0]
