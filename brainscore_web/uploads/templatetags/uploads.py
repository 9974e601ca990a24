"""Template tag for the uploads on the profile page."""

from __future__ import annotations

from typing import Any

from django import template

from brainscore_web.accounts.models import User
from brainscore_web.uploads.models import Upload
from brainscore_web.uploads.receiving import bytes_used, limits

register = template.Library()


@register.inclusion_tag("uploads/_profile.html")
def uploads_of(user: User) -> dict[str, Any]:
    """Count a user's uploads and their storage use."""
    count = Upload.objects.filter(owner=user).exclude(state=Upload.State.WITHDRAWN).count()
    return {"count": count, "taken": bytes_used(user), "limits": limits()}
