"""What the profile page shows of uploads."""

from __future__ import annotations

from typing import Any

from django import template

from brainscore_web.accounts.models import User
from brainscore_web.uploads.models import Upload
from brainscore_web.uploads.quota import bytes_used, limits

__all__ = ["uploads_of"]

register = template.Library()


@register.inclusion_tag("uploads/_profile.html")
def uploads_of(user: User) -> dict[str, Any]:
    """Say how many uploads a person has, and how much room."""
    count = Upload.objects.filter(owner=user).exclude(state=Upload.State.WITHDRAWN).count()
    return {"count": count, "taken": bytes_used(user), "limits": limits()}
