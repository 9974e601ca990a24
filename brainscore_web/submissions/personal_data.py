"""Personal data in submissions: export, and what happens when an account is deleted."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.accounts.personal_data import exported_rows
from brainscore_web.leaderboard.models import Visibility, VisionModel
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.models import (
    Comment,
    Plugin,
    PluginKind,
    PublishedVersion,
    Review,
    Revision,
    Submission,
    UnexaminedFiles,
)


def submissions_of(user: User) -> list[dict[str, Any]]:
    """Export a user's submissions."""
    return [
        {"key": str(row.pk), **_exported_row(row)}
        for row in Submission.objects.filter(owner=user).order_by("created", "pk")
    ]


def revisions_of(user: User) -> list[dict[str, Any]]:
    """Export a user's revisions with their files (a ZIP file in base 64), findings, steps and assessments."""
    rows = Revision.objects.filter(submission__owner=user).order_by("submission__created", "submission", "number")
    hidden = ("revision_id", "internal")
    return [
        {
            "submission": str(row.submission_id),
            **_exported_row(row, "submission_id", "archive"),
            "archive": base64.b64encode(_sent_files(row)).decode(),
            "steps": exported_rows(row.steps.all(), *hidden),
            "assessments": exported_rows(row.assessments.all(), *hidden),
        }
        for row in rows.prefetch_related("steps", "assessments").iterator(chunk_size=20)
    ]


def _sent_files(revision: Revision) -> bytes:
    arrived = UnexaminedFiles.objects.filter(revision=revision).first()
    return bytes(revision.archive if arrived is None else arrived.content)


def comments_of(user: User) -> list[dict[str, Any]]:
    """Export a user's comments."""
    rows = Comment.objects.filter(author=user).order_by("created", "pk").values_list("revision__submission", "pk")
    where = {key: str(submission) for submission, key in rows}
    comments = Comment.objects.filter(pk__in=where).order_by("created", "pk")
    return [{"submission": where[row.pk], **_exported_row(row, "revision_id", "author_id")} for row in comments]


def reviews_of(user: User) -> list[dict[str, Any]]:
    """Export a user's reviews."""
    rows = Review.objects.filter(reviewer=user).order_by("created", "pk").select_related("revision")
    return [
        {"submission": str(row.revision.submission_id), **_exported_row(row, "revision_id", "reviewer_id")}
        for row in rows.defer("revision__archive")
    ]


def plugins_of(user: User) -> list[dict[str, Any]]:
    """Export a user's live plugins."""
    return exported_rows(Plugin.objects.filter(owner=user).order_by("kind", "name"), "revision_id")


def _exported_row(row: Any, *without: str) -> dict[str, Any]:
    return exported_rows([row], *without)[0]


def delete_submissions_of(user: User) -> None:
    """Withdraw open submissions and delete those never published; live plugins stay, without an owner.

    The code of private models is deleted if the user has erased the models themselves.
    """
    for row in Submission.objects.filter(owner=user).order_by("created", "pk"):
        with suppress(UserError):  # it has ended or is live
            pipeline.withdraw(row, user)
        with suppress(UserError):  # nothing is running
            pipeline.cancel(row, user)
    for plugin in Plugin.objects.filter(owner=user, kind=PluginKind.MODELS).order_by("pk"):
        if _models_erased(plugin):
            PublishedVersion.objects.filter(kind=plugin.kind, name=plugin.name).delete()
            plugin.delete()
    live = Plugin.objects.filter(revision__submission__owner=user).values("revision__submission")
    Submission.objects.filter(owner=user).exclude(pk__in=live).delete()


def _models_erased(plugin: Plugin) -> bool:
    """Whether all of its models are erased except for their names."""
    rows = VisionModel.objects.filter(identifier__in=plugin.identifiers)
    return all(row.visibility == Visibility.PRIVATE and not row.plugin and not row.runnable for row in rows)
