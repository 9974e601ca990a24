"""Personal data in uploads: export, and withdrawal when an account is deleted."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads.models import Upload
from brainscore_web.uploads.withdrawal import withdraw

_HIDDEN = {"owner_id", "claim", "claimed", "attempts"}
_OF_FILES = ("kind", "size", "sent_as", "sha1", "sha256", "bucket", "key", "version_id")


def exported_uploads(user: User) -> list[dict[str, Any]]:
    """Export a user's uploads with their files."""
    return [
        {
            **{
                field.attname: field.value_from_object(row)
                for field in row._meta.concrete_fields
                if field.name not in _HIDDEN
            }
            | {"id": str(row.pk)},
            "files": [{name: getattr(file, name) for name in _OF_FILES} for file in row.files.all()],
        }
        for row in Upload.objects.filter(owner=user).defer("owner").prefetch_related("files")
    ]


def withdraw_private_uploads(owner: User) -> None:
    """Withdraw unpublished and private uploads of an owner whose account is deleted; uploads in use stay."""
    rest = Upload.objects.filter(owner=owner).exclude(state=Upload.State.WITHDRAWN)
    for upload in rest:
        if upload.state != Upload.State.ACCEPTED or upload.visibility == Visibility.PRIVATE:
            with suppress(UserError):
                withdraw(upload, while_checked=True)
