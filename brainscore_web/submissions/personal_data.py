"""Personal data in submissions: export, and what happens when an account is deleted."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.accounts.personal_data import exported_rows
from brainscore_web.leaderboard.models import Visibility, VisionModel
from brainscore_web.submissions.models import Comment, Letter, Plugin, PluginKind, Review, Revision, Submission

__all__ = [
    "comments_of",
    "delete_submissions_of",
    "letters_of",
    "plugins_of",
    "reviews_of",
    "revisions_of",
    "submissions_of",
]


def submissions_of(user: User) -> list[dict[str, Any]]:
    """A person's submissions."""
    return [
        {"key": str(row.pk), **_exported_row(row)}
        for row in Submission.objects.filter(owner=user).order_by("created", "pk")
    ]


def revisions_of(user: User) -> list[dict[str, Any]]:
    """What they sent, with its files (a ZIP, in base 64) and what was found; with the steps that it went."""
    rows = Revision.objects.filter(submission__owner=user).order_by("submission__created", "submission", "number")
    hidden = ("revision_id", "claim", "claimed", "internal")
    return [
        {
            "submission": str(row.submission_id),
            **_exported_row(row, "submission_id", "archive"),
            "archive": base64.b64encode(bytes(row.archive)).decode(),
            "steps": exported_rows(row.steps.all(), *hidden),
        }
        for row in rows.prefetch_related("steps").iterator(chunk_size=20)
    ]


def comments_of(user: User) -> list[dict[str, Any]]:
    """What they said about code."""
    rows = Comment.objects.filter(author=user).order_by("created", "pk").values_list("revision__submission", "pk")
    where = {key: str(submission) for submission, key in rows}
    found = Comment.objects.filter(pk__in=where).order_by("created", "pk")
    return [{"submission": where[row.pk], **_exported_row(row, "revision_id", "author_id")} for row in found]


def reviews_of(user: User) -> list[dict[str, Any]]:
    """How they judged."""
    rows = Review.objects.filter(reviewer=user).order_by("created", "pk").select_related("revision")
    return [
        {"submission": str(row.revision.submission_id), **_exported_row(row, "revision_id", "reviewer_id")}
        for row in rows.defer("revision__archive")
    ]


def plugins_of(user: User) -> list[dict[str, Any]]:
    """What of theirs is live."""
    return exported_rows(Plugin.objects.filter(owner=user).order_by("kind", "name"), "revision_id")


def letters_of(user: User) -> list[dict[str, Any]]:
    """What the site wrote to them."""
    return exported_rows(Letter.objects.filter(to=user).order_by("created", "pk"), "to_id", "submission_id", "problem")


def _exported_row(row: Any, *without: str) -> dict[str, Any]:
    return exported_rows([row], *without)[0]


def delete_submissions_of(user: User) -> None:
    """Withdraw what is open, and delete what never was published; what is live stays, without its owner.

    The code of private models goes where the person had the models themselves erased.

    Parameters
    ----------
    user : User
        Who leaves; called in the transaction that deletes them.
    """
    from brainscore_web.submissions import pipeline

    for row in Submission.objects.filter(owner=user).order_by("created", "pk"):
        with suppress(UserError):  # it is over, or live
            pipeline.withdraw(row, user)
        with suppress(UserError):  # nothing is being done
            pipeline.cancel(row, user)
    for plugin in Plugin.objects.filter(owner=user, kind=PluginKind.MODELS).order_by("pk"):
        if _models_erased(plugin):
            plugin.delete()
    live = Plugin.objects.filter(revision__submission__owner=user).values("revision__submission")
    Submission.objects.filter(owner=user).exclude(pk__in=live).delete()


def _models_erased(plugin: Plugin) -> bool:
    """Whether of each of its models only the name is left."""
    rows = VisionModel.objects.filter(identifier__in=plugin.identifiers)
    return all(row.visibility == Visibility.PRIVATE and not row.plugin and not row.runnable for row in rows)
