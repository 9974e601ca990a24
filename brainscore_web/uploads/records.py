"""What the site holds on a person's uploads, for themselves."""

from __future__ import annotations

from typing import Any

from brainscore_web.accounts.models import User
from brainscore_web.uploads.models import Upload

__all__ = ["exported"]

_HIDDEN = {"owner_id", "claim", "claimed", "attempts"}
_OF_FILES = ("kind", "size", "sent_as", "sha1", "sha256", "bucket", "key", "version_id")


def exported(user: User) -> list[dict[str, Any]]:
    """Rows of a person's uploads with their files."""
    return [
        {
            **{one.attname: one.value_from_object(row) for one in row._meta.concrete_fields if one.name not in _HIDDEN}
            | {"id": str(row.pk)},
            "files": [{name: getattr(file, name) for name in _OF_FILES} for file in row.files.all()],
        }
        for row in Upload.objects.filter(owner=user).defer("owner").prefetch_related("files")
    ]
