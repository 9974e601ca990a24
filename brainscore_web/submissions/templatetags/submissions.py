"""What the profile page shows of submissions."""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Count, Q

from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Submission
from brainscore_web.submissions.quota import CLOSED

__all__ = ["submissions_of"]

register = template.Library()


@register.inclusion_tag("submissions/_profile.html")
def submissions_of(user: User) -> dict[str, Any]:
    """Say how many submissions a person has, and how many of them wait for what they do."""
    return Submission.objects.filter(owner=user).aggregate(
        count=Count("pk"),
        open=Count("pk", filter=~Q(state__in=CLOSED)),
        waiting=Count("pk", filter=Q(state=Submission.State.CHANGES)),
    )
